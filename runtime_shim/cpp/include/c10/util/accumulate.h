// Products and sums of sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>

namespace c10 {

template <typename Iterator>
int64_t multiply_integers(Iterator begin, Iterator end) {
  return std::accumulate(begin, end, int64_t(1), std::multiplies<>());
}
template <typename Container>
int64_t multiply_integers(const Container& values) {
  return multiply_integers(values.begin(), values.end());
}
template <typename Container>
int64_t sum_integers(const Container& values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0));
}

}  // namespace c10
