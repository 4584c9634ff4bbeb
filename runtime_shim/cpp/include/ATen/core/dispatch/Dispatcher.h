// c10::Dispatcher: the program's own ops, and how a call finds its kernel.
#pragma once

#include <ATen/core/dispatch/OperatorEntry.h>
#include <ATen/core/dispatch/RegistrationHandleRAII.h>
#include <ATen/core/ivalue.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <guardfix/registered_op.h>
#include <guardfix/shared_registry.h>

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace c10 {

namespace impl {

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
#ifdef GUARDFIX_WITH_STACKS
inline DispatchKeySet keys_of_value(const IValue& value) {
  if (value.isTensor()) return keys_of_argument(value.toTensor());
  DispatchKeySet keys;
  if (value.isList())
    for (const IValue& element : value.elements()) keys = keys | keys_of_value(element);
  return keys;
}
#endif

/// The keys of a call whose arguments have these.
inline DispatchKeySet keys_of_call(DispatchKeySet keys) {
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  if (!keys.has_any(backend_dispatch_keyset)) keys = keys.add(DispatchKey::CPU);  // no tensor: the one backend there is
  return (keys | local.included_) - local.excluded_;
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
    const DispatchKeySet keys = (DispatchKeySet() | ... | impl::keys_of_argument(std::decay_t<Args>(args)));
    return dispatch(impl::keys_of_call(keys), std::forward<Args>(args)...);
  }
  Return redispatch(DispatchKeySet keys, Args... args) const {
    if (is_called_by_name()) return guardfix::call_by_name<Return>(name_.name, name_.overload_name, keys, args...);
    return dispatch(keys, std::forward<Args>(args)...);
  }

 private:
  bool is_called_by_name() const { return entry_ == nullptr || entry_->in_python; }
  Return dispatch(DispatchKeySet keys, Args... args) const {
    const auto [key, kernel] = entry_->lookup(keys);
    const guardfix::RegisteredOpCall call(entry_->name, key);
    if constexpr (std::is_void_v<Return>) {
      return kernel->template call<Return, Args...>(handle(), keys, std::forward<Args>(args)...);
    } else {
      return call.result(kernel->template call<Return, Args...>(handle(), keys, std::forward<Args>(args)...));
    }
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
      for (const auto& [key, kernel, id] : entry_->kernels.rows())
        TORCH_CHECK(kernel.can_be_called_as(static_cast<Signature*>(nullptr)),
                    "Tried to access or call an operator with a wrong signature.\n  operator: ", entry_->schema,
                    "\n  dispatch key: ", key);
    return {entry_, name_};
  }
  const OperatorName& operator_name() const { return name_; }
  bool hasKernelForDispatchKey(DispatchKey key) const { return entry_ != nullptr && entry_->own(key) != nullptr; }
#ifdef GUARDFIX_WITH_STACKS
  FunctionSchema schema() const;
  /// The arguments are on top of the stack; the results take their place.
  void callBoxed(Stack* stack) const { call_with_stack(std::nullopt, *stack); }
  void callBoxed(Stack& stack) const { call_with_stack(std::nullopt, stack); }
  void redispatchBoxed(DispatchKeySet keys, Stack* stack) const { call_with_stack(keys, *stack); }

 private:
  void call_with_stack(std::optional<DispatchKeySet> keys, Stack& stack) const {
    if (entry_ == nullptr || entry_->in_python) return call_python_with_stack(keys, stack);
    if (!keys.has_value()) {
      const size_t count = schema().arguments().size();
      TORCH_CHECK(stack.size() >= count, name_.name, " takes ", count, " arguments, but the stack has ", stack.size());
      DispatchKeySet found;
      for (size_t i = stack.size() - count; i < stack.size(); ++i) found = found | impl::keys_of_value(stack[i]);
      keys = impl::keys_of_call(found);
    }
    const auto [key, kernel] = entry_->lookup(*keys);
    const guardfix::RegisteredOpCall call(entry_->name, key);
    kernel->call_with_stack(*this, *keys, stack);
    call.results(stack);
  }
  /// Here the arguments are all that is on the stack.
  void call_python_with_stack(std::optional<DispatchKeySet> keys, Stack& stack) const {
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
#endif

 private:
  const impl::OperatorEntry* entry_;
  OperatorName name_;
};

template <typename Return, typename... Args>
OperatorHandle TypedOperatorHandle<Return(Args...)>::handle() const {
  return {entry_, name_};
}

/// Is told of ops that are defined, and of those whose definition ends.
class OpRegistrationListener {
 public:
  virtual ~OpRegistrationListener() = default;
  virtual void onOperatorRegistered(const OperatorHandle& op) = 0;
  virtual void onOperatorDeregistered(const OperatorHandle& op) = 0;
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher& dispatcher = *new Dispatcher;  // registrations end after main
    return dispatcher;
  }

  /// The op of this name, if it is defined.
  std::optional<OperatorHandle> findSchema(const OperatorName& wanted) const {
    const impl::OperatorEntry* found = find(wanted.qualified());
    if (found != nullptr && found->defined) return OperatorHandle{found, wanted};
    if (guardfix::has_python_op(wanted.name, wanted.overload_name)) return OperatorHandle{nullptr, wanted};
    return std::nullopt;
  }
  /// The op of this name, if it is defined or has a kernel.
  std::optional<OperatorHandle> findOp(const OperatorName& wanted) const {
    const impl::OperatorEntry* found = find(wanted.qualified());
    if (found != nullptr && !found->kernels.rows().empty()) return OperatorHandle{found, wanted};
    return findSchema(wanted);
  }
  /// The op ns::name with this overload name; an error when there is none.
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload_name) const {
    const OperatorName wanted{name, overload_name};
    const impl::OperatorEntry* found = find(wanted.qualified());
    if (found != nullptr && found->defined) return {found, wanted};
    TORCH_CHECK(guardfix::has_python_op(wanted.name, wanted.overload_name), "Could not find schema for ", wanted.qualified(),
                found == nullptr || found->kernels.rows().empty()
                    ? "."
                    : " but we found an implementation; did you forget to def() the operator?");
    return {nullptr, wanted};
  }
  /// The program's ops that have kernels and no definition.
  std::vector<OperatorHandle> findDanglingImpls() const {
    std::vector<OperatorHandle> found;
    for (const impl::OperatorEntry* entry : operators_)
      if (!entry->defined && !entry->kernels.rows().empty()) found.emplace_back(entry, entry->operator_name());
    return found;
  }
  /// The program's ops with a kernel for the key; without a key, all of them.
  std::vector<OperatorName> getRegistrationsForDispatchKey(std::optional<DispatchKey> key) const {
    std::vector<OperatorName> names;
    for (const impl::OperatorEntry* entry : operators_)
      if (key.has_value() ? entry->own(*key) != nullptr : entry->defined || !entry->kernels.rows().empty())
        names.push_back(entry->operator_name());
    return names;
  }
  template <typename Return, typename... Args>
  Return call(const TypedOperatorHandle<Return(Args...)>& op, Args... args) const {
    return op.call(std::forward<Args>(args)...);
  }
  template <typename Return, typename... Args>
  Return redispatch(const TypedOperatorHandle<Return(Args...)>& op, DispatchKeySet keys, Args... args) const {
    return op.redispatch(keys, std::forward<Args>(args)...);
  }
  /// A kernel for every op that has none for the key. Boxed, or falling through.
  [[nodiscard]] RegistrationHandleRAII registerFallback(DispatchKey key, const Kernel& kernel, std::string = "") {
    return {[](void*, uint64_t id) { impl::backend_fallbacks().remove(id); }, nullptr,
            impl::backend_fallbacks().add(key, kernel)};
  }
  /// The listener is also called for every op that is defined already. It lives as long as its handle.
  [[nodiscard]] RegistrationHandleRAII addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener) {
    for (const impl::OperatorEntry* entry : operators_)
      if (entry->defined) listener->onOperatorRegistered({entry, entry->operator_name()});
    listeners_.push_back(listener.release());
    return {[](void* ended, uint64_t) {
              auto& listeners = singleton().listeners_;
              for (OpRegistrationListener*& one : listeners)
                if (one == ended) {
                  std::swap(one, listeners.back());
                  delete listeners.back();
                  return listeners.pop_back();
                }
            },
            listeners_.back(), 0};
  }

  // For TORCH_LIBRARY: each lasts as long as its handle.
  RegistrationHandleRAII claim(const std::string& ns, const std::string& place) {
    for (const Claim& earlier : namespaces_)
      TORCH_CHECK(earlier.ns != ns, "Only a single TORCH_LIBRARY can be used to register the namespace ", ns,
                  "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
                  "implementations, consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really "
                  "intended to define operators for a single namespace in a distributed way, you can use "
                  "TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration of TORCH_LIBRARY was "
                  "registered at ",
                  earlier.place, "; latest registration was registered at ", place);
    namespaces_.push_back({ns, place, ++claims_});
    return {[](void*, uint64_t id) {
              auto& claims = singleton().namespaces_;
              for (Claim& one : claims)
                if (one.id == id) {
                  std::swap(one, claims.back());
                  return claims.pop_back();
                }
            },
            nullptr, claims_};
  }
  /// `schema` is as it was written, with or without the namespace.
  RegistrationHandleRAII define(const std::string& name, const std::string& schema, const std::string& place = "") {
    const size_t dot = name.find('.');
    const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    TORCH_CHECK(overload != "default" && !(overload.rfind("__", 0) == 0 && overload.size() > 3), overload,
                " is not a legal overload name for aten operators");
    impl::OperatorEntry& entry = find_or_add(name);
    TORCH_CHECK(!entry.defined, "Tried to register an operator (", schema,
                ") with the same name and overload name multiple times.");
    guardfix::share_definition(name, schema, place, entry.in_python);
    const size_t arguments = schema.find('(');
    entry.schema = arguments == std::string::npos ? name : name + schema.substr(arguments);
    entry.defined = true;
#ifdef GUARDFIX_WITH_STACKS
    entry.alias_analysis = AliasAnalysisKind::FROM_SCHEMA;
    for (const auto& [key, kernel, id] : entry.kernels.rows()) entry.check_schema(key, kernel);
#endif
    for (OpRegistrationListener* listener : listeners_) listener->onOperatorRegistered({&entry, entry.operator_name()});
    return {[](void* ended, uint64_t) {
              if (guardfix::registrations_last) return;
              auto& entry = *static_cast<impl::OperatorEntry*>(ended);
              for (OpRegistrationListener* listener : singleton().listeners_)
                listener->onOperatorDeregistered({&entry, entry.operator_name()});
              entry.defined = false;
              entry.schema.clear();
            },
            &entry, 0};
  }
  RegistrationHandleRAII implement(const std::string& name, DispatchKey key, const Kernel& kernel) {
    TORCH_CHECK_NOT_IMPLEMENTED(name.rfind("aten::", 0) != 0, "the shim has no kernels for ops of PyTorch's own (",
                                name, ")");
    impl::OperatorEntry& entry = find_or_add(name);
    for (const auto& [earlier, other, id] : entry.kernels.rows())
      TORCH_CHECK(kernel.has_same_signature(other), "\nMismatch in kernel C++ signatures\n  operator: ",
                  entry.schema.empty() ? name : entry.schema, "\n  kernel 1: registered for ", earlier,
                  "\n  kernel 2: registered for ", key, "\n");
#ifdef GUARDFIX_WITH_STACKS
    if (entry.defined) entry.check_schema(key, kernel);
#endif
    // The latest registration is the one that counts.
    const uint64_t added = entry.kernels.add(key, kernel);
    guardfix::share_kernel(entry.name, key, kernel, entry.in_python);
    return {[](void* of, uint64_t id) {
              if (!guardfix::registrations_last) static_cast<impl::OperatorEntry*>(of)->kernels.remove(id);
            },
            &entry, added};
  }
#ifdef GUARDFIX_WITH_STACKS
  /// With what is known of the op beyond its schema.
  RegistrationHandleRAII define(const std::string& name, const FunctionSchema& schema, const std::string& place) {
    RegistrationHandleRAII handle = define(name, schema.text(), place);
    find_or_add(name).alias_analysis =
        schema.isDefaultAliasAnalysisKind() ? std::nullopt : std::optional(schema.aliasAnalysis());
    return handle;
  }
  FunctionSchema schema_of(const OperatorName& name) const {
    const impl::OperatorEntry* entry = find(name.qualified());
    TORCH_CHECK_NOT_IMPLEMENTED(entry != nullptr && entry->defined, "the shim's headers know no schema of ",
                                name.qualified(), ", which the program does not define");
    FunctionSchema schema(entry->schema);
    if (entry->alias_analysis.has_value()) schema.setAliasAnalysis(*entry->alias_analysis);
    return schema;
  }
#endif

 private:
  struct Claim {
    std::string ns, place;
    uint64_t id;
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
  std::vector<OpRegistrationListener*> listeners_;
  uint64_t claims_ = 0;
};

#ifdef GUARDFIX_WITH_STACKS
inline FunctionSchema OperatorHandle::schema() const { return Dispatcher::singleton().schema_of(name_); }
#endif

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
