// c10::call_once: what the C++ library has under this name.
#pragma once

#include <mutex>

namespace c10 {
using std::call_once;
using std::once_flag;
}  // namespace c10
