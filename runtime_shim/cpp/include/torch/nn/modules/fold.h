// torch::nn::Fold and Unfold stand with the convolutions.
#pragma once

#include <torch/nn/modules/conv.h>
