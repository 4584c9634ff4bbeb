// torch::cuda: the shim has no GPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

namespace torch::cuda {

inline c10::DeviceIndex device_count() { return 0; }
inline bool is_available() { return false; }
inline bool cudnn_is_available() { return false; }
/// Seeds nothing: there are no devices. PyTorch accepts the call on a machine without a GPU, as programs make it there.
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
inline void synchronize(int64_t = -1) { TORCH_CHECK(false, "No CUDA GPUs are available"); }

}  // namespace torch::cuda
