// Counting bits.
#pragma once

#include <cstddef>
#include <limits>

namespace c10::llvm {

template <typename T>
size_t countLeadingZeros(T value) {
  size_t count = 0;
  for (int bit = std::numeric_limits<T>::digits - 1; bit >= 0 && ((value >> bit) & 1) == 0; --bit) ++count;
  return count;
}
template <typename T>
size_t countTrailingZeros(T value) {
  size_t count = 0;
  for (int bit = 0; bit < std::numeric_limits<T>::digits && ((value >> bit) & 1) == 0; ++bit) ++count;
  return count;
}
template <typename T>
bool isPowerOf2_64(T value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace c10::llvm
