// c10::irange(n): the integers 0 … n-1 for a range-based for.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace c10 {

template <typename Integer>
class integer_range {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Integer;
    using difference_type = std::ptrdiff_t;
    using pointer = const Integer*;
    using reference = Integer;

    explicit iterator(Integer value) : value_(value) {}
    Integer operator*() const { return value_; }
    iterator& operator++() {
      ++value_;
      return *this;
    }
    iterator operator++(int) { return iterator(value_++); }
    bool operator==(const iterator& other) const { return value_ == other.value_; }
    bool operator!=(const iterator& other) const { return value_ != other.value_; }

   private:
    Integer value_;
  };

  integer_range(Integer begin, Integer end) : begin_(begin), end_(end < begin ? begin : end) {}
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  Integer begin_, end_;
};

template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
integer_range<Integer> irange(Integer end) {
  return {Integer(0), end};
}
template <typename First, typename Last, typename = std::enable_if_t<std::is_integral_v<Last>>>
integer_range<Last> irange(First begin, Last end) {
  return {static_cast<Last>(begin), end};
}

}  // namespace c10
