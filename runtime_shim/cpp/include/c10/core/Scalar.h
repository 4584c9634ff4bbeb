// c10::Scalar: one number of any element type.
#pragma once

#include <c10/core/ScalarType.h>

#include <type_traits>

namespace c10 {

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
  Scalar(Half value) : kind_(Kind::real), real_(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : kind_(Kind::real), real_(static_cast<float>(value)) {}
  template <typename T>
  Scalar(complex<T> value) : kind_(Kind::complex_number), real_(value.real()), imag_(value.imag()) {}

  bool isFloatingPoint() const { return kind_ == Kind::real; }
  bool isComplex() const { return kind_ == Kind::complex_number; }
  bool isBoolean() const { return kind_ == Kind::boolean; }
  bool isIntegral(bool include_bool) const { return kind_ == Kind::integer || (include_bool && isBoolean()); }

  /// The value as T; an error when a complex value would lose its imaginary part.
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>) {
      using Part = typename T::value_type;
      return isIntegral(true) ? T(static_cast<Part>(integer_))
                              : T(static_cast<Part>(real_), static_cast<Part>(imag_));
    } else {
      TORCH_CHECK(!isComplex() || imag_ == 0, "value cannot be converted to type without overflow");
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
  bool toBool() const { return to<bool>(); }
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
  template <typename T>
  bool equal(T number) const {
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
