// torch::nn::PixelShuffle stands with padding.
#pragma once

#include <torch/nn/modules/padding.h>
