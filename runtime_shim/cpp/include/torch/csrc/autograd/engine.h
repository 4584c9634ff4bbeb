// Gradients are computed by the shim's engine: torch::autograd::backward and grad.
#pragma once

#include <torch/csrc/autograd/autograd.h>
