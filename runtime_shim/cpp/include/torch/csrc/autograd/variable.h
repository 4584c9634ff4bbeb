// torch::autograd::Variable, which is a tensor, and what autograd knows of one.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/view_meta.h>

namespace torch::autograd {

/// A new tensor over the data of `data`, without its history.
inline Variable make_variable(const Tensor& data, bool requires_grad = false) {
  Variable variable = data.detach();
  variable.set_requires_grad(requires_grad);
  return variable;
}

namespace impl {

/// Null when the tensor is not a view.
inline DifferentiableViewMeta* get_view_autograd_meta(const Variable& variable) {
  return variable.unsafeGetTensorImpl()->autograd_meta();
}
inline void bump_version(const Variable& variable) {
  TORCH_CHECK(variable.defined(), "cannot call bump_version() on undefined tensor");
  variable.unsafeGetTensorImpl()->bump_version();
}

}  // namespace impl
}  // namespace torch::autograd

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
