// c10::Kernel: a kernel of any signature. C++ calls it with its own types; Python, and C++ that holds its arguments in a
// stack, through IValues.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/DispatchKeySet.h>
#include <guardfix/kernel_types.h>

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

// A program's ops are called by the program alone, mostly with their own types: `guardfix run` leaves out what calls
// them with a stack where nothing does.
#if !defined(GUARDFIX_PROGRAM) || defined(GUARDFIX_WITH_REGISTRATION)
#define GUARDFIX_WITH_STACKS
#endif

namespace guardfix {

/// `f` of a callable with one signature: a pointer to a function of that signature, which is never called.
template <typename Return, typename Class, typename... Args>
constexpr Return (*signature_of(Return (Class::*)(Args...)))(Args...) {
  return nullptr;
}
template <typename Return, typename Class, typename... Args>
constexpr Return (*signature_of(Return (Class::*)(Args...) const))(Args...) {
  return nullptr;
}

/// Whether a class is that of a lambda without captures, which is a function.
template <typename Callable, typename = void>
struct IsFunction : std::false_type {};
template <typename Callable>
struct IsFunction<Callable, std::void_t<decltype(+std::declval<Callable>())>> : std::true_type {};

}  // namespace guardfix

namespace c10 {

/// The base of classes whose objects are kernels, with whatever they hold.
struct OperatorKernel {
  virtual ~OperatorKernel() = default;
};

class OperatorHandle;
using Stack = torch::jit::Stack;

struct OperatorName {
  std::string name, overload_name;
  bool operator==(const OperatorName& other) const {
    return name == other.name && overload_name == other.overload_name;
  }
  std::string qualified() const { return overload_name.empty() ? name : name + "." + overload_name; }
};

inline std::string toString(const OperatorName& name) { return name.qualified(); }
inline std::ostream& operator<<(std::ostream& out, const OperatorName& name) { return out << name.qualified(); }

/// An empty one means falling through to the next key.
class Kernel {
 public:
  /// Takes its arguments off the stack and puts its results there.
  using BoxedFunction = void (*)(const OperatorHandle&, DispatchKeySet, Stack*);

  Kernel() = default;
  /// From a function pointer, a lambda, or another callable with one signature. A first parameter of type
  /// DispatchKeySet gets the keys of the call.
  template <typename Function>
  static Kernel make(Function function) {
    if constexpr (std::is_pointer_v<Function>) {
      return of(function);
    } else if constexpr (guardfix::IsFunction<Function>::value) {
      return of(+function);
    } else {
      return of_object(std::make_shared<Function>(std::move(function)), guardfix::signature_of(&Function::operator()));
    }
  }
  template <void (*function)(const OperatorHandle&, Stack*)>
  static Kernel makeFromBoxedFunction() {
    return make_boxed([](const OperatorHandle& op, DispatchKeySet, Stack* stack) { function(op, stack); });
  }
  template <BoxedFunction function>
  static Kernel makeFromBoxedFunction() {
    return make_boxed(function);
  }
  static Kernel makeFallthrough() { return Kernel(); }
  static Kernel make_boxed(BoxedFunction function) {
    Kernel kernel;
    kernel.boxed_ = function;
    return kernel;
  }

  bool is_fallthrough() const { return function_ == nullptr && boxed_ == nullptr; }
  bool is_boxed() const { return boxed_ != nullptr; }
  /// Whether C++ calls both in the same way. A boxed kernel goes with all.
  bool has_same_signature(const Kernel& other) const {
    return is_fallthrough() || is_boxed() || other.is_fallthrough() || other.is_boxed() || *signature_ == *other.signature_;
  }
  /// Whether the function can be called as `Return(Args...)`. A SymInt, which is an int64_t in a class, goes for one.
  template <typename Return, typename... Args>
  bool has_signature(Return (*)(Args...)) const {
    return *signature_ == typeid(Return(*)(guardfix::WithoutSymbols<Args>...));
  }
  /// A kernel with SymInts can be called in other ways as well, by a stack: PyTorch finds no kernel without them.
  template <typename Return, typename... Args>
  bool can_be_called_as(Return (*signature)(Args...)) const {
    return is_fallthrough() || is_boxed() || has_signature(signature) ||
           (with_stack_ != nullptr && has_symbols_ && !(guardfix::has_symbols<Args> || ...));
  }
  /// Whether a parameter is of a type with SymInts, not a reference to one.
  bool has_symbols() const { return has_symbols_; }
  /// The schema that the signature gives, without a name. Empty for a boxed kernel, which has none.
  std::string schema() const { return schema_ == nullptr ? "" : schema_(); }

  template <typename Return, typename... Args>
  Return call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    if (boxed_ != nullptr) {
      Stack stack{IValue(args)...};
      boxed_(op, keys, &stack);
      return guardfix::ResultOf<Return>::from(stack, args...);
    }
#ifdef GUARDFIX_WITH_STACKS
    if (has_symbols_ && !has_signature(static_cast<Return (*)(Args...)>(nullptr))) {
      Stack stack{IValue(args)...};
      call_with_stack(op, keys, stack);
      return guardfix::ResultOf<Return>::from(stack, args...);
    }
#endif
    if (state_ != nullptr)
      return reinterpret_cast<Return (*)(void*, DispatchKeySet, Args...)>(function_)(state_.get(), keys,
                                                                                     std::forward<Args>(args)...);
    if (takes_keys_)
      return reinterpret_cast<Return (*)(DispatchKeySet, Args...)>(function_)(keys, std::forward<Args>(args)...);
    return reinterpret_cast<Return (*)(Args...)>(function_)(std::forward<Args>(args)...);
  }
  /// Replaces the arguments, which are on top of the stack, by the results.
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
  template <typename Object, typename Return, typename... Args>
  static Kernel of_object(std::shared_ptr<Object> object, Return (*)(DispatchKeySet, Args...)) {
    Return (*call)(void*, DispatchKeySet, Args...) = [](void* state, DispatchKeySet keys, Args... args) -> Return {
      return (*static_cast<Object*>(state))(keys, std::forward<Args>(args)...);
    };
    Kernel kernel = from<Return, Args...>(reinterpret_cast<void (*)()>(call), true);
    kernel.state_ = std::move(object);
    return kernel;
  }
  template <typename Object, typename Return, typename... Args>
  static Kernel of_object(std::shared_ptr<Object> object, Return (*)(Args...)) {
    Return (*call)(void*, DispatchKeySet, Args...) = [](void* state, DispatchKeySet, Args... args) -> Return {
      return (*static_cast<Object*>(state))(std::forward<Args>(args)...);
    };
    Kernel kernel = from<Return, Args...>(reinterpret_cast<void (*)()>(call), false);
    kernel.state_ = std::move(object);
    return kernel;
  }
  template <typename Return, typename... Args>
  static Kernel from(void (*function)(), bool takes_keys) {
    Kernel kernel;
    kernel.function_ = function;
    kernel.signature_ = &typeid(Return(*)(guardfix::WithoutSymbols<Args>...));
    kernel.takes_keys_ = takes_keys;
#ifdef GUARDFIX_WITH_STACKS
    kernel.with_stack_ = [](const Kernel& k, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      unpacked<Return, Args...>(k, op, keys, stack, std::index_sequence_for<Args...>());
    };
    kernel.schema_ = &guardfix::schema_of_function<Return, Args...>;
    kernel.has_symbols_ = (guardfix::has_symbols<Args> || ...);
#endif
    return kernel;
  }
  template <typename Return, typename... Args, size_t... at>
  static void unpacked(const Kernel& kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack,
                       std::index_sequence<at...>) {
    TORCH_CHECK(stack.size() >= sizeof...(Args), "the kernel takes ", sizeof...(Args),
                " arguments, but the stack has ", stack.size());
    const size_t below = stack.size() - sizeof...(Args);
    std::tuple<guardfix::UnpackedArgument<std::decay_t<Args>>...> arguments(stack[below + at]...);
    // The interpreter's lock is let go of while the kernel runs, which may wait for threads of its own.
    const auto run = [&]() -> Return {
      const guardfix::GilReleasedIfHeld released;
      return kernel.call<Return, Args...>(op, keys, static_cast<Args>(std::get<at>(arguments).get())...);
    };
    if constexpr (std::is_void_v<Return>) {
      run();
      stack.resize(below);
    } else {
      const std::decay_t<Return> result = run();
      stack.resize(below);
      guardfix::push_results(stack, result);
    }
  }

  /// The function itself, or one that takes the object and the keys first.
  void (*function_)() = nullptr;
  std::shared_ptr<void> state_;
  BoxedFunction boxed_ = nullptr;
  void (*with_stack_)(const Kernel&, const OperatorHandle&, DispatchKeySet, Stack&) = nullptr;
  std::string (*schema_)() = nullptr;
  const std::type_info* signature_ = &typeid(void);
  bool takes_keys_ = false, has_symbols_ = false;
};

using KernelFunction = Kernel;

}  // namespace c10
