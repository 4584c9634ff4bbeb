#pragma once

#include <c10/core/DeviceType.h>

namespace torch::headeronly {
using c10::DeviceType;
using c10::kCPU;
using c10::kCUDA;
using c10::kLazy;
using c10::kMPS;
using c10::kMeta;
using c10::kPrivateUse1;
using c10::kXLA;
}  // namespace torch::headeronly
