// c10::ArrayRef: a view of elements that somebody else owns.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <type_traits>
#include <vector>

namespace c10 {

/// Does not own its elements: never keep one longer than what it was made from.
template <typename T>
class ArrayRef final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& element) : data_(&element), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <typename Allocator>
  ArrayRef(const std::vector<T, Allocator>& elements) : data_(elements.data()), size_(elements.size()) {
    static_assert(!std::is_same_v<T, bool>, "ArrayRef<bool> cannot be made from std::vector<bool>: it has bits");
  }
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& elements) : data_(elements.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&elements)[N]) : data_(elements), size_(N) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // meant: a braced argument lives as long as the call
#endif
  constexpr ArrayRef(const std::initializer_list<T>& elements)
      : data_(elements.begin() == elements.end() ? nullptr : elements.begin()), size_(elements.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr const_iterator cbegin() const { return begin(); }
  constexpr std::reverse_iterator<iterator> rbegin() const { return std::reverse_iterator<iterator>(end()); }
  constexpr std::reverse_iterator<iterator> rend() const { return std::reverse_iterator<iterator>(begin()); }
  constexpr const_iterator cend() const { return end(); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }

  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  constexpr const T& operator[](size_t index) const { return data_[index]; }
  const T& at(size_t index) const {
    TORCH_CHECK(index < size_, "ArrayRef: invalid index Index = ", index, "; Length = ", size_);
    return data_[index];
  }
  ArrayRef slice(size_t start, size_t count) const {
    TORCH_CHECK(start + count <= size_, "ArrayRef: invalid slice, N = ", start, "; M = ", count,
                "; size = ", size_);
    return {data_ + start, count};
  }
  ArrayRef slice(size_t start) const { return slice(start, size_ - start); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i)
      if (!(data_[i] == other.data_[i])) return false;
    return true;
  }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  // What PyTorch forbids: assigning a temporary to a view.
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef<T>>& operator=(U&&) = delete;
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef<T>>& operator=(std::initializer_list<U>) = delete;

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <typename T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <typename T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <typename T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !(a == b);
}
template <typename T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !(a == b);
}

template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> elements) {
  out << '[';
  for (size_t i = 0; i < elements.size(); ++i) out << (i ? ", " : "") << elements[i];
  return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;

/// `std::optional<ArrayRef<T>>` that also takes a braced list or one element, as a `dim` argument does.
template <typename T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() = default;
  constexpr OptionalArrayRef(std::nullopt_t) {}
  constexpr OptionalArrayRef(ArrayRef<T> elements) : value_(elements) {}
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& elements) : value_(elements) {}
  constexpr OptionalArrayRef(const T& element) : value_(ArrayRef<T>(element)) {}
  OptionalArrayRef(const std::vector<T>& elements) : value_(ArrayRef<T>(elements)) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& elements) : value_(ArrayRef<T>(elements)) {}

  constexpr bool has_value() const { return value_.has_value(); }
  constexpr explicit operator bool() const { return value_.has_value(); }
  const ArrayRef<T>& value() const { return value_.value(); }
  const ArrayRef<T>& operator*() const { return *value_; }
  const ArrayRef<T>* operator->() const { return &*value_; }

 private:
  std::optional<ArrayRef<T>> value_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

}  // namespace c10
