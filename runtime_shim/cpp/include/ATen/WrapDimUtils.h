// at::maybe_wrap_dim for tensors and for several dimensions.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/WrapDimMinimal.h>

#include <bitset>
#include <vector>

namespace at {

using c10::maybe_wrap_dim;

constexpr size_t dim_bitset_size = 64;

inline int64_t maybe_wrap_dim(int64_t dim, TensorImpl* tensor) {
  return maybe_wrap_dim(dim, static_cast<int64_t>(tensor->sizes().size()));
}
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors) {
  return tensors.empty() ? dim : maybe_wrap_dim(dim, tensors[0].dim());
}
template <typename Container>
void maybe_wrap_dims(Container& dims, int64_t dim_post_expr, bool wrap_scalars = true) {
  for (auto& dim : dims) dim = maybe_wrap_dim(dim, dim_post_expr, wrap_scalars);
}
inline void maybe_wrap_dims_n(int64_t* dims, int64_t ndims, int64_t dim_post_expr, bool wrap_scalars = true) {
  for (int64_t i = 0; i < ndims; ++i) dims[i] = maybe_wrap_dim(dims[i], dim_post_expr, wrap_scalars);
}
/// Which of the dimensions are in the list. RuntimeError for one that is there twice.
inline std::bitset<dim_bitset_size> dim_list_to_bitset(OptionalIntArrayRef dims, int64_t ndims) {
  TORCH_CHECK(ndims <= static_cast<int64_t>(dim_bitset_size), "only tensors with up to ", dim_bitset_size,
              " dims are supported");
  std::bitset<dim_bitset_size> seen;
  if (!dims.has_value()) {
    for (int64_t dim = 0; dim < ndims; ++dim) seen.set(dim);
    return seen;
  }
  for (const int64_t given : *dims) {
    const int64_t dim = maybe_wrap_dim(given, ndims);
    TORCH_CHECK(!seen[dim], "dim ", dim, " appears multiple times in the list of dims");
    seen.set(dim);
  }
  return seen;
}

}  // namespace at
