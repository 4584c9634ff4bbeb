// What the dispatcher asks of the Python side: to know of a call of a registered op, and to call an op that Python has.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <guardfix/call.h>
#include <guardfix/kernel_types.h>

#include <string>

namespace guardfix {

/// One run of a kernel of a registered op. Notices an Autograd kernel that never gets below Autograd.
class RegisteredOpCall {
 public:
  /// `told`: the Python side hears of it.
  RegisteredOpCall(const std::string& op, c10::DispatchKey key, bool told = true)
      : op_(op), key_(key), told_(told), outer_(innermost()) {
    constexpr int limit = 64;
    int depth = 0;
    for (const RegisteredOpCall* call = outer_; call != nullptr; call = call->outer_)
      if (&call->op_ == &op && call->key_ == key) ++depth;
    TORCH_CHECK(depth < limit || !c10::autograd_dispatch_keyset.has(key), op, ": infinite recursion: its ", key,
                " kernel calls the op again, and the call arrives at the same kernel (", limit,
                " deep). Put at::AutoDispatchBelowADInplaceOrView in force around the inner call, so that it goes on "
                "below Autograd. (In PyTorch this recursion ends when the stack is full.)");
    if (told_) {
      static const Hook enter{"enter_op"};
      enter({op, c10::toString(key)});
    }
    innermost() = this;
  }
  RegisteredOpCall(const RegisteredOpCall&) = delete;
  RegisteredOpCall& operator=(const RegisteredOpCall&) = delete;
  ~RegisteredOpCall() { innermost() = outer_; }

  /// Tells the trace of the results that a kernel put on the stack.
  void results(const std::vector<c10::IValue>& stack) const {
    if (stack.size() == 1 && stack[0].isTensor()) {
      result(stack[0].toTensor());
    } else {
      result(nullptr);
    }
  }
  /// `value`, the result of the kernel, which is told to the trace.
  template <typename Result>
  Result&& result(Result&& value) const {
    if (!told_) return std::forward<Result>(value);
    static const Hook leave{"leave_op"};
    if constexpr (std::is_same_v<std::decay_t<Result>, at::Tensor>) {
      leave({op_, c10::toString(key_), value});
    } else {
      leave({op_, c10::toString(key_), std::nullopt});
    }
    return std::forward<Result>(value);
  }

 private:
  /// The calls that this thread is in, the innermost first.
  static const RegisteredOpCall*& innermost() {
    thread_local const RegisteredOpCall* call = nullptr;
    return call;
  }
  const std::string& op_;
  c10::DispatchKey key_;
  bool told_;
  const RegisteredOpCall* outer_;
};

/// Whether the Python side has the op: PyTorch's own, or one that another library or Python defined.
inline bool has_python_op(const std::string& name, const std::string& overload) {
  static const Hook ask{"has_op"};
  return truth_of(ask({name, overload}));
}

/// One argument for the Python side.
template <typename T>
Object argument_for_python(const T& value) {
  const Gil gil;
  if constexpr (std::is_same_v<T, c10::ScalarType>) {
    return Arg(value).python();
  } else if constexpr (std::is_same_v<T, std::optional<c10::ScalarType>>) {
    return Arg(value).python();
  } else {
    return Object::borrow(c10::IValue(value).python());
  }
}

/// Calls an op that the Python side has, by its name: one of PyTorch's own, or of another library. Below `keys` when
/// they are given. The arguments are a Python list.
inline Object call_python_op(const std::string& name, const std::string& overload,
                             std::optional<c10::DispatchKeySet> keys, const Object& arguments) {
  static const Hook run{"call_op"};
  std::optional<int64_t> hidden;
  if (keys.has_value())
    hidden = c10::impl::detail::flags_of(c10::autograd_dispatch_keyset_with_ADInplaceOrView - *keys);
  return run({name, overload, hidden, arguments});
}
template <typename Return, typename... Args>
Return call_by_name(const std::string& name, const std::string& overload, std::optional<c10::DispatchKeySet> keys,
                    Args&... args) {
  const Gil gil;
  const Object list = checked(PyList_New(0), "arguments");
  (PyList_Append(list.get(), argument_for_python<std::decay_t<Args>>(args).get()), ...);
  const std::vector<c10::IValue> result{c10::IValue(call_python_op(name, overload, keys, list))};
  return ResultOf<Return>::from(result, args...);
}

}  // namespace guardfix
