#pragma once

#include <type_traits>

namespace at {

/// Division of integers, rounded up.
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
/// The next multiple of b.
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

}  // namespace at
