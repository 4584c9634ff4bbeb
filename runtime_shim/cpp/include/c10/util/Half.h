// c10::Half and c10::BFloat16: the 16-bit floating-point elements. Both compute in float and round each result.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <type_traits>

namespace c10 {

namespace detail {

/// IEEE 754 binary16.
struct Binary16 {
  static float widened(uint16_t bits) {
    const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
    const int exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  /// The nearest, ties to even.
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
};

/// The upper half of a float.
struct BrainFloat16 {
  static float widened(uint16_t bits) {
    const uint32_t all = static_cast<uint32_t>(bits) << 16;
    float value = 0;
    std::memcpy(&value, &all, sizeof(value));
    return value;
  }
  static uint16_t rounded(float value) {
    if (std::isnan(value)) return 0x7fc0;
    uint32_t all = 0;
    std::memcpy(&all, &value, sizeof(value));
    return static_cast<uint16_t>((all + 0x7fff + ((all >> 16) & 1)) >> 16);
  }
};

}  // namespace detail

/// A 16-bit number in one of the two formats. With a number of its own kind or an integer it gives its own kind, with a
/// float or double that type, as in PyTorch.
template <typename Format>
struct Float16 {
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  Float16() = default;
  Float16(float value) : x(Format::rounded(value)) {}
  constexpr Float16(uint16_t bits, from_bits_t) : x(bits) {}
  operator float() const { return Format::widened(x); }

  Float16 operator-() const { return Float16(static_cast<uint16_t>(x ^ 0x8000), from_bits()); }
#define C10_FLOAT16_OPERATOR(symbol)                                                                         \
  friend Float16 operator symbol(Float16 a, Float16 b) { return float(a) symbol float(b); }                  \
  friend float operator symbol(Float16 a, float b) { return float(a) symbol b; }                             \
  friend float operator symbol(float a, Float16 b) { return a symbol float(b); }                             \
  friend double operator symbol(Float16 a, double b) { return double(float(a)) symbol b; }                   \
  friend double operator symbol(double a, Float16 b) { return a symbol double(float(b)); }                   \
  template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>                      \
  friend Float16 operator symbol(Float16 a, Integer b) {                                                     \
    return float(a) symbol float(b);                                                                         \
  }                                                                                                          \
  template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>                      \
  friend Float16 operator symbol(Integer a, Float16 b) {                                                     \
    return float(a) symbol float(b);                                                                         \
  }                                                                                                          \
  friend float& operator symbol##=(float& a, Float16 b) { return a symbol##= float(b); }                     \
  Float16& operator symbol##=(Float16 other) { return *this = float(*this) symbol float(other); }            \
  Float16& operator symbol##=(float other) { return *this = float(*this) symbol other; }                     \
  Float16& operator symbol##=(double other) { return *this = static_cast<float>(float(*this) symbol other); } \
  template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>                      \
  Float16& operator symbol##=(Integer other) {                                                               \
    return *this = float(*this) symbol float(other);                                                         \
  }
  C10_FLOAT16_OPERATOR(+)
  C10_FLOAT16_OPERATOR(-)
  C10_FLOAT16_OPERATOR(*)
  C10_FLOAT16_OPERATOR(/)
#undef C10_FLOAT16_OPERATOR

  uint16_t x = 0;  // the bits; the name is PyTorch's
};

using Half = Float16<detail::Binary16>;
using BFloat16 = Float16<detail::BrainFloat16>;

template <typename Format>
std::ostream& operator<<(std::ostream& out, Float16<Format> value) {
  return out << static_cast<float>(value);
}

template <typename T>
struct is_reduced_floating_point : std::bool_constant<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>> {};
template <typename T>
constexpr bool is_reduced_floating_point_v = is_reduced_floating_point<T>::value;

namespace detail {
/// std::numeric_limits of a format, by the bits of its values.
template <typename T, uint16_t lowest_bits, uint16_t min_bits, uint16_t max_bits, uint16_t epsilon_bits,
          uint16_t infinity_bits, uint16_t nan_bits, uint16_t denorm_bits, int digits_, int max_exponent_>
struct Float16Limits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
  static constexpr bool is_bounded = true, is_modulo = false, is_iec559 = true;
  static constexpr int digits = digits_, radix = 2, max_exponent = max_exponent_, min_exponent = 3 - max_exponent_;
  static constexpr T lowest() { return T(lowest_bits, T::from_bits()); }
  static constexpr T min() { return T(min_bits, T::from_bits()); }
  static constexpr T max() { return T(max_bits, T::from_bits()); }
  static constexpr T epsilon() { return T(epsilon_bits, T::from_bits()); }
  static constexpr T infinity() { return T(infinity_bits, T::from_bits()); }
  static constexpr T quiet_NaN() { return T(nan_bits, T::from_bits()); }
  static constexpr T signaling_NaN() {
    return T(static_cast<uint16_t>((nan_bits - infinity_bits) / 2 + infinity_bits), T::from_bits());
  }
  static constexpr T denorm_min() { return T(denorm_bits, T::from_bits()); }
};
}  // namespace detail

}  // namespace c10

namespace std {
template <>
struct numeric_limits<c10::Half>
    : c10::detail::Float16Limits<c10::Half, 0xfbff, 0x0400, 0x7bff, 0x1400, 0x7c00, 0x7e00, 0x0001, 11, 16> {};
template <>
struct numeric_limits<c10::BFloat16>
    : c10::detail::Float16Limits<c10::BFloat16, 0xff7f, 0x0080, 0x7f7f, 0x3c00, 0x7f80, 0x7fc0, 0x0001, 8, 128> {};
}  // namespace std

namespace at {
using c10::BFloat16;
using c10::Half;
}  // namespace at
