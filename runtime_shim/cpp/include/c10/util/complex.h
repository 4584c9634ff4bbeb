// c10::complex<T>: the complex element. It has what reading and filling tensors needs; arithmetic on complex
// tensors is the tensors' own.
#pragma once

#include <ostream>

namespace c10 {

template <typename T>
struct complex {
  using value_type = T;

  constexpr complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }
  constexpr bool operator==(const complex& other) const { return real_ == other.real_ && imag_ == other.imag_; }
  constexpr bool operator!=(const complex& other) const { return !(*this == other); }

 private:
  T real_, imag_;
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const complex<T>& z) {
  return out << '(' << z.real() << ',' << z.imag() << ')';
}

}  // namespace c10
