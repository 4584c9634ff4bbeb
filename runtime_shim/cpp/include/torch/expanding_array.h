// torch::ExpandingArray<D>: D numbers, or one that stands for all of them, as in a kernel size.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <array>
#include <initializer_list>
#include <vector>

namespace torch {

template <size_t D, typename T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(c10::ArrayRef<T>(values)) {}
  ExpandingArray(c10::ArrayRef<T> values) {
    TORCH_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    for (size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T value) { values_.fill(value); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator c10::ArrayRef<T>() const { return c10::ArrayRef<T>(values_.data(), D); }
  size_t size() const noexcept { return D; }

  friend std::ostream& operator<<(std::ostream& stream, const ExpandingArray& array) {
    if (D == 1) return stream << array.values_[0];
    return stream << c10::ArrayRef<T>(array);
  }

 protected:
  std::array<T, D> values_;
};

/// The same, where each number may be missing: an output size that is the input's.
template <size_t D, typename T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}
  ExpandingArrayWithOptionalElem(c10::ArrayRef<T> values)
      : ExpandingArray<D, std::optional<T>>(std::vector<std::optional<T>>(values.begin(), values.end())) {}
  ExpandingArrayWithOptionalElem(T value) : ExpandingArray<D, std::optional<T>>(std::optional<T>(value)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}

  friend std::ostream& operator<<(std::ostream& stream, const ExpandingArrayWithOptionalElem& array) {
    if (D > 1) stream << '[';
    for (size_t i = 0; i < D; ++i) {
      if (i != 0) stream << ", ";
      if (array.values_[i].has_value()) {
        stream << *array.values_[i];
      } else {
        stream << "None";
      }
    }
    if (D > 1) stream << ']';
    return stream;
  }
};

}  // namespace torch
