// torch::nn::utils: norms of gradients, parameters as one vector, packed sequences.
#pragma once

#include <torch/nn/utils/clip_grad.h>
#include <torch/nn/utils/convert_parameters.h>
#include <torch/nn/utils/rnn.h>
