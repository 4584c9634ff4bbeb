// c10::Dispatcher: the program's own ops, and how a call finds its kernel.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/ivalue.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <guardfix/registered_op.h>
#include <guardfix/shared_registry.h>

#include <atomic>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace c10 {

namespace impl {

/// An op that the program registered. (Here and below, plain lists: a std::map costs each program 50 ms of compiling.)
struct OperatorEntry {
  struct KernelForKey {
    DispatchKey key;
    Kernel kernel;
  };
  std::string name;
  std::string schema;
  bool defined = false;
  /// Python registered kernels of its own: calls go there, where all kernels are known.
  std::atomic<bool> in_python{false};
  std::vector<KernelForKey> kernels;

  const Kernel* own(DispatchKey key) const {
    for (const KernelForKey& entry : kernels)
      if (entry.key == key) return &entry.kernel;
    return nullptr;
  }
  /// The kernel for a key of a tensor, alias keys included; null where the call falls through.
  const Kernel* kernel_for(DispatchKey key) const {
    const Kernel* found = own(key);
    const bool is_autograd = autograd_dispatch_keyset.has(key);
    if (found == nullptr && is_autograd) found = own(DispatchKey::Autograd);
    const bool is_backend = !is_autograd && key != DispatchKey::ADInplaceOrView;
    if (found == nullptr && is_backend) found = own(DispatchKey::CompositeExplicitAutograd);
    if (found == nullptr && (is_backend || (is_autograd && own(DispatchKey::CPU) == nullptr &&
                                            own(DispatchKey::CompositeExplicitAutograd) == nullptr)))
      found = own(DispatchKey::CompositeImplicitAutograd);
    return found == nullptr || found->is_fallthrough() ? nullptr : found;
  }
};

// The keys of the arguments.
template <typename T>
DispatchKeySet keys_of_argument(const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return argument.defined() ? argument.key_set() : DispatchKeySet();
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    return argument.has_value() ? keys_of_argument(*argument) : DispatchKeySet();
  } else if constexpr (std::is_same_v<T, at::TensorList> || std::is_same_v<T, std::vector<at::Tensor>> ||
                       std::is_same_v<T, List<at::Tensor>>) {
    DispatchKeySet keys;
    for (const at::Tensor& tensor : argument) keys = keys | keys_of_argument(tensor);
    return keys;
  } else {
    return {};
  }
}

}  // namespace impl

/// An op found in the dispatcher: `op.call(…)` starts at the highest key, `op.redispatch(keys, …)` at the highest of `keys`.
template <typename Signature>
class TypedOperatorHandle;
class OperatorHandle;

template <typename Return, typename... Args>
class TypedOperatorHandle<Return(Args...)> {
 public:
  TypedOperatorHandle(const impl::OperatorEntry* entry, OperatorName name) : entry_(entry), name_(std::move(name)) {}

  Return call(Args... args) const {
    if (is_called_by_name()) return guardfix::call_by_name<Return>(name_.name, name_.overload_name, {}, args...);
    const impl::LocalDispatchKeySet local = impl::tls_local_dispatch_key_set();
    DispatchKeySet keys = (DispatchKeySet() | ... | impl::keys_of_argument(std::decay_t<Args>(args)));
    if (!keys.has(DispatchKey::CPU)) keys = keys.add(DispatchKey::CPU);  // no tensor: the one backend there is
    return dispatch((keys | local.included_) - local.excluded_, std::forward<Args>(args)...);
  }
  Return redispatch(DispatchKeySet keys, Args... args) const {
    if (is_called_by_name()) return guardfix::call_by_name<Return>(name_.name, name_.overload_name, keys, args...);
    return dispatch(keys, std::forward<Args>(args)...);
  }

 private:
  bool is_called_by_name() const { return entry_ == nullptr || entry_->in_python; }
  Return dispatch(DispatchKeySet keys, Args... args) const {
    for (DispatchKeySet left = keys; !left.empty();) {
      const DispatchKey key = left.highestPriorityTypeId();
      if (const Kernel* kernel = entry_->kernel_for(key)) {
        const guardfix::RegisteredOpCall call(entry_->name, key);
        if constexpr (std::is_void_v<Return>) {
          return kernel->call<Return, Args...>(handle(), keys, std::forward<Args>(args)...);
        } else {
          return call.result(kernel->call<Return, Args...>(handle(), keys, std::forward<Args>(args)...));
        }
      }
      left = left.remove(key);
    }
    C10_THROW_ERROR(NotImplementedError, str("Could not run '", entry_->name,
                                             "' with arguments from the 'CPU' backend: no kernel is registered for "
                                             "it (TORCH_LIBRARY_IMPL with CPU or CompositeExplicitAutograd)."));
  }

  OperatorHandle handle() const;

  const impl::OperatorEntry* entry_;
  OperatorName name_;
};

class OperatorHandle {
 public:
  OperatorHandle(const impl::OperatorEntry* entry, OperatorName name) : entry_(entry), name_(std::move(name)) {}
  /// The op for calls with this signature, which must be exactly that of its kernels.
  template <typename Signature>
  TypedOperatorHandle<Signature> typed() const {
    if (entry_ != nullptr)
      for (const auto& [key, kernel] : entry_->kernels)
        TORCH_CHECK(kernel.is_fallthrough() || kernel.is_boxed() || kernel.has_signature(static_cast<Signature*>(nullptr)),
                    "Tried to access or call an operator with a wrong signature.\n  operator: ", entry_->schema,
                    "\n  dispatch key: ", key);
    return {entry_, name_};
  }
  const OperatorName& operator_name() const { return name_; }
  bool hasKernelForDispatchKey(DispatchKey key) const { return entry_ != nullptr && entry_->own(key) != nullptr; }
  /// The arguments are all that is on the stack; the results take their place.
  void callBoxed(Stack* stack) const { call_with_stack(std::nullopt, *stack); }
  void callBoxed(Stack& stack) const { call_with_stack(std::nullopt, stack); }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const { call_with_stack(keys, *stack); }

 private:
  void call_with_stack(std::optional<DispatchKeySet> keys, Stack& stack) const {
    const guardfix::Object result =
        guardfix::call_python_op(name_.name, name_.overload_name, keys, IValue(stack).object());
    stack.clear();
    const IValue value(result);
    if (value.isTuple()) {
      stack = value.elements();
    } else {
      stack.push_back(value);
    }
  }
  const impl::OperatorEntry* entry_;
  OperatorName name_;
};

template <typename Return, typename... Args>
OperatorHandle TypedOperatorHandle<Return(Args...)>::handle() const {
  return {entry_, name_};
}

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher dispatcher;
    return dispatcher;
  }

  /// The op of this name, if it is defined.
  std::optional<OperatorHandle> findSchema(const OperatorName& wanted) const {
    const impl::OperatorEntry* found = find(wanted.qualified());
    if (found != nullptr && found->defined) return OperatorHandle{found, wanted};
    if (guardfix::has_python_op(wanted.name, wanted.overload_name)) return OperatorHandle{nullptr, wanted};
    return std::nullopt;
  }
  /// The op ns::name with this overload name; an error when there is none.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    const OperatorName wanted{name, overload_name};
    const impl::OperatorEntry* found = find(wanted.qualified());
    if (found != nullptr && found->defined) return {found, wanted};
    TORCH_CHECK(guardfix::has_python_op(wanted.name, wanted.overload_name), "Could not find schema for ", wanted.qualified(),
                found == nullptr ? "."
                                 : " but we found an implementation; did you forget to def() the operator?");
    return {nullptr, wanted};
  }

  // For TORCH_LIBRARY.
  void claim(const std::string& ns, const std::string& place) {
    for (const Claim& earlier : namespaces_)
      TORCH_CHECK(earlier.ns != ns, "Only a single TORCH_LIBRARY can be used to register the namespace ", ns,
                  "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
                  "implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really "
                  "intended to define operators for a single namespace in a distributed way, you can use "
                  "TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration of TORCH_LIBRARY was "
                  "registered at ",
                  earlier.place, "; latest registration was registered at ", place);
    namespaces_.push_back({ns, place});
  }
  void define(const std::string& name, const std::string& schema, const std::string& place = "") {
    impl::OperatorEntry& entry = find_or_add(name);
    TORCH_CHECK(!entry.defined, "Tried to register an operator (", schema,
                ") with the same name and overload name multiple times.");
    guardfix::share_definition(name, schema, place, entry.in_python);
    entry.schema = schema;
    entry.defined = true;
  }
  void implement(const std::string& name, DispatchKey key, const Kernel& kernel) {
    TORCH_CHECK_NOT_IMPLEMENTED(name.rfind("aten::", 0) != 0, "the shim has no kernels for ops of PyTorch's own (",
                                name, ")");
    // The latest registration is the one that counts.
    impl::OperatorEntry& entry = find_or_add(name);
    entry.kernels.insert(entry.kernels.begin(), {key, kernel});
    guardfix::share_kernel(entry.name, key, kernel, entry.in_python);
  }

 private:
  struct Claim {
    std::string ns, place;
  };
  impl::OperatorEntry* find(const std::string& name) const {
    for (impl::OperatorEntry* entry : operators_)
      if (entry->name == name) return entry;
    return nullptr;
  }
  impl::OperatorEntry& find_or_add(const std::string& name) {
    if (impl::OperatorEntry* found = find(name)) return *found;
    operators_.push_back(new impl::OperatorEntry);  // for as long as the program runs: handles refer to it
    operators_.back()->name = name;
    return *operators_.back();
  }
  std::vector<impl::OperatorEntry*> operators_;
  std::vector<Claim> namespaces_;
};

}  // namespace c10

#ifndef GUARDFIX_PROGRAM
inline PyObject* guardfix::SharedKernel::call(PyObject* capsule, PyObject* const* args, Py_ssize_t count) {
  constexpr int64_t told = 1 << 8;  // beside the key set: somebody records what runs
  const auto& shared = *static_cast<SharedKernel*>(PyCapsule_GetPointer(capsule, nullptr));
  try {
    const int64_t flags = as_integer(args[0], "kernel");
    const c10::DispatchKeySet keys =
        at::detail::keys_of(flags, c10::DispatchKeySet(c10::DispatchKey::CPU), c10::DispatchKeySet(c10::DispatchKey::AutogradCPU));
    c10::Stack stack;
    stack.reserve(static_cast<size_t>(count));
    for (Py_ssize_t i = 1; i < count; ++i) stack.emplace_back(Object::borrow(args[i]));
    const RegisteredOpCall call(shared.op, shared.key, (flags & told) != 0);
    shared.kernel.call_with_stack(c10::OperatorHandle(nullptr, shared.name), keys, stack);
    call.results(stack);
    if (stack.empty()) Py_RETURN_NONE;
    if (stack.size() == 1) return Object::borrow(stack[0].python()).release();
    const Object list = c10::IValue(stack).object();
    return checked(PySequence_Tuple(list.get()), "results").release();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
#endif
