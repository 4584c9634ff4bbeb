#pragma once

#include <c10/core/MemoryFormat.h>

namespace torch::headeronly {
using c10::MemoryFormat;
}  // namespace torch::headeronly
