// Checks of a function's tensors that name the argument in what they say: at::checkDim("f", {x, "x", 1}, 2).
#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>
#include <ostream>
#include <vector>

namespace at {

/// An argument that has a tensor: its name, and which argument it is, counted from 1 (0: the object of a method).
struct TensorGeometryArg {
  Tensor tensor;
  const char* name;
  int pos;
};
struct TensorArg {
  const Tensor& tensor;
  const char* name;
  int pos;
  TensorArg(const Tensor& tensor, const char* name, int pos) : tensor(tensor), name(name), pos(pos) {}
  TensorArg(Tensor&&, const char*, int) = delete;  // it would be gone before the check
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};
inline std::ostream& operator<<(std::ostream& out, const TensorArg& t) {
  if (t.pos == 0) return out << '\'' << t.name << '\'';
  return out << "argument #" << t.pos << " '" << t.name << '\'';
}

/// The function that checks, for what is said.
using CheckedFrom = const char*;

inline void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  TORCH_CHECK(tensor.dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", tensor.dim(),
              "-dimensional tensor for ", TensorArg(tensor, name, pos), " (while checking arguments for ", c, ")");
}
inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) { checkDim(c, t.tensor, t.name, t.pos, dim); }
/// From `dim_start`, which counts, to `dim_end`, which doesn't.
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t dim_start, int64_t dim_end) {
  TORCH_CHECK(t->dim() >= dim_start && t->dim() < dim_end, "Expected ", dim_start, " to ", dim_end - 1,
              " dimensions, but got ", t->dim(), "-dimensional tensor for ", t, " (while checking arguments for ", c, ")");
}
inline void checkSameDim(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->dim() == t2->dim(), "Expected tensor for ", t1, " to have same dimension as tensor for ", t2, "; but ",
              t1->dim(), " does not equal ", t2->dim(), " (while checking arguments for ", c, ")");
}
inline void checkContiguous(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t,
              " (while checking arguments for ", c, ")");
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors)
    if (t->defined()) checkContiguous(c, t);
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef size) {
  checkDim(c, t, static_cast<int64_t>(size.size()));
  TORCH_CHECK(t->sizes().equals(size), "Expected tensor of size ", size, ", but got tensor of size ", t->sizes(), " for ",
              t, " (while checking arguments for ", c, ")");
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
  TORCH_CHECK(t->size(dim) == size, "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ",
              t->size(dim), " for ", t, " (while checking arguments for ", c, ")");
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
  TORCH_CHECK(t->numel() == numel, "Expected tensor for ", t, " to have ", numel, " elements; but it actually has ",
              t->numel(), " elements", " (while checking arguments for ", c, ")");
}
inline void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->numel() == t2->numel(), "Expected tensor for ", t1, " to have same number of elements as tensor for ",
              t2, "; but ", t1->numel(), " does not equal ", t2->numel(), " (while checking arguments for ", c, ")");
}
inline void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->sizes().equals(t2->sizes()), "Expected tensor for ", t1, " to have same size as tensor for ", t2,
              "; but ", t1->sizes(), " does not equal ", t2->sizes(), " (while checking arguments for ", c, ")");
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType type) {
  TORCH_CHECK(t->scalar_type() == type, "Expected tensor for ", t, " to have scalar type ", type, "; but got ",
              t->toString(), " instead (while checking arguments for ", c, ")");
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> types) {
  for (const ScalarType type : types)
    if (t->scalar_type() == type) return;
  std::string names;
  for (const ScalarType type : types) names += (names.empty() ? "" : ", ") + std::string(toString(type));
  TORCH_CHECK(false, "Expected tensor for ", t, " to have one of the following scalar types: ", names, "; but got ",
              t->toString(), " instead (while checking arguments for ", c, ")");
}
inline void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->options().dtype() == t2->options().dtype(), "Expected tensor for ", t1,
              " to have the same type as tensor for ", t2, "; but type ", t1->toString(), " does not equal ",
              t2->toString(), " (while checking arguments for ", c, ")");
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->defined(), "Expected tensor for ", t, " to be non-null, but it was undefined (while checking arguments for ",
              c, ")");
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) checkDefined(c, t);
}
/// Checks each defined tensor against the first one.
template <typename Check>
void checkAllSame(CheckedFrom c, ArrayRef<TensorArg> tensors, Check check) {
  const TensorArg* first = nullptr;
  for (const TensorArg& t : tensors) {
    if (!t->defined()) continue;
    if (first != nullptr) check(c, *first, t);
    if (first == nullptr) first = &t;
  }
}
inline void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) { checkAllSame(c, tensors, checkSameType); }
inline void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) { checkAllSame(c, tensors, checkSameSize); }
inline void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) { checkAllSame(c, tensors, checkSameNumel); }
// The shim has one device, on which all tensors are; there is no GPU for tensors to be on.
inline void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(false, "Tensor for ", t1, " is on CPU, and tensor for ", t2,
              " is on CPU, but expected them to be on GPU (while checking arguments for ", c, ")");
}
inline void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) { checkAllSame(c, tensors, checkSameGPU); }
inline void checkBackend(CheckedFrom, const Tensor&, DeviceType) {}
inline void checkDeviceType(CheckedFrom c, const Tensor& t, DeviceType type) {
  TORCH_CHECK(!t.defined() || t.device().type() == type, "Expected tensor to have ", type,
              " DeviceType, but got tensor with ", t.device().type(), " DeviceType (while checking arguments for ", c, ")");
}
inline void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType type) {
  for (const Tensor& t : tensors) checkDeviceType(c, t, type);
}
inline void checkLayout(CheckedFrom, const Tensor&, Layout) {}
inline void checkLayout(CheckedFrom, ArrayRef<Tensor>, Layout) {}
inline void* maybe_data_ptr(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }
inline void* maybe_data_ptr(const TensorArg& tensor) { return maybe_data_ptr(tensor.tensor); }

namespace detail {
inline std::vector<int64_t> defaultStrides(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i > 0; --i) {
    strides[i - 1] = stride;
    stride *= sizes[i - 1];
  }
  return strides;
}
}  // namespace detail

}  // namespace at

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
