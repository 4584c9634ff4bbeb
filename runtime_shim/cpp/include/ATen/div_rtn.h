#pragma once

/// Division of integers, rounded down.
template <typename T>
T div_rtn(T x, T y) {
  const T quotient = x / y;
  return x % y != 0 && (x % y < 0) != (y < 0) ? quotient - 1 : quotient;
}
