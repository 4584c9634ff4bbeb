// Broadcasting before an op: the common size of tensors, and tensors expanded to it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>
#include <c10/util/MaybeOwned.h>

#include <tuple>
#include <vector>

namespace at {

/// The size to which both can be expanded. RuntimeError when there is none.
inline DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b) {
  const size_t dims = std::max(a.size(), b.size());
  DimVector sizes(dims);
  for (size_t i = 0; i < dims; ++i) {
    const size_t from_end = dims - i;
    const int64_t in_a = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const int64_t in_b = from_end <= b.size() ? b[b.size() - from_end] : 1;
    TORCH_CHECK(in_a == in_b || in_a == 1 || in_b == 1, "The size of tensor a (", in_a,
                ") must match the size of tensor b (", in_b, ") at non-singleton dimension ", i);
    sizes[i] = in_a == 1 ? in_b : in_a;
  }
  return sizes;
}
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  const DimVector sizes = infer_size_dimvector(a, b);
  return {sizes.begin(), sizes.end()};
}
/// Whether `shape` can be expanded to `desired`.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t size = shape[shape.size() - i];
    if (size != desired[desired.size() - i] && size != 1) return false;
  }
  return true;
}
inline bool are_expandable(IntArrayRef a, IntArrayRef b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t in_a = a[a.size() - i], in_b = b[b.size() - i];
    if (in_a != in_b && in_a != 1 && in_b != 1) return false;
  }
  return true;
}

namespace detail {
inline void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name) {
  for (const Tensor& tensor : tensors) TORCH_CHECK(tensor.defined(), api_name, "(...) called with an undefined Tensor");
}
inline c10::MaybeOwned<Tensor> expanded(const Tensor& tensor, IntArrayRef sizes) {
  return tensor.sizes().equals(sizes) ? c10::MaybeOwned<Tensor>::borrowed(tensor)
                                      : c10::MaybeOwned<Tensor>::owned(tensor.expand(sizes, true));
}
}  // namespace detail

/// `to_expand` in the size of `tensor`. What has that size is borrowed: it must outlive the result.
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return detail::expanded(to_expand, tensor.sizes());
}
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name) {
  detail::check_defined({tensor, to_expand}, api_name);
  return expand_inplace(tensor, to_expand);
}
using ExpandedPair = std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>>;
using ExpandedTriple = std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>>;
inline ExpandedPair expand_outplace(const Tensor& a, const Tensor& b) {
  const DimVector sizes = infer_size_dimvector(a.sizes(), b.sizes());
  return {detail::expanded(a, sizes), detail::expanded(b, sizes)};
}
inline ExpandedPair expand_outplace(const Tensor& a, const Tensor& b, const char* api_name) {
  detail::check_defined({a, b}, api_name);
  return expand_outplace(a, b);
}
inline ExpandedTriple expand_outplace(const Tensor& a, const Tensor& b, const Tensor& c) {
  const DimVector sizes = infer_size_dimvector(infer_size_dimvector(a.sizes(), b.sizes()), c.sizes());
  return {detail::expanded(a, sizes), detail::expanded(b, sizes), detail::expanded(c, sizes)};
}
inline ExpandedTriple expand_outplace(const Tensor& a, const Tensor& b, const Tensor& c, const char* api_name) {
  detail::check_defined({a, b, c}, api_name);
  return expand_outplace(a, b, c);
}
/// All defined tensors of a list in their common size.
inline std::vector<Tensor> expand_outplace(TensorList tensors) {
  std::optional<DimVector> sizes;
  for (const Tensor& tensor : tensors)
    if (tensor.defined())
      sizes = sizes.has_value() ? infer_size_dimvector(*sizes, tensor.sizes())
                                : DimVector(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors)
    result.push_back(!tensor.defined() || tensor.sizes().equals(*sizes) ? tensor : tensor.expand(*sizes, true));
  return result;
}
inline c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes) {
  return detail::expanded(to_expand, sizes);
}
inline c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name) {
  detail::check_defined({to_expand}, api_name);
  return expand_size(to_expand, sizes);
}
/// The gradient of what was expanded from `shape`.
inline Tensor sum_to(Tensor tensor, IntArrayRef shape, bool always_return_non_view = false) {
  const Tensor result = tensor.sum_to_size(shape);
  return always_return_non_view && result.is_same(tensor) ? tensor.clone() : result;
}

}  // namespace at
