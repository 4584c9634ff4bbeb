// PYBIND11_MODULE in a program: compiles, and its block is not run.
#pragma once

#include <c10/macros/Macros.h>

#include <utility>

#define TORCH_EXTENSION_NAME extension

namespace pybind11 {

/// Takes the definitions of a PYBIND11_MODULE block.
class module_ {
 public:
  template <typename Function, typename... Extra>
  module_& def(const char*, Function&&, const Extra&...) {
    return *this;
  }
  template <typename Value>
  void attr(Value&&) {}
};
struct arg {
  explicit constexpr arg(const char*) {}
  template <typename Value>
  const arg& operator=(Value&&) const {
    return *this;
  }
};
/// Gives the interpreter lock up for a scope; a program holds it only inside an op, so there is nothing to give up.
struct gil_scoped_release {
  gil_scoped_release() {}
};
struct gil_scoped_acquire {
  gil_scoped_acquire() {}
};

}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, m) [[maybe_unused]] static void C10_CONCATENATE(pybind11_init_, name)(::pybind11::module_ & m)
