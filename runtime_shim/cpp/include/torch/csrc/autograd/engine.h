// Gradients are computed by the shim's engine: torch::autograd::backward and grad. What a node's gradients are checked
// for, for programs that check their own.
#pragma once

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/input_metadata.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace torch::autograd {

/// Gives each gradient the shape and the dtype of what it is for. Raises c10::Error, with what `format_error` makes of
/// the message, where that can't be.
inline void validate_outputs(const std::vector<std::optional<InputMetadata>>& inputs, variable_list& grads,
                             const std::function<std::string(const std::string&)>& format_error) {
  TORCH_CHECK(grads.size() == inputs.size(), format_error(c10::str("invalid number of gradients - expected ",
                                                                   inputs.size(), ", but got ", grads.size())));
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!inputs[i].has_value() || !grads[i].defined()) continue;
    const InputMetadata& input = *inputs[i];
    if (!input.is_same_shape(grads[i])) {
      TORCH_CHECK(input.is_expandable_to_shape(grads[i]),
                  format_error(c10::str("invalid gradient at index ", i, " - got ", grads[i].sizes(),
                                        " but expected shape compatible with ", input.shape())));
      grads[i] = input.reduce_grad(grads[i]);
    }
    const c10::ScalarType type = input.dtype().toScalarType();
    TORCH_CHECK(c10::isFloatingType(grads[i].scalar_type()) || c10::isComplexType(type) == grads[i].is_complex());
    if (type != grads[i].scalar_type()) grads[i] = grads[i].to(type);
  }
}

}  // namespace torch::autograd
