// STD_TORCH_CHECK: TORCH_CHECK without c10, for code that is linked with no library of PyTorch's.
#pragma once

#include <torch/headeronly/macros/Export.h>
#include <torch/headeronly/macros/Macros.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace guardfix {

/// What a failed check says: the place, and the parts of its message.
template <typename... Parts>
std::string std_check_message(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

}  // namespace guardfix

#define STD_TORCH_CHECK(cond, ...)                                                                \
  if (!(cond)) {                                                                                  \
    throw std::runtime_error(::guardfix::std_check_message(__func__, ", ", __FILE__, ":", __LINE__, \
                                                           ", " __VA_OPT__(, ) __VA_ARGS__));     \
  }
