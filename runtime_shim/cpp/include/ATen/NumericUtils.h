// at::_isnan and at::_isinf, for all types of elements.
#pragma once

#include <c10/util/complex_utils.h>

#include <cmath>
#include <type_traits>

namespace at {

template <typename T>
inline bool _isnan(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else if constexpr (c10::is_complex<T>::value) {
    return std::isnan(value.real()) || std::isnan(value.imag());
  } else {
    return std::isnan(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  }
}
template <typename T>
inline bool _isinf(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isinf(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  }
}

}  // namespace at
