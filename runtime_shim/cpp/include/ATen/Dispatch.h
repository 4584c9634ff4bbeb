// AT_DISPATCH_…: running a lambda with `scalar_t` as the C++ type of a tensor's elements.
#pragma once

#include <c10/core/ScalarType.h>

#define AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...)                                         \
  case enum_type: {                                                                                   \
    using HINT [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<enum_type>;                       \
    return __VA_ARGS__();                                                                             \
  }
/// One type of an AT_DISPATCH_SWITCH.
#define AT_DISPATCH_CASE(enum_type, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                      \
  [&] {                                                                                          \
    const auto& the_type = TYPE;                                                                 \
    const ::c10::ScalarType dispatched_type = the_type;                                          \
    switch (dispatched_type) {                                                                   \
      __VA_ARGS__                                                                                \
      default:                                                                                   \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', NAME, "\" not implemented for '",                \
                                    ::c10::toString(dispatched_type), "'");                      \
        ::std::terminate();                                                                      \
    }                                                                                            \
  }()

// Groups of types, and the groups with one to six more.
#define AT_PRIVATE_TYPE(name, ...) AT_DISPATCH_CASE(::c10::ScalarType::name, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) AT_PRIVATE_TYPE(Double, __VA_ARGS__) AT_PRIVATE_TYPE(Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_PRIVATE_TYPE(Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  AT_PRIVATE_TYPE(Half, __VA_ARGS__) AT_PRIVATE_TYPE(BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...) \
  AT_PRIVATE_TYPE(ComplexDouble, __VA_ARGS__) AT_PRIVATE_TYPE(ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                               \
  AT_PRIVATE_TYPE(Byte, __VA_ARGS__) AT_PRIVATE_TYPE(Char, __VA_ARGS__) AT_PRIVATE_TYPE(Int, __VA_ARGS__)  \
  AT_PRIVATE_TYPE(Long, __VA_ARGS__) AT_PRIVATE_TYPE(Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

#define AT_PRIVATE_GROUP(GROUP, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, GROUP(__VA_ARGS__))
#define AT_PRIVATE_GROUP_1(GROUP, T1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, GROUP(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__))
#define AT_PRIVATE_GROUP_2(GROUP, T1, T2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, GROUP(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__) AT_DISPATCH_CASE(T2, __VA_ARGS__))
#define AT_PRIVATE_GROUP_3(GROUP, T1, T2, T3, TYPE, NAME, ...)                                          \
  AT_DISPATCH_SWITCH(TYPE, NAME, GROUP(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)                   \
                                     AT_DISPATCH_CASE(T2, __VA_ARGS__) AT_DISPATCH_CASE(T3, __VA_ARGS__))
#define AT_PRIVATE_GROUP_4(GROUP, T1, T2, T3, T4, TYPE, NAME, ...)                                      \
  AT_DISPATCH_SWITCH(TYPE, NAME, GROUP(__VA_ARGS__) AT_DISPATCH_CASE(T1, __VA_ARGS__)                   \
                                     AT_DISPATCH_CASE(T2, __VA_ARGS__) AT_DISPATCH_CASE(T3, __VA_ARGS__) \
                                         AT_DISPATCH_CASE(T4, __VA_ARGS__))

#define AT_DISPATCH_FLOATING_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(...) AT_PRIVATE_GROUP(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES_AND(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(...) AT_PRIVATE_GROUP_2(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(...) AT_PRIVATE_GROUP_3(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(...) AT_PRIVATE_GROUP_4(AT_DISPATCH_CASE_FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) AT_PRIVATE_GROUP_2(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(...) AT_PRIVATE_GROUP_3(AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(...) AT_PRIVATE_GROUP_2(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(...) AT_PRIVATE_GROUP_3(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(...) AT_PRIVATE_GROUP_4(AT_DISPATCH_CASE_ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) AT_PRIVATE_GROUP_1(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) AT_PRIVATE_GROUP_2(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) AT_PRIVATE_GROUP_3(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(...) AT_PRIVATE_GROUP_4(AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX, __VA_ARGS__)

/// `index_t` as int or int64_t.
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                                       \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                                       \
                     AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, index_t, __VA_ARGS__)     \
                         AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Long, index_t, __VA_ARGS__))
