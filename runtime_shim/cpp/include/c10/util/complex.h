// c10::complex<T>: the complex element, with the arithmetic of std::complex.
#pragma once

#include <cmath>
#include <ostream>

namespace c10 {

template <typename T>
struct complex {
  using value_type = T;

  constexpr complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  template <typename U>
  explicit constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  constexpr bool operator==(const complex& other) const { return real_ == other.real_ && imag_ == other.imag_; }
  constexpr bool operator!=(const complex& other) const { return !(*this == other); }

  constexpr complex operator-() const { return {-real_, -imag_}; }
  friend constexpr complex operator+(complex a, complex b) { return {a.real_ + b.real_, a.imag_ + b.imag_}; }
  friend constexpr complex operator-(complex a, complex b) { return {a.real_ - b.real_, a.imag_ - b.imag_}; }
  friend constexpr complex operator*(complex a, complex b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  friend constexpr complex operator/(complex a, complex b) {
    const T square = b.real_ * b.real_ + b.imag_ * b.imag_;
    const complex product = a * complex(b.real_, -b.imag_);
    return {product.real_ / square, product.imag_ / square};
  }

 private:
  T real_, imag_;
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const complex<T>& z) {
  return out << '(' << z.real() << ',' << z.imag() << ')';
}

}  // namespace c10

namespace std {

template <typename T>
T abs(const c10::complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}

}  // namespace std
