#pragma once

#include <c10/core/SymInt.h>
#include <c10/util/SmallVector.h>

namespace c10 {
constexpr size_t kDimVectorStaticSize = 5;
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;
using SymDimVector = SmallVector<SymInt, kDimVectorStaticSize>;
}  // namespace c10

namespace at {
using c10::DimVector;
using c10::kDimVectorStaticSize;
using c10::SymDimVector;
}  // namespace at
