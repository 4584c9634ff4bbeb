// What the dispatcher asks of the Python side: to know of a call of a registered op, and to call an op of PyTorch's own.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <guardfix/call.h>

#include <string>

namespace guardfix {

/// One run of a kernel of a registered op. Notices an Autograd kernel that never gets below Autograd.
class RegisteredOpCall {
 public:
  RegisteredOpCall(const std::string& op, c10::DispatchKey key) : op_(op), key_(key), outer_(innermost()) {
    constexpr int limit = 64;
    int depth = 0;
    for (const RegisteredOpCall* call = outer_; call != nullptr; call = call->outer_)
      if (&call->op_ == &op && call->key_ == key) ++depth;
    TORCH_CHECK(depth < limit || !c10::autograd_dispatch_keyset.has(key), op, ": infinite recursion: its ", key,
                " kernel calls the op again, and the call arrives at the same kernel (", limit,
                " deep). Put at::AutoDispatchBelowADInplaceOrView in force around the inner call, so that it goes on "
                "below Autograd. (In PyTorch this recursion ends when the stack is full.)");
    static const Hook enter{"enter_op"};
    enter({op, c10::toString(key)});
    innermost() = this;
  }
  RegisteredOpCall(const RegisteredOpCall&) = delete;
  RegisteredOpCall& operator=(const RegisteredOpCall&) = delete;
  ~RegisteredOpCall() { innermost() = outer_; }

  /// `value`, the result of the kernel, which is told to the trace.
  template <typename Result>
  Result&& result(Result&& value) const {
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
  const RegisteredOpCall* outer_;
};

inline bool is_builtin(const std::string& name, const std::string& overload) {
  static const Hook ask{"is_builtin"};
  return truth_of(ask({name, overload}));
}

/// Calls an op of PyTorch's own by its dispatcher name; below `keys` when they are given.
template <typename Return, typename First, typename... Rest>
Return call_builtin(const std::string& name, const std::string& overload, std::optional<c10::DispatchKeySet> keys,
                    First& first, Rest&... rest) {
  static const Hook run{"call_builtin"};
  std::optional<int64_t> hidden;
  if (keys.has_value())
    hidden = c10::impl::detail::flags_of(c10::autograd_dispatch_keyset_with_ADInplaceOrView - *keys);
  const Object result = run({name, overload, hidden, first, rest...});
  using Value = std::decay_t<Return>;
  if constexpr (std::is_reference_v<Return>) {
    return const_cast<Value&>(static_cast<const Value&>(first));
  } else if constexpr (std::is_same_v<Value, at::Tensor>) {
    return at::Tensor::from_python(result);
  } else if constexpr (std::is_same_v<Value, std::vector<at::Tensor>>) {
    return tensors_of(result);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return truth_of(result);
  } else {
    static_assert(std::is_same_v<Value, std::tuple<at::Tensor, at::Tensor>>, "a result that the shim does not know");
    return pair_of(result);
  }
}

}  // namespace guardfix
