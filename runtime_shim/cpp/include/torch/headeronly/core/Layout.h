#pragma once

#include <c10/core/Layout.h>

namespace torch::headeronly {
using c10::Layout;
using c10::kStrided;
using c10::kSparse;
}  // namespace torch::headeronly
