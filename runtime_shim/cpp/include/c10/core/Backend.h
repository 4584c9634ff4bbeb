// c10::Backend: what a tensor's device and layout are together. The shim's tensors have that of the CPU.
#pragma once

namespace c10 {

enum class Backend {
  CPU, CUDA, HIP, VE, FPGA, IPU, XPU, SparseCPU, SparseCUDA, MPS, XLA, Lazy, Meta, MkldnnCPU, PrivateUse1, Undefined
};

}  // namespace c10

namespace at {
using c10::Backend;
}  // namespace at
