// TORCH_LIBRARY, TORCH_LIBRARY_IMPL, TORCH_LIBRARY_FRAGMENT: ops of the program's own.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Logging.h>
#include <c10/util/standard_library.h>

#define TORCH_LIBRARY_BLOCK(kind, ns, key, m)                                                                   \
  static void C10_CONCATENATE(TORCH_LIBRARY_init_##ns##_, __LINE__)(::torch::Library&);                         \
  static const ::torch::detail::LibraryInit C10_CONCATENATE(TORCH_LIBRARY_static_init_##ns##_, __LINE__)(       \
      ::torch::Library::kind, &C10_CONCATENATE(TORCH_LIBRARY_init_##ns##_, __LINE__), #ns, key, __FILE__,       \
      __LINE__);                                                                                                \
  void C10_CONCATENATE(TORCH_LIBRARY_init_##ns##_, __LINE__)(::torch::Library & m)

/// Defines the ops of a namespace: `TORCH_LIBRARY(mine, m) { m.def("op(Tensor x) -> Tensor"); }`. Once a namespace.
#define TORCH_LIBRARY(ns, m) TORCH_LIBRARY_BLOCK(DEF, ns, ::std::nullopt, m)
/// More ops for a namespace that is defined elsewhere.
#define TORCH_LIBRARY_FRAGMENT(ns, m) TORCH_LIBRARY_BLOCK(FRAGMENT, ns, ::std::nullopt, m)
/// Kernels for one dispatch key: `TORCH_LIBRARY_IMPL(mine, Autograd, m) { m.impl("op", op_autograd); }`.
#define TORCH_LIBRARY_IMPL(ns, key, m) TORCH_LIBRARY_BLOCK(IMPL, ns, ::c10::DispatchKey::key, m)

/// A library whose ops last as long as the object: `auto m = MAKE_TORCH_LIBRARY(mine); m.def(…);`
#define MAKE_TORCH_LIBRARY(ns) torch::Library(torch::Library::DEF, #ns, ::std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, key) \
  torch::Library(torch::Library::IMPL, #ns, ::c10::DispatchKey::key, __FILE__, __LINE__)

#define TORCH_FN(function) ::torch::CompileTimeFunction<decltype(&function), &function>()
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

namespace at {
/// What a definition may say of an op. None of them means anything to the shim.
enum class Tag { core, data_dependent_output, dynamic_output_shape, generated, inplace_view, needs_fixed_stride_order,
                 nondeterministic_bitwise, nondeterministic_seeded, pointwise, pt2_compliant_tag, view_copy };
}  // namespace at

namespace torch {

template <typename Class>
class class_;

/// A function known at compile time: TORCH_FN(f).
template <typename Pointer, Pointer pointer>
struct CompileTimeFunction {
  static constexpr Pointer value = pointer;
};

/// Anything that can be a kernel: a function, a lambda, TORCH_FN(f).
class CppFunction {
 public:
  template <typename Function>
  CppFunction(Function function) : kernel_(c10::Kernel::make(std::move(function))) {}
  template <typename Pointer, Pointer pointer>
  CppFunction(CompileTimeFunction<Pointer, pointer>) : kernel_(c10::Kernel::make(pointer)) {}
  /// Goes on with the next key, as if there were no kernel.
  static CppFunction makeFallthrough() { return CppFunction(c10::Kernel()); }

  /// From `void f(const c10::OperatorHandle&, torch::jit::Stack*)`.
  template <void (*function)(const c10::OperatorHandle&, c10::Stack*)>
  static CppFunction makeFromBoxedFunction() {
    return CppFunction(c10::Kernel::makeFromBoxedFunction<function>());
  }
  template <void (*function)(const c10::OperatorHandle&, c10::DispatchKeySet, c10::Stack*)>
  static CppFunction makeFromBoxedFunction() {
    return CppFunction(c10::Kernel::makeFromBoxedFunction<function>());
  }
  template <typename Function>
  static CppFunction makeFromUnboxedFunction(Function* function) {
    return CppFunction(function);
  }
  CppFunction& debug(std::string) { return *this; }

  const c10::Kernel& kernel() const { return kernel_; }
  std::optional<c10::DispatchKey> key() const { return key_; }
  CppFunction for_key(c10::DispatchKey key) const {
    CppFunction copy = *this;
    copy.key_ = key;
    return copy;
  }

 private:
  explicit CppFunction(c10::Kernel kernel) : kernel_(kernel) {}
  c10::Kernel kernel_;
  std::optional<c10::DispatchKey> key_;
};

namespace detail {
inline c10::DispatchKey key_of_device(c10::DeviceType device) {
  switch (device) {
#define TORCH_KEY_OF_DEVICE(name) \
  case c10::DeviceType::name:     \
    return c10::DispatchKey::name;
    C10_FORALL_BACKEND_COMPONENTS(TORCH_KEY_OF_DEVICE)
#undef TORCH_KEY_OF_DEVICE
    case c10::DeviceType::FPGA:
      return c10::DispatchKey::FPGA;
  }
  TORCH_CHECK(false, "Unsupported device type for dispatch: ", device);
}
}  // namespace detail

/// A kernel for one key: `m.impl("op", torch::dispatch(c10::DispatchKey::CPU, f))`.
template <typename Function>
CppFunction dispatch(c10::DispatchKey key, Function&& function) {
  return CppFunction(std::forward<Function>(function)).for_key(key);
}
template <typename Function>
CppFunction dispatch(c10::DeviceType device, Function&& function) {
  return dispatch(detail::key_of_device(device), std::forward<Function>(function));
}

/// What the block after TORCH_LIBRARY gets: the ops of one namespace.
class Library {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  Library(Kind kind, std::string ns, std::optional<c10::DispatchKey> key, std::string place = "")
      : kind_(kind), ns_(std::move(ns)), key_(key), place_(std::move(place)) {
    if (key_ == c10::DispatchKey::CatchAll) key_ = std::nullopt;
    if (kind == DEF) handles_.push_back(c10::Dispatcher::singleton().claim(ns_, place_));
  }
  Library(Kind kind, std::string ns, std::optional<c10::DispatchKey> key, const char* file, uint32_t line)
      : Library(kind, std::move(ns), key, c10::str(file, ":", line)) {}
  /// What was registered lasts as long as this object.
  Library(Library&&) noexcept = default;
  Library& operator=(Library&&) noexcept = default;

  /// Defines an op; its kernels come with impl.
  Library& def(const std::string& schema, const std::vector<at::Tag>& = {}) & {
    TORCH_CHECK(kind_ != IMPL, "def(): in a TORCH_LIBRARY_IMPL block, of namespace ", ns_,
                "; ops are defined in TORCH_LIBRARY or TORCH_LIBRARY_FRAGMENT");
    handles_.push_back(c10::Dispatcher::singleton().define(qualified(schema), schema, place_));
    return *this;
  }
#ifdef GUARDFIX_WITH_STACKS
  Library& def(const c10::FunctionSchema& schema, const std::vector<at::Tag>& = {}) & {
    handles_.push_back(c10::Dispatcher::singleton().define(qualified(schema.text()), schema, place_));
    return *this;
  }
#endif
  /// Defines an op with its kernel: for all keys, unless the function is given for one.
  template <typename Function>
  Library& def(const std::string& schema, Function&& function) & {
    const CppFunction f(std::forward<Function>(function));
    // Without a schema, what the signature says is meant.
    def(schema.find('(') == std::string::npos ? schema + f.kernel().schema() : schema);
    handles_.push_back(c10::Dispatcher::singleton().implement(
        qualified(schema), f.key().value_or(c10::DispatchKey::CompositeImplicitAutograd), f.kernel()));
    return *this;
  }
  /// The kernel of an op for the key of this block.
  template <typename Function>
  Library& impl(const std::string& name, Function&& function) & {
    const CppFunction f(std::forward<Function>(function));
    const std::optional<c10::DispatchKey> key = f.key().has_value() ? f.key() : key_;
    handles_.push_back(c10::Dispatcher::singleton().implement(
        qualified(name), key.value_or(c10::DispatchKey::CompositeImplicitAutograd), f.kernel()));
    return *this;
  }
  template <typename Function>
  Library& impl(const std::string& name, c10::DispatchKey key, Function&& function) & {
    return impl(name, dispatch(key, std::forward<Function>(function)));
  }
  template <typename Function>
  Library& impl(const std::string& name, c10::DeviceType device, Function&& function) & {
    return impl(name, dispatch(device, std::forward<Function>(function)));
  }
  /// An op with a class of the program's own as a value: `m.class_<Stack>("Stack").def(torch::init<>())`.
  template <typename Class>
  torch::class_<Class> class_(const std::string& name);
  /// Where PyTorch looks for a kernel for tensors without memory, which the shim has not.
  Library& set_python_module(const char*, const char* = "") & { return *this; }
  Library& impl_abstract_pystub(const char*, const char* = "") & { return *this; }
  /// A kernel for every op without one of its own for the key of this block: boxed, or falling through.
  Library& fallback(const CppFunction& function) & {
    TORCH_CHECK_NOT_IMPLEMENTED(!guardfix::registrations_last || function.kernel().is_fallthrough(),
                                "in a library that Python loads, the shim has no Library::fallback other than "
                                "makeFallthrough()");
    const std::optional<c10::DispatchKey> key = function.key().has_value() ? function.key() : key_;
    TORCH_CHECK(key.has_value() && ns_ == "_", "fallback(): only in a TORCH_LIBRARY_IMPL block of namespace _");
    handles_.push_back(c10::Dispatcher::singleton().registerFallback(*key, function.kernel()));
    return *this;
  }

 private:
  /// mine::op or mine::op.overload, from a name or a schema.
  std::string qualified(const std::string& schema) const {
    const std::string name = schema.substr(0, schema.find('('));
    const size_t colons = name.find("::");
    if (colons == std::string::npos) return ns_ + "::" + name;
    TORCH_CHECK(ns_ == "_" || name.substr(0, colons) == ns_, "Explicitly provided namespace (",
                name.substr(0, colons), ") in schema string does not match namespace of enclosing block (", ns_, ")");
    return name;
  }
  Kind kind_;
  std::string ns_;
  std::optional<c10::DispatchKey> key_;
  std::string place_;
  std::vector<c10::RegistrationHandleRAII> handles_;
};

namespace detail {

class LibraryInit {
 public:
  LibraryInit(Library::Kind kind, void (*init)(Library&), const char* ns, std::optional<c10::DispatchKey> key,
              const char* file, int line) {
    guardfix::registering([&] {
      // Its ops last as long as the program.
      init(*new Library(kind, ns, key, c10::str(file, ":", line)));
    });
  }
};

}  // namespace detail
}  // namespace torch

// `guardfix run` leaves these out where a program cannot use them.
#if !defined(GUARDFIX_PROGRAM) || defined(GUARDFIX_WITH_REGISTRATION)
#include <ATen/core/op_registration/op_registration.h>
#include <torch/custom_class.h>
#endif
