// c10::Scalar: one number of any element type.
#pragma once

#include <c10/core/ScalarType.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace c10 {

class SymInt;

/// Whether a number has no value, or not nearly its own, as a To. Infinities and NaN have one in each floating type;
/// negative numbers wrap around in unsigned types.
template <typename To, typename From>
bool overflows(From number) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, bool>) {
    return false;
  } else if constexpr (std::is_integral_v<From>) {
    if constexpr (!Limits::is_integer) {
      return static_cast<double>(number) < static_cast<double>(Limits::lowest()) ||
             static_cast<double>(number) > static_cast<double>(Limits::max());
    } else if constexpr (!Limits::is_signed) {
      const uint64_t size = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
      return size > static_cast<uint64_t>(Limits::max());
    } else {
      return number < static_cast<int64_t>(Limits::lowest()) || number > static_cast<int64_t>(Limits::max());
    }
  } else {
    if (Limits::has_infinity && std::isinf(number)) return false;
    if (number != number) return !Limits::has_quiet_NaN;
    return number < static_cast<From>(Limits::lowest()) || number > static_cast<From>(Limits::max());
  }
}

namespace detail {
template <typename T>
std::string type_name_of_number() {
  if constexpr (std::is_same_v<T, int>) return "int";
  else if constexpr (std::is_same_v<T, Half>) return "c10::Half";
  else if constexpr (std::is_same_v<T, BFloat16>) return "c10::BFloat16";
  else if constexpr (std::is_same_v<T, float>) return "float";
  else if constexpr (std::is_same_v<T, double>) return "double";
  else if constexpr (std::is_same_v<T, bool>) return "bool";
  else return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
}
}  // namespace detail

class Scalar {
 public:
  Scalar() : Scalar(int64_t(0)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean;
      integer_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::integer;
      integer_ = static_cast<int64_t>(value);
    } else {
      kind_ = Kind::real;
      real_ = static_cast<double>(value);
    }
  }
  Scalar(const SymInt& value);
  Scalar(Half value) : kind_(Kind::real), real_(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : kind_(Kind::real), real_(static_cast<float>(value)) {}
  template <typename T>
  Scalar(complex<T> value) : kind_(Kind::complex_number), real_(value.real()), imag_(value.imag()) {}

  bool isFloatingPoint() const { return kind_ == Kind::real; }
  bool isComplex() const { return kind_ == Kind::complex_number; }
  bool isBoolean() const { return kind_ == Kind::boolean; }
  bool isIntegral(bool include_bool) const { return kind_ == Kind::integer || (include_bool && isBoolean()); }

  /// The value as T; a std::runtime_error when T has no such value, or a complex one would lose its imaginary part.
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>) {
      using Part = typename T::value_type;
      return isIntegral(true) ? T(static_cast<Part>(integer_))
                              : T(static_cast<Part>(real_), static_cast<Part>(imag_));
    } else {
      if ((isComplex() && imag_ != 0) || (isIntegral(true) ? overflows<T>(integer_) : overflows<T>(real_)))
        throw std::runtime_error("value cannot be converted to type " + detail::type_name_of_number<T>() +
                                 " without overflow");
      if constexpr (std::is_same_v<T, bool>) {
        return isIntegral(true) ? integer_ != 0 : real_ != 0;
      } else {
        return isIntegral(true) ? static_cast<T>(integer_) : static_cast<T>(real_);
      }
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  bool toBool() const { return to<bool>(); }
  SymInt toSymInt() const;
  complex<float> toComplexFloat() const { return to<complex<float>>(); }
  complex<double> toComplexDouble() const { return to<complex<double>>(); }

  ScalarType type() const {
    switch (kind_) {
      case Kind::boolean:
        return ScalarType::Bool;
      case Kind::integer:
        return ScalarType::Long;
      case Kind::real:
        return ScalarType::Double;
      default:
        return ScalarType::ComplexDouble;
    }
  }
  Scalar operator-() const {
    if (isIntegral(true)) return Scalar(-integer_);
    if (isComplex()) return Scalar(complex<double>(-real_, -imag_));
    return Scalar(-real_);
  }
  Scalar conj() const { return isComplex() ? Scalar(complex<double>(real_, -imag_)) : *this; }
  template <typename T>
  bool equal(complex<T> number) const {
    const complex<double> own = toComplexDouble();
    return own.real() == number.real() && own.imag() == number.imag();
  }
  /// Truth values are equal to no numbers.
  bool equal(bool value) const { return isBoolean() && (integer_ != 0) == value; }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  bool equal(T number) const {
    if (isBoolean() || (isComplex() && imag_ != 0)) return false;
    return isIntegral(true) ? integer_ == static_cast<int64_t>(number) : real_ == static_cast<double>(number);
  }

 private:
  enum class Kind { integer, real, boolean, complex_number };
  Kind kind_;
  int64_t integer_ = 0;
  double real_ = 0, imag_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (scalar.isFloatingPoint()) return out << scalar.toDouble();
  if (scalar.isComplex()) return out << scalar.toComplexDouble();
  if (scalar.isBoolean()) return out << (scalar.toBool() ? "true" : "false");
  return out << scalar.toLong();
}

}  // namespace c10
