// torch::cuda: the shim has no GPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace torch::cuda {

inline c10::DeviceIndex device_count() { return 0; }
inline bool is_available() { return false; }
inline bool cudnn_is_available() { return false; }
/// Does nothing: the shim has no devices. PyTorch accepts this call on a machine without a GPU, and programs make it.
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
inline void synchronize(int64_t = -1) { TORCH_CHECK(false, "No CUDA GPUs are available"); }

}  // namespace torch::cuda
