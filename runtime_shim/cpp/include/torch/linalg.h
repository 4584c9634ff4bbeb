// torch::linalg: the functions of linear algebra under the names that they have in Python.
#pragma once

#include <torch/types.h>

namespace torch::linalg {

#define GUARDFIX_UNPACK(...) __VA_ARGS__
#define GUARDFIX_LINALG(kind, name, parameters, arguments)                      \
  inline GUARDFIX_RESULT_##kind name parameters {                               \
    using guardfix::kw;                                                         \
    static const guardfix::Op op{"linalg_" #name, "function"};                  \
    GUARDFIX_RETURN_##kind(A, op({GUARDFIX_UNPACK arguments}))                  \
  }
#include <ATen/linalg_functions.def>
#undef GUARDFIX_UNPACK

}  // namespace torch::linalg
