// Whether a type is complex, and of what its parts are.
#pragma once

#include <c10/util/complex.h>

#include <complex>
#include <type_traits>

namespace c10 {

template <typename T>
struct is_complex : std::false_type {};
template <typename T>
struct is_complex<std::complex<T>> : std::true_type {};
template <typename T>
struct is_complex<c10::complex<T>> : std::true_type {};

template <typename T>
struct scalar_value_type {
  using type = T;
};
template <typename T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};
template <typename T>
struct scalar_value_type<c10::complex<T>> {
  using type = T;
};

}  // namespace c10
