// c10::complex<T>: the complex element, with the arithmetic and the functions of std::complex.
#pragma once

#include <cmath>
#include <complex>
#include <ostream>
#include <type_traits>

namespace c10 {

template <typename T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  constexpr complex() : complex(T()) {}
  constexpr complex(const T& real, const T& imag = T()) : real_(real), imag_(imag) {}
  template <typename U, std::enable_if_t<(sizeof(U) > sizeof(T)), int> = 0>
  explicit constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <typename U, std::enable_if_t<(sizeof(U) < sizeof(T)), int> = 0>
  constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <typename U>
  explicit constexpr complex(const std::complex<U>& other) : complex(other.real(), other.imag()) {}
  template <typename U>
  explicit constexpr operator std::complex<U>() const {
    return {static_cast<U>(real_), static_cast<U>(imag_)};
  }
  explicit constexpr operator bool() const { return real_ != T() || imag_ != T(); }

  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  constexpr void real(T value) { real_ = value; }
  constexpr void imag(T value) { imag_ = value; }

  constexpr complex& operator=(T real) { return *this = complex(real); }
  template <typename U>
  constexpr complex& operator=(const std::complex<U>& other) {
    return *this = complex(other);
  }
  constexpr complex& operator+=(T other) { return *this = {real_ + other, imag_}; }
  constexpr complex& operator-=(T other) { return *this = {real_ - other, imag_}; }
  constexpr complex& operator*=(T other) { return *this = {real_ * other, imag_ * other}; }
  constexpr complex& operator/=(T other) { return *this = {real_ / other, imag_ / other}; }
  template <typename U>
  constexpr complex& operator+=(const complex<U>& other) {
    return *this = complex(real_ + other.real(), imag_ + other.imag());
  }
  template <typename U>
  constexpr complex& operator-=(const complex<U>& other) {
    return *this = complex(real_ - other.real(), imag_ - other.imag());
  }
  template <typename U>
  constexpr complex& operator*=(const complex<U>& other) {
    return *this = complex(real_ * other.real() - imag_ * other.imag(), real_ * other.imag() + imag_ * other.real());
  }
  /// By the larger part of the divisor, as numpy divides, so that nothing overflows on the way.
  template <typename U>
  constexpr complex& operator/=(const complex<U>& other) {
    const U c = other.real(), d = other.imag(), size_c = c < 0 ? -c : c, size_d = d < 0 ? -d : d;
    if (size_c == 0 && size_d == 0) return *this = complex(real_ / size_c, imag_ / size_d);
    if (size_c >= size_d) {
      const U ratio = d / c, scale = U(1) / (c + d * ratio);
      return *this = complex((real_ + imag_ * ratio) * scale, (imag_ - real_ * ratio) * scale);
    }
    const U ratio = c / d, scale = U(1) / (c * ratio + d);
    return *this = complex((real_ * ratio + imag_) * scale, (imag_ * ratio - real_) * scale);
  }

 private:
  T real_, imag_;
};

template <typename T>
constexpr complex<T> operator+(const complex<T>& z) {
  return z;
}
template <typename T>
constexpr complex<T> operator-(const complex<T>& z) {
  return {-z.real(), -z.imag()};
}

/// An operator on two complex numbers, on one and its kind of real number, and on one and an integer.
#define GUARDFIX_ARITHMETIC(symbol, assigning)                                     \
  template <typename T>                                                            \
  constexpr complex<T> operator symbol(const complex<T>& a, const complex<T>& b) { \
    complex<T> found = a;                                                          \
    return found assigning b;                                                      \
  }                                                                                \
  template <typename T>                                                            \
  constexpr complex<T> operator symbol(const complex<T>& a, const T& b) {          \
    complex<T> found = a;                                                          \
    return found assigning b;                                                      \
  }                                                                                \
  template <typename T>                                                            \
  constexpr complex<T> operator symbol(const T& a, const complex<T>& b) {          \
    complex<T> found(a);                                                           \
    return found assigning b;                                                      \
  }                                                                                \
  template <typename T, typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0> \
  constexpr complex<T> operator symbol(const complex<T>& a, const Int& b) {        \
    return a symbol static_cast<T>(b);                                             \
  }                                                                                \
  template <typename T, typename Int, std::enable_if_t<std::is_integral_v<Int>, int> = 0> \
  constexpr complex<T> operator symbol(const Int& a, const complex<T>& b) {        \
    return static_cast<T>(a) symbol b;                                             \
  }
GUARDFIX_ARITHMETIC(+, +=)
GUARDFIX_ARITHMETIC(-, -=)
GUARDFIX_ARITHMETIC(*, *=)
GUARDFIX_ARITHMETIC(/, /=)
#undef GUARDFIX_ARITHMETIC

template <typename T>
constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <typename T>
constexpr bool operator==(const complex<T>& a, const T& b) {
  return a == complex<T>(b);
}
template <typename T>
constexpr bool operator==(const T& a, const complex<T>& b) {
  return complex<T>(a) == b;
}
template <typename T>
constexpr bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}
template <typename T>
constexpr bool operator!=(const complex<T>& a, const T& b) {
  return !(a == b);
}
template <typename T>
constexpr bool operator!=(const T& a, const complex<T>& b) {
  return !(a == b);
}

template <typename T>
std::ostream& operator<<(std::ostream& out, const complex<T>& z) {
  return out << static_cast<std::complex<T>>(z);
}

template <typename T>
complex<T> polar(const T& radius, const T& angle = T()) {
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

inline namespace literals {
inline namespace complex_literals {
constexpr complex<float> operator""_if(long double imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr complex<float> operator""_if(unsigned long long imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr complex<double> operator""_id(long double imag) { return {0.0, static_cast<double>(imag)}; }
constexpr complex<double> operator""_id(unsigned long long imag) { return {0.0, static_cast<double>(imag)}; }
}  // namespace complex_literals
}  // namespace literals

}  // namespace c10

/// The functions of <complex>, also under c10_complex_math:: and, as in PyTorch, in std::.
namespace c10_complex_math {
#define GUARDFIX_COMPLEX_FUNCTION(name)                                \
  template <typename T>                                                \
  c10::complex<T> name(const c10::complex<T>& z) {                     \
    return c10::complex<T>(std::name(static_cast<std::complex<T>>(z))); \
  }
GUARDFIX_COMPLEX_FUNCTION(exp)
GUARDFIX_COMPLEX_FUNCTION(log)
GUARDFIX_COMPLEX_FUNCTION(log10)
GUARDFIX_COMPLEX_FUNCTION(sqrt)
GUARDFIX_COMPLEX_FUNCTION(sin)
GUARDFIX_COMPLEX_FUNCTION(cos)
GUARDFIX_COMPLEX_FUNCTION(tan)
GUARDFIX_COMPLEX_FUNCTION(asin)
GUARDFIX_COMPLEX_FUNCTION(acos)
GUARDFIX_COMPLEX_FUNCTION(atan)
GUARDFIX_COMPLEX_FUNCTION(sinh)
GUARDFIX_COMPLEX_FUNCTION(cosh)
GUARDFIX_COMPLEX_FUNCTION(tanh)
GUARDFIX_COMPLEX_FUNCTION(asinh)
GUARDFIX_COMPLEX_FUNCTION(acosh)
GUARDFIX_COMPLEX_FUNCTION(atanh)
#undef GUARDFIX_COMPLEX_FUNCTION
template <typename T>
c10::complex<T> pow(const c10::complex<T>& a, const c10::complex<T>& b) {
  return c10::complex<T>(std::pow(static_cast<std::complex<T>>(a), static_cast<std::complex<T>>(b)));
}
template <typename T>
c10::complex<T> pow(const c10::complex<T>& a, const T& b) {
  return c10::complex<T>(std::pow(static_cast<std::complex<T>>(a), b));
}
template <typename T>
c10::complex<T> pow(const T& a, const c10::complex<T>& b) {
  return c10::complex<T>(std::pow(a, static_cast<std::complex<T>>(b)));
}
}  // namespace c10_complex_math

namespace std {

template <typename T>
constexpr T real(const c10::complex<T>& z) {
  return z.real();
}
template <typename T>
constexpr T imag(const c10::complex<T>& z) {
  return z.imag();
}
template <typename T>
T abs(const c10::complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <typename T>
T arg(const c10::complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <typename T>
constexpr T norm(const c10::complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
constexpr c10::complex<T> conj(const c10::complex<T>& z) {
  return {z.real(), -z.imag()};
}
using c10_complex_math::acos;
using c10_complex_math::acosh;
using c10_complex_math::asin;
using c10_complex_math::asinh;
using c10_complex_math::atan;
using c10_complex_math::atanh;
using c10_complex_math::cos;
using c10_complex_math::cosh;
using c10_complex_math::exp;
using c10_complex_math::log;
using c10_complex_math::log10;
using c10_complex_math::pow;
using c10_complex_math::sin;
using c10_complex_math::sinh;
using c10_complex_math::sqrt;
using c10_complex_math::tan;
using c10_complex_math::tanh;

}  // namespace std
