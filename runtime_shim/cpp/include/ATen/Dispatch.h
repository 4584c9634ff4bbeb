// AT_DISPATCH_…: running a lambda with `scalar_t` as the C++ type of a tensor's elements.
#pragma once

#include <c10/core/ScalarType.h>

#define AT_PRIVATE_CASE(enum_type, type, ...) \
  case enum_type: {                           \
    using scalar_t [[maybe_unused]] = type;   \
    return __VA_ARGS__();                     \
  }
#define AT_PRIVATE_SWITCH(TYPE, NAME, ...)                                                      \
  [&] {                                                                                         \
    const ::c10::ScalarType dispatched_type = TYPE;                                             \
    switch (dispatched_type) {                                                                  \
      __VA_ARGS__                                                                               \
      default:                                                                                  \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', NAME, "\" not implemented for '",               \
                                    ::c10::toString(dispatched_type), "'");                     \
        ::std::terminate();                                                                     \
    }                                                                                           \
  }()

#define AT_PRIVATE_FLOATING(...)                                    \
  AT_PRIVATE_CASE(::c10::ScalarType::Float, float, __VA_ARGS__)     \
  AT_PRIVATE_CASE(::c10::ScalarType::Double, double, __VA_ARGS__)
#define AT_PRIVATE_INTEGRAL(...)                                    \
  AT_PRIVATE_CASE(::c10::ScalarType::Byte, uint8_t, __VA_ARGS__)    \
  AT_PRIVATE_CASE(::c10::ScalarType::Char, int8_t, __VA_ARGS__)     \
  AT_PRIVATE_CASE(::c10::ScalarType::Short, int16_t, __VA_ARGS__)   \
  AT_PRIVATE_CASE(::c10::ScalarType::Int, int, __VA_ARGS__)         \
  AT_PRIVATE_CASE(::c10::ScalarType::Long, int64_t, __VA_ARGS__)
#define AT_PRIVATE_HALF(...) AT_PRIVATE_CASE(::c10::ScalarType::Half, ::c10::Half, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_PRIVATE_SWITCH(TYPE, NAME, AT_PRIVATE_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_PRIVATE_SWITCH(TYPE, NAME, AT_PRIVATE_FLOATING(__VA_ARGS__) AT_PRIVATE_HALF(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_PRIVATE_SWITCH(TYPE, NAME, AT_PRIVATE_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_PRIVATE_SWITCH(TYPE, NAME, AT_PRIVATE_FLOATING(__VA_ARGS__) AT_PRIVATE_INTEGRAL(__VA_ARGS__))
