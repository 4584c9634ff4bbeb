#pragma once

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/InferenceMode.h>

namespace torch::autograd {
using GradMode = c10::GradMode;
using AutoGradMode = c10::AutoGradMode;
}  // namespace torch::autograd
