// at::TensorAccessor and its packed form: elements by index, without an op a step.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at {

template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};

template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  PtrType data() const { return data_; }
  c10::ArrayRef<index_t> sizes() const { return {sizes_, N}; }
  c10::ArrayRef<index_t> strides() const { return {strides_, N}; }
  index_t size(index_t dim) const { return sizes_[dim]; }
  index_t stride(index_t dim) const { return strides_[dim]; }
  decltype(auto) operator[](index_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }

 private:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};

/// With sizes and strides of its own.
template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  /// From the sizes and strides of a tensor.
  template <typename source_t>
  GenericPackedTensorAccessor(PtrType data, const source_t* sizes, const source_t* strides) : data_(data) {
    const auto to_index = [](source_t value) { return static_cast<index_t>(value); };
    std::transform(sizes, sizes + N, sizes_, to_index);
    std::transform(strides, strides + N, strides_, to_index);
  }
  PtrType data() const { return data_; }
  index_t size(index_t dim) const { return sizes_[dim]; }
  index_t stride(index_t dim) const { return strides_[dim]; }
  decltype(auto) operator[](index_t i) const { return accessor()[i]; }
  /// The same elements with two dimensions in each other's place.
  GenericPackedTensorAccessor transpose(index_t dim1, index_t dim2) const {
    for (const index_t dim : {dim1, dim2})
      TORCH_CHECK_INDEX(0 <= dim && dim < static_cast<index_t>(N), "Index ", dim, " is not within bounds of a tensor of dimension ", N);
    GenericPackedTensorAccessor result = *this;
    std::swap(result.sizes_[dim1], result.sizes_[dim2]);
    std::swap(result.strides_[dim1], result.strides_[dim2]);
    return result;
  }

 private:
  TensorAccessor<T, N, PtrTraits, index_t> accessor() const { return {data_, sizes_, strides_}; }

  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
};

template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace at
