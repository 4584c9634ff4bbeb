// at::globalContext(): what the library was built with. The shim computes on the CPU, by numpy.
#pragma once

#include <ATen/core/Tensor.h>

namespace at {

class Context {
 public:
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  bool hasCUDA() const { return false; }
  bool hasCuDNN() const { return false; }
  bool hasHIP() const { return false; }
  bool hasMPS() const { return false; }
  bool hasXPU() const { return false; }
  bool hasXLA() const { return false; }
  bool hasMKLDNN() const { return false; }
  bool hasMKL() const { return false; }

 private:
  Context() = default;
  friend Context& globalContext();
};

inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return globalContext().hasCUDA(); }
inline bool hasMPS() { return globalContext().hasMPS(); }

/// The types of tensors on devices that the shim does not have.
inline DeprecatedTypeProperties& CUDA(ScalarType) {
  C10_THROW_ERROR(NotImplementedError, "the shim has no tensors on cuda");
}
inline DeprecatedTypeProperties& MPS(ScalarType) {
  C10_THROW_ERROR(NotImplementedError, "the shim has no tensors on mps");
}

}  // namespace at
