// DECLARE_DISPATCH and the like: here one kernel for each stub, that of the CPU.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at::native {

template <typename Function, typename Stub>
struct DispatchStub {
  template <typename... Args>
  decltype(auto) operator()(c10::DeviceType device, Args&&... args) const {
    TORCH_CHECK(device == c10::kCPU && kernel() != nullptr, "DispatchStub: missing kernel for ", device);
    return (*kernel())(std::forward<Args>(args)...);
  }
  static Function& kernel() {
    static Function function = nullptr;
    return function;
  }
};

template <typename Stub, typename Function>
struct RegisterDispatch {
  RegisterDispatch(Stub&, Function function) { Stub::kernel() = function; }
};

}  // namespace at::native

#define DECLARE_DISPATCH(function, name)                             \
  struct name##_DECLARE_DISPATCH_type                                \
      : at::native::DispatchStub<function, name##_DECLARE_DISPATCH_type> {}; \
  extern struct name##_DECLARE_DISPATCH_type name
#define DEFINE_DISPATCH(name) struct name##_DECLARE_DISPATCH_type name
#define REGISTER_DISPATCH(name, function)                                                                     \
  static at::native::RegisterDispatch<name##_DECLARE_DISPATCH_type, decltype(function)> name##_register(name, function);
#define REGISTER_ALL_CPU_DISPATCH(name, function) REGISTER_DISPATCH(name, function)
#define REGISTER_NO_CPU_DISPATCH(name)
