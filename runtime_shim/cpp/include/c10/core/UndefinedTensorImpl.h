// c10::UndefinedTensorImpl: what an undefined tensor points to; in the shim, nothing.
#pragma once

#include <ATen/core/Tensor.h>

namespace c10 {

struct UndefinedTensorImpl {
  static constexpr at::TensorImpl* singleton() { return nullptr; }
};

}  // namespace c10

namespace at {
using c10::UndefinedTensorImpl;
}  // namespace at
