// Operators between tensors and numbers. `2 - t` and `2 / t` fill a tensor and change it in place, as PyTorch
// does: it shows in the version of the result.
#pragma once

#include <ATen/core/Tensor.h>

namespace at {

namespace detail {
inline Tensor filled_like(const Tensor& tensor, const Scalar& value) {
  static const guardfix::Op empty_like{"empty_like"};
  return Tensor::from_python(empty_like({tensor})).fill_(value);
}
}  // namespace detail

#define AT_BINARY_OPERATOR(symbol, body, body_with_number_first)                                      \
  inline Tensor operator symbol(const Tensor& x, const Tensor& y) { return body; }                    \
  inline Tensor operator symbol(const Tensor& x, const Scalar& y) { return body; }                    \
  inline Tensor operator symbol(const Scalar& x, const Tensor& y) { return body_with_number_first; }
AT_BINARY_OPERATOR(+, x.add(y), y.add(x))
AT_BINARY_OPERATOR(*, x.mul(y), y.mul(x))
AT_BINARY_OPERATOR(-, x.sub(y), detail::filled_like(y, x).sub_(y))
AT_BINARY_OPERATOR(/, x.div(y), detail::filled_like(y, x).div_(y))
AT_BINARY_OPERATOR(%, x.remainder(y), detail::filled_like(y, x).remainder_(y))
AT_BINARY_OPERATOR(&, x.bitwise_and(y), y.bitwise_and(x))
AT_BINARY_OPERATOR(|, x.bitwise_or(y), y.bitwise_or(x))
AT_BINARY_OPERATOR(^, x.bitwise_xor(y), y.bitwise_xor(x))
AT_BINARY_OPERATOR(<, x.lt(y), y.gt(x))
AT_BINARY_OPERATOR(<=, x.le(y), y.ge(x))
AT_BINARY_OPERATOR(>, x.gt(y), y.lt(x))
AT_BINARY_OPERATOR(>=, x.ge(y), y.le(x))
AT_BINARY_OPERATOR(==, x.eq(y), y.eq(x))
AT_BINARY_OPERATOR(!=, x.ne(y), y.ne(x))
#undef AT_BINARY_OPERATOR

}  // namespace at
