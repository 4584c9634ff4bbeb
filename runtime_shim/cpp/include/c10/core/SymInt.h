// c10::SymInt: an integer that may be a symbol while a program is compiled by PyTorch; here it always has its value.
#pragma once

#include <c10/core/Scalar.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <ostream>
#include <type_traits>
#include <vector>

namespace c10 {

class SymInt {
 public:
  constexpr SymInt() = default;
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  constexpr SymInt(T value) : value_(static_cast<int64_t>(value)) {}

  bool is_symbolic() const { return false; }
  std::optional<int64_t> maybe_as_int() const { return value_; }
  int64_t expect_int() const { return value_; }
  int64_t guard_int(const char*, int64_t) const { return value_; }
  int64_t as_int_unchecked() const { return value_; }
  bool sym_eq(const SymInt& other) const { return value_ == other.value_; }
  bool sym_ne(const SymInt& other) const { return value_ != other.value_; }

  SymInt operator-() const { return -value_; }
#define C10_SYMINT_COMPARISON(symbol) \
  friend bool operator symbol(const SymInt& a, const SymInt& b) { return a.value_ symbol b.value_; }
  C10_SYMINT_COMPARISON(==)
  C10_SYMINT_COMPARISON(!=)
  C10_SYMINT_COMPARISON(<)
  C10_SYMINT_COMPARISON(<=)
  C10_SYMINT_COMPARISON(>)
  C10_SYMINT_COMPARISON(>=)
#undef C10_SYMINT_COMPARISON
  friend SymInt operator+(const SymInt& a, const SymInt& b) { return a.value_ + b.value_; }
  friend SymInt operator-(const SymInt& a, const SymInt& b) { return a.value_ - b.value_; }
  friend SymInt operator*(const SymInt& a, const SymInt& b) { return a.value_ * b.value_; }
  friend SymInt operator/(const SymInt& a, const SymInt& b) { return a.value_ / b.value_; }
  friend SymInt operator%(const SymInt& a, const SymInt& b) { return a.value_ % b.value_; }
  SymInt& operator+=(const SymInt& other) { return *this = *this + other; }
  SymInt& operator-=(const SymInt& other) { return *this = *this - other; }
  SymInt& operator*=(const SymInt& other) { return *this = *this * other; }
  SymInt& operator/=(const SymInt& other) { return *this = *this / other; }
  friend std::ostream& operator<<(std::ostream& out, const SymInt& value) { return out << value.value_; }

 private:
  int64_t value_ = 0;
};
static_assert(sizeof(SymInt) == sizeof(int64_t), "a list of one can be read as a list of the other");

using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;

inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef values) {
  return {reinterpret_cast<const SymInt*>(values.data()), values.size()};
}
inline SymIntArrayRef fromIntArrayRefUnchecked(IntArrayRef values) { return fromIntArrayRefSlow(values); }
inline SymIntArrayRef fromIntArrayRefKnownNonNegative(IntArrayRef values) { return fromIntArrayRefSlow(values); }
inline IntArrayRef asIntArrayRefUnchecked(SymIntArrayRef values) {
  return {reinterpret_cast<const int64_t*>(values.data()), values.size()};
}
inline std::optional<IntArrayRef> asIntArrayRefSlowOpt(SymIntArrayRef values) { return asIntArrayRefUnchecked(values); }
inline IntArrayRef asIntArrayRefSlow(SymIntArrayRef values, const char* = "", int64_t = 0) {
  return asIntArrayRefUnchecked(values);
}
#define C10_AS_INTARRAYREF_SLOW(values) ::c10::asIntArrayRefSlow(values, __FILE__, __LINE__)

inline Scalar::Scalar(const SymInt& value) : Scalar(value.expect_int()) {}
inline SymInt Scalar::toSymInt() const { return SymInt(toLong()); }

}  // namespace c10

namespace at {
using c10::SymInt;
using c10::SymIntArrayRef;
}  // namespace at
