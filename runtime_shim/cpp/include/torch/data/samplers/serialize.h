// Comes with the other samplers.
#pragma once

#include <torch/data/samplers.h>
