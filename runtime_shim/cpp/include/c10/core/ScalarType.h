// Element types: c10::ScalarType, its names, and the C++ type of each.
#pragma once

#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cstdint>
#include <ostream>
#include <type_traits>

namespace c10 {

// C++ type, name in ScalarType, name in Python, name that printing a TypeMeta shows
#define AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(_)             \
  _(uint8_t, Byte, "uint8", "unsigned char")              \
  _(int8_t, Char, "int8", "signed char")                  \
  _(int16_t, Short, "int16", "short int")                 \
  _(int, Int, "int32", "int")                             \
  _(int64_t, Long, "int64", "long int")                   \
  _(c10::Half, Half, "float16", "c10::Half")              \
  _(float, Float, "float32", "float")                     \
  _(double, Double, "float64", "double")                  \
  _(c10::complex<float>, ComplexFloat, "complex64", "c10::complex<float>")    \
  _(c10::complex<double>, ComplexDouble, "complex128", "c10::complex<double>") \
  _(bool, Bool, "bool", "bool")                           \
  _(c10::BFloat16, BFloat16, "bfloat16", "c10::BFloat16")

/// The numbers are PyTorch's: libraries pass them on as integers. There are no tensors of the quantized types.
enum class ScalarType : int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  ComplexHalf,
  ComplexFloat,
  ComplexDouble,
  Bool,
  QInt8,
  QUInt8,
  QInt32,
  BFloat16,
  Undefined,
};

#define AT_CONSTANT(type, name, python, printed) constexpr ScalarType k##name = ScalarType::name;
AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_CONSTANT)
#undef AT_CONSTANT

/// The ScalarType of a C++ type: CppTypeToScalarType<float>::value.
template <typename T>
struct CppTypeToScalarType;
#define AT_TYPE_TO_SCALAR(type, name, python, printed)   \
  template <>                                            \
  struct CppTypeToScalarType<type> : std::integral_constant<ScalarType, ScalarType::name> {};
AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_TYPE_TO_SCALAR)
#undef AT_TYPE_TO_SCALAR

namespace impl {
/// The C++ type of a ScalarType.
template <ScalarType type>
struct ScalarTypeToCPPType;
#define AT_SCALAR_TO_TYPE(cpp, name, python, printed) \
  template <>                                         \
  struct ScalarTypeToCPPType<ScalarType::name> {      \
    using type = cpp;                                 \
  };
AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_SCALAR_TO_TYPE)
#undef AT_SCALAR_TO_TYPE
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl

#define AT_NAME(type, name, python, printed) \
  case ScalarType::name:                     \
    return #name;
#define AT_PYTHON(type, name, python, printed) \
  case ScalarType::name:                       \
    return python;
#define AT_PRINTED(type, name, python, printed) \
  case ScalarType::name:                        \
    return printed;
#define AT_SIZE(type, name, python, printed) \
  case ScalarType::name:                     \
    return sizeof(type);
inline const char* toString(ScalarType type) {
  switch (type) {
    AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_NAME)
    case ScalarType::ComplexHalf:
      return "ComplexHalf";
    case ScalarType::QInt8:
      return "QInt8";
    case ScalarType::QUInt8:
      return "QUInt8";
    case ScalarType::QInt32:
      return "QInt32";
    default:
      return "UNKNOWN_SCALAR";
  }
}
/// The name of the dtype in Python, as in `torch.float32`.
inline const char* python_name(ScalarType type) {
  switch (type) {
    AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_PYTHON)
    default:
      TORCH_CHECK_NOT_IMPLEMENTED(false, "the shim has no tensors of type ", toString(type));
  }
}
inline const char* printed_name(ScalarType type) {
  switch (type) {
    AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_PRINTED)
    default:
      return "nullptr (uninitialized)";
  }
}
inline size_t elementSize(ScalarType type) {
  switch (type) {
    AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_SIZE)
    default:
      TORCH_CHECK(false, "Unknown ScalarType");
  }
}
#undef AT_NAME
#undef AT_PYTHON
#undef AT_PRINTED
#undef AT_SIZE

inline bool isFloatingType(ScalarType t) {
  return t == ScalarType::Half || t == ScalarType::Float || t == ScalarType::Double || t == ScalarType::BFloat16;
}
inline bool isComplexType(ScalarType t) { return t == ScalarType::ComplexFloat || t == ScalarType::ComplexDouble; }
inline bool isIntegralType(ScalarType t, bool include_bool) {
  return t <= ScalarType::Long || (include_bool && t == ScalarType::Bool);
}
inline bool isReducedFloatingType(ScalarType t) { return t == ScalarType::Half || t == ScalarType::BFloat16; }
inline bool isSignedType(ScalarType t) { return t != ScalarType::Byte && t != ScalarType::Bool; }

inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }

}  // namespace c10

namespace caffe2 {

/// What `Tensor::dtype()` returns: a ScalarType under the name of its C++ type.
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(c10::ScalarType type) : type_(type) {}
  template <typename T>
  static TypeMeta Make() {
    return TypeMeta(c10::CppTypeToScalarType<T>::value);
  }
  c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  std::string name() const { return c10::printed_name(type_); }
  template <typename T>
  bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }
  friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend bool operator!=(TypeMeta a, TypeMeta b) { return a.type_ != b.type_; }
  friend bool operator==(TypeMeta a, c10::ScalarType b) { return a.type_ == b; }
  friend bool operator!=(TypeMeta a, c10::ScalarType b) { return a.type_ != b; }
  friend bool operator==(c10::ScalarType a, TypeMeta b) { return a == b.type_; }
  friend bool operator!=(c10::ScalarType a, TypeMeta b) { return a != b.type_; }

 private:
  c10::ScalarType type_ = c10::ScalarType::Undefined;
};

inline std::ostream& operator<<(std::ostream& out, TypeMeta type) { return out << type.name(); }

}  // namespace caffe2

namespace c10 {

inline ScalarType typeMetaToScalarType(caffe2::TypeMeta type) { return type.toScalarType(); }
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type) { return caffe2::TypeMeta(type); }

}  // namespace c10
