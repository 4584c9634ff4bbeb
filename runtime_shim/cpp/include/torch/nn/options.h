// What layers, losses and functions are made with: LinearOptions(3, 4).bias(false).
#pragma once

#include <torch/nn/options/activation.h>
#include <torch/nn/options/conv.h>
#include <torch/nn/options/embedding.h>
#include <torch/nn/options/linear.h>
#include <torch/nn/options/loss.h>
#include <torch/nn/options/normalization.h>
#include <torch/nn/options/padding.h>
#include <torch/nn/options/pooling.h>
#include <torch/nn/options/vision.h>
