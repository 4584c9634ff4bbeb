// torch::autograd::Node and Edge; they come with the tensor, whose grad_fn() is one.
#pragma once

#include <ATen/core/Tensor.h>
