// torch::nn::InstanceNorm1d to InstanceNorm3d stand with BatchNorm.
#pragma once

#include <torch/nn/modules/batchnorm.h>
