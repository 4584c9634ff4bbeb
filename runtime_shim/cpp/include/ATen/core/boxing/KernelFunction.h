// c10::Kernel: a kernel of any signature. C++ calls it with its own types; Python, and C++ that holds its arguments in a
// stack, through IValues.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/DispatchKeySet.h>
#include <guardfix/kernel_types.h>

#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace c10 {

class OperatorHandle;
using Stack = torch::jit::Stack;

struct OperatorName {
  std::string name, overload_name;
  std::string qualified() const { return overload_name.empty() ? name : name + "." + overload_name; }
};

/// An empty one means falling through to the next key.
class Kernel {
 public:
  /// Takes its arguments off the stack and puts its results there.
  using BoxedFunction = void (*)(const OperatorHandle&, DispatchKeySet, Stack*);

  Kernel() = default;
  /// From a function pointer, or a lambda that captures nothing. A first parameter of type DispatchKeySet gets the
  /// keys of the call.
  template <typename Function>
  static Kernel make(Function function) {
    if constexpr (std::is_pointer_v<Function>) {
      return of(function);
    } else {
      return of(+function);
    }
  }
  static Kernel make_boxed(BoxedFunction function) {
    Kernel kernel;
    kernel.boxed_ = function;
    return kernel;
  }

  bool is_fallthrough() const { return function_ == nullptr && boxed_ == nullptr; }
  bool is_boxed() const { return boxed_ != nullptr; }
  /// Whether the function can be called as `Return(Args...)`. A SymInt, which is an int64_t in a class, goes for one.
  template <typename Return, typename... Args>
  bool has_signature(Return (*)(Args...)) const {
    return *signature_ == typeid(Return(*)(guardfix::WithoutSymbols<Args>...));
  }
  /// The schema that the signature gives, without a name. Empty for a boxed kernel, which has none.
  std::string schema() const { return schema_ == nullptr ? "" : schema_(); }

  template <typename Return, typename... Args>
  Return call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    if (boxed_ != nullptr) {
      Stack stack{IValue(args)...};
      boxed_(op, keys, &stack);
      return guardfix::ResultOf<Return>::from(stack, args...);
    }
    if (takes_keys_)
      return reinterpret_cast<Return (*)(DispatchKeySet, Args...)>(function_)(keys, std::forward<Args>(args)...);
    return reinterpret_cast<Return (*)(Args...)>(function_)(std::forward<Args>(args)...);
  }
  /// Replaces the arguments on the stack, which are all that there is on it, by the results.
  void call_with_stack(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const {
    if (boxed_ != nullptr) {
      const guardfix::GilReleasedIfHeld released;
      return boxed_(op, keys, &stack);
    }
    TORCH_INTERNAL_ASSERT(with_stack_ != nullptr, "this kernel can be called from C++ alone");
    with_stack_(*this, op, keys, stack);
  }

 private:
  template <typename Return, typename... Args>
  static Kernel of(Return (*function)(DispatchKeySet, Args...)) {
    return from<Return, Args...>(reinterpret_cast<void (*)()>(function), true);
  }
  template <typename Return, typename... Args>
  static Kernel of(Return (*function)(Args...)) {
    return from<Return, Args...>(reinterpret_cast<void (*)()>(function), false);
  }
  template <typename Return, typename... Args>
  static Kernel from(void (*function)(), bool takes_keys) {
    Kernel kernel;
    kernel.function_ = function;
    kernel.signature_ = &typeid(Return(*)(guardfix::WithoutSymbols<Args>...));
    kernel.takes_keys_ = takes_keys;
#ifndef GUARDFIX_PROGRAM  // a program's ops are called by the program alone
    kernel.with_stack_ = [](const Kernel& k, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      unpacked<Return, Args...>(k, op, keys, stack, std::index_sequence_for<Args...>());
    };
    kernel.schema_ = &guardfix::schema_of_function<Return, Args...>;
#endif
    return kernel;
  }
  template <typename Return, typename... Args, size_t... at>
  static void unpacked(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack,
                       std::index_sequence<at...>) {
    TORCH_CHECK(stack.size() == sizeof...(Args), "the kernel takes ", sizeof...(Args), " arguments, but its schema has ",
                stack.size());
    std::tuple<guardfix::UnpackedArgument<std::decay_t<Args>>...> arguments(stack[at]...);
    // The interpreter's lock is let go of while the kernel runs, which may wait for threads of its own.
    const auto run = [&]() -> Return {
      const guardfix::GilReleasedIfHeld released;
      return kernel.call<Return, Args...>(op, keys, static_cast<Args>(std::get<at>(arguments).get())...);
    };
    if constexpr (std::is_void_v<Return>) {
      run();
      stack.clear();
    } else {
      const std::decay_t<Return> result = run();
      stack.clear();
      guardfix::push_results(stack, result);
    }
  }

  void (*function_)() = nullptr;
  BoxedFunction boxed_ = nullptr;
  void (*with_stack_)(const Kernel&, const OperatorHandle&, DispatchKeySet, Stack&) = nullptr;
  std::string (*schema_)() = nullptr;
  const std::type_info* signature_ = &typeid(void);
  bool takes_keys_ = false;
};

}  // namespace c10
