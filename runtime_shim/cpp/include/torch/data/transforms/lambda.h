// Comes with the other transforms.
#pragma once

#include <torch/data/transforms.h>
