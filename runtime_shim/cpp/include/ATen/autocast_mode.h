// at::autocast: what kernels for autocast keys use. The shim has no autocast, so such kernels compile and never run.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace at::autocast {

inline bool is_enabled() { return false; }
inline bool is_autocast_enabled(DeviceType) { return false; }
inline ScalarType get_autocast_dtype(DeviceType device) { return device == kCPU ? kBFloat16 : kHalf; }
inline ScalarType get_autocast_gpu_dtype() { return kHalf; }
inline ScalarType get_autocast_cpu_dtype() { return kBFloat16; }

/// Turning autocast off changes nothing; turning it on is refused.
inline void set_enabled(bool enabled) { TORCH_CHECK(!enabled, "the shim has no autocast"); }
inline void set_autocast_enabled(DeviceType, bool enabled) { set_enabled(enabled); }
inline void clear_cache() {}

/// `tensor` in another type, when it is one that autocast for `device` converts.
inline Tensor cached_cast(ScalarType type, const Tensor& tensor, DeviceType device = kCUDA) {
  const bool converts = tensor.defined() && device == kCPU && tensor.is_floating_point() &&
                        tensor.scalar_type() != kDouble && tensor.scalar_type() != type;
  return converts ? tensor.to(type) : tensor;
}
inline std::optional<Tensor> cached_cast(ScalarType type, const std::optional<Tensor>& tensor,
                                         DeviceType device = kCUDA) {
  if (!tensor.has_value()) return std::nullopt;
  return cached_cast(type, *tensor, device);
}
inline std::vector<Tensor> cached_cast(ScalarType type, TensorList tensors, DeviceType device = kCUDA) {
  std::vector<Tensor> cast;
  for (const Tensor& tensor : tensors) cast.push_back(cached_cast(type, tensor, device));
  return cast;
}

}  // namespace at::autocast

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
