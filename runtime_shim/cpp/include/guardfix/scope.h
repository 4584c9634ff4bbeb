// A guard of the Python side, in force from construction to destruction.
#pragma once

#include <ATen/core/Tensor.h>
#include <guardfix/guard_counter.h>  // in C++ that stands in a string, no line can be added for it

namespace guardfix {

class GuardScope {
 public:
  /// `name` is the name of the C++ guard class; `argument` is what its constructor was given.
  GuardScope(const char* name, Arg argument) {
    static const Hook enter{"enter_guard"};
    guard_ = enter({name, argument});
  }
  GuardScope(const GuardScope&) = delete;
  GuardScope(GuardScope&&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;
  GuardScope& operator=(GuardScope&&) = delete;
  ~GuardScope() {
    if (!Py_IsInitialized()) return;
    static const Hook leave{"leave_guard"};
    leave({guard_});
  }

 private:
  Object guard_;
};

}  // namespace guardfix
