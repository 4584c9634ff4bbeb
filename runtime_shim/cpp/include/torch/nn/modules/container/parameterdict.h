// torch::nn::ParameterList and ParameterDict stand with ModuleDict.
#pragma once

#include <torch/nn/modules/container/moduledict.h>
