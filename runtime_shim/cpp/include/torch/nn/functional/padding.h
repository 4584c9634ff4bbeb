// Comes with the other functions.
#pragma once

#include <torch/nn/functional.h>
