// at::opmath_type: the type in which kernels compute with elements of type T.
#pragma once

#include <c10/util/Half.h>

namespace at {

template <typename T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <typename T>
using opmath_type = typename OpMathType<T>::type;

/// The type in which a kernel on the CPU sums elements of type T.
template <typename T, bool is_cuda>
using acc_type = std::conditional_t<std::is_same_v<T, float> && !is_cuda, double,
                                    std::conditional_t<std::is_integral_v<T>, int64_t, opmath_type<T>>>;

}  // namespace at
