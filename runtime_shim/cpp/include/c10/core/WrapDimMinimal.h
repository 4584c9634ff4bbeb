// c10::maybe_wrap_dim: negative dimensions count from the last.
#pragma once

#include <c10/core/SymInt.h>
#include <c10/util/Exception.h>

namespace c10 {

/// `dim` in [0, dim_post_expr). A scalar has dimension 0 and -1. Throws IndexError.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dim_post_expr, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(dim_post_expr > 0 || wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t range = std::max<int64_t>(dim_post_expr, 1);
  TORCH_CHECK_INDEX(-range <= dim && dim < range, "Dimension out of range (expected to be in range of [", -range, ", ",
                    range - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

}  // namespace c10
