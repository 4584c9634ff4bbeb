// c10::SmallVector: here a std::vector, which keeps nothing in place.
#pragma once

#include <c10/util/ArrayRef.h>

#include <initializer_list>
#include <vector>

namespace c10 {

template <typename T>
class SmallVectorImpl : public std::vector<T> {
 public:
  using std::vector<T>::vector;

  template <typename Iterator>
  void append(Iterator begin, Iterator end) {
    if constexpr (std::is_integral_v<Iterator>) {
      this->insert(this->end(), static_cast<size_t>(begin), static_cast<T>(end));
    } else {
      this->insert(this->end(), begin, end);
    }
  }
  void append(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  T pop_back_val() {
    T value = std::move(this->back());
    this->pop_back();
    return value;
  }
  void truncate(size_t size) { this->resize(size); }
  size_t capacity_in_bytes() const { return this->capacity() * sizeof(T); }
};

template <typename T, unsigned N = 8>
class SmallVector : public SmallVectorImpl<T> {
 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) : SmallVectorImpl<T>(values) {}
  explicit SmallVector(size_t size, const T& value = T()) : SmallVectorImpl<T>(size, value) {}
  template <typename Iterator, typename = std::enable_if_t<!std::is_integral_v<Iterator>>>
  SmallVector(Iterator begin, Iterator end) : SmallVectorImpl<T>(begin, end) {}
  explicit SmallVector(ArrayRef<T> values) : SmallVectorImpl<T>(values.begin(), values.end()) {}
};

}  // namespace c10

namespace at {
using c10::SmallVector;
using c10::SmallVectorImpl;
}  // namespace at
