// torch::nn::CosineSimilarity and PairwiseDistance stand with the losses.
#pragma once

#include <torch/nn/modules/loss.h>
