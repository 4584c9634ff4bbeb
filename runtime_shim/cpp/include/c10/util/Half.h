// c10::Half: the 16-bit floating-point element (IEEE 754 binary16).
#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>

namespace c10 {

struct Half {
  Half() = default;
  Half(float value) : bits_(rounded(value)) {}
  operator float() const {
    const float sign = (bits_ & 0x8000) != 0 ? -1.0f : 1.0f;
    const int exponent = (bits_ >> 10) & 0x1f, fraction = bits_ & 0x3ff;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }

 private:
  /// The nearest binary16, ties to even.
  static uint16_t rounded(float value) {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const float magnitude = std::fabs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    if (magnitude >= 65520.0f) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
    const int unit = magnitude < std::ldexp(1.0f, -14) ? -24 : exponent - 11;
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
    return static_cast<uint16_t>(sign | (unit == -24 && steps <= 1024 ? steps : ((unit + 25) << 10) + steps - 1024));
  }
  uint16_t bits_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, Half value) { return out << static_cast<float>(value); }

}  // namespace c10

namespace at {
using c10::Half;
}
