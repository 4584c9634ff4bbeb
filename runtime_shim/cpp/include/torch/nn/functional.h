// torch::nn::functional: what the layers compute, as functions with options.
#pragma once

#include <torch/nn/functional/activation.h>
#include <torch/nn/functional/conv.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/functional/pooling.h>
#include <torch/nn/options.h>
