// Comes with the other datasets.
#pragma once

#include <torch/data/datasets.h>
