// torch::autograd::backward and grad.
#pragma once

#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

/// Accumulates into the leaves' `grad` the gradients of `tensors`, weighted by `grad_tensors`.
inline void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
                     std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                     const variable_list& inputs = {}) {
  static const guardfix::Hook run{"backward"};
  guardfix::with_warnings_of_backward(
      create_graph, [&] { return run({tensors, grad_tensors, retain_graph, create_graph, inputs}); });
}

/// The gradients of `outputs` with respect to `inputs`.
inline variable_list grad(const variable_list& outputs, const variable_list& inputs,
                          const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                          bool create_graph = false, bool allow_unused = false) {
  static const guardfix::Hook run{"gradients"};
  return guardfix::tensors_of(guardfix::with_warnings_of_backward(false, [&] {
    return run({outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused});
  }));
}

}  // namespace torch::autograd
