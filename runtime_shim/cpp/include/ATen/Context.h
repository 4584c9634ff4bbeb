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
  bool hasMAGMA() const { return false; }
  bool hasOpenMP() const { return false; }
  bool hasLAPACK() const { return true; }

  // What a program sets is told when it asks; the shim computes the same either way, and always deterministically.
#define GUARDFIX_SWITCH(getter, setter, initially)      \
  bool getter() const { return getter##_; }             \
  void setter(bool value) { getter##_ = value; }        \
                                                        \
 private:                                               \
  bool getter##_ = initially;                           \
                                                        \
 public:
  GUARDFIX_SWITCH(userEnabledCuDNN, setUserEnabledCuDNN, true)
  GUARDFIX_SWITCH(userEnabledMkldnn, setUserEnabledMkldnn, true)
  GUARDFIX_SWITCH(userEnabledNNPACK, setUserEnabledNNPACK, true)
  GUARDFIX_SWITCH(benchmarkCuDNN, setBenchmarkCuDNN, false)
  GUARDFIX_SWITCH(deterministicCuDNN, setDeterministicCuDNN, false)
  GUARDFIX_SWITCH(deterministicMkldnn, setDeterministicMkldnn, false)
  GUARDFIX_SWITCH(allowTF32CuDNN, setAllowTF32CuDNN, true)
  GUARDFIX_SWITCH(allowTF32CuBLAS, setAllowTF32CuBLAS, false)
  GUARDFIX_SWITCH(userEnabledFlashSDP, setSDPUseFlash, true)
  GUARDFIX_SWITCH(userEnabledMemEfficientSDP, setSDPUseMemEfficient, true)
  GUARDFIX_SWITCH(userEnabledMathSDP, setSDPUseMath, true)
#undef GUARDFIX_SWITCH
  bool deterministicAlgorithms() const { return deterministic_; }
  bool deterministicAlgorithmsWarnOnly() const { return warn_only_; }
  void setDeterministicAlgorithms(bool on, bool warn_only) { deterministic_ = on, warn_only_ = warn_only; }

 private:
  Context() = default;
  friend Context& globalContext();
  bool deterministic_ = false, warn_only_ = false;
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
