// at::DeviceGuard, and the device of what may be a tensor.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

namespace at {

using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

inline std::optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? device_of(*tensor) : std::nullopt;
}
inline std::optional<Device> device_of(TensorList tensors) {
  return tensors.empty() ? std::nullopt : device_of(tensors.front());
}

}  // namespace at
