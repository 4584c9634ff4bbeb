// The factories of torch::, which take requires_grad, and torch::tensor.
#pragma once

#include <ATen/Functions.h>
#include <torch/detail/TensorDataContainer.h>

namespace torch {

#define GUARDFIX_UNPACK(...) __VA_ARGS__
#define GUARDFIX_FACTORY(name, parameters, arguments)                                                          \
  inline at::Tensor name(GUARDFIX_UNPACK parameters, const at::TensorOptions& options = {}) {                  \
    static const guardfix::Op op{#name};                                                                       \
    options.check_strided();                                                                                   \
    return at::Tensor::from_python(op({GUARDFIX_UNPACK arguments, guardfix::kw("dtype", options.dtype_opt()),  \
                                       guardfix::kw("device", options.device_opt()),                           \
                                       guardfix::kw("requires_grad", options.requires_grad_opt()),             \
                                       guardfix::kw("memory_format", options.memory_format_opt())}));          \
  }
#define GUARDFIX_IN(name) torch::name
#include <ATen/factories.def>
#undef GUARDFIX_UNPACK

/// A tensor of the given values: torch::tensor({{1, 2}, {3, 4}}). Integers become Long, floating-point numbers the
/// default dtype, unless the options say otherwise.
inline at::Tensor tensor(detail::TensorDataContainer values, const at::TensorOptions& options = {}) {
  return values.to_tensor(options);
}

using at::from_blob;

}  // namespace torch
