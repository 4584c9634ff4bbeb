// What a thread includes in and excludes from dispatch, and the guards that change it for a scope.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <guardfix/scope.h>

namespace c10::impl {

struct LocalDispatchKeySet {
  DispatchKeySet included_;
  DispatchKeySet excluded_;
};

inline LocalDispatchKeySet tls_local_dispatch_key_set() {
  static const guardfix::Hook included{"included"}, excluded{"excluded"};
  const auto read = [](const guardfix::Hook& hook, DispatchKey backend) {
    const guardfix::Object flags = hook({});
    const guardfix::Gil gil;
    return at::detail::keys_of(guardfix::as_integer(flags.get(), "dispatch keys"), DispatchKeySet(backend),
                               autograd_dispatch_keyset);
  };
  return {read(included, DispatchKey::CPU).add(DispatchKey::BackendSelect),
          read(excluded, DispatchKey::CPU) | default_excluded_set};
}

inline bool tls_is_dispatch_key_excluded(DispatchKey key) {
  // Guards exclude Autograd as such: asked for the Autograd of one backend, PyTorch says no.
  const bool is_autograd_of_backend = key >= DispatchKey::AutogradCPU && key <= DispatchKey::AutogradPrivateUse1;
  return !is_autograd_of_backend && tls_local_dispatch_key_set().excluded_.has(key);
}
inline bool tls_is_dispatch_key_included(DispatchKey key) { return tls_local_dispatch_key_set().included_.has(key); }
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet keys) {
  return tls_local_dispatch_key_set().excluded_.isSupersetOf(keys);
}
inline bool tls_is_dispatch_keyset_included(DispatchKeySet keys) {
  return tls_local_dispatch_key_set().included_.isSupersetOf(keys);
}

namespace detail {
/// The flags that the Python side has for keys: 2 Autograd, 4 ADInplaceOrView.
inline int64_t flags_of(DispatchKeySet keys) {
  return (keys.has_any(autograd_dispatch_keyset) ? 2 : 0) | (keys.has(DispatchKey::ADInplaceOrView) ? 4 : 0);
}
}  // namespace detail

class ExcludeDispatchKeyGuard {
 public:
  ExcludeDispatchKeyGuard(DispatchKeySet exclude) : scope_("ExcludeDispatchKeyGuard", detail::flags_of(exclude)) {}
  ExcludeDispatchKeyGuard(DispatchKey key) : ExcludeDispatchKeyGuard(DispatchKeySet(key)) {}
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard(ExcludeDispatchKeyGuard&&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(ExcludeDispatchKeyGuard&&) = delete;

 private:
  guardfix::GuardScope scope_;
};

class IncludeDispatchKeyGuard {
 public:
  IncludeDispatchKeyGuard(DispatchKeySet include) : scope_("IncludeDispatchKeyGuard", detail::flags_of(include)) {}
  IncludeDispatchKeyGuard(DispatchKey key) : IncludeDispatchKeyGuard(DispatchKeySet(key)) {}
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard(IncludeDispatchKeyGuard&&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(IncludeDispatchKeyGuard&&) = delete;

 private:
  guardfix::GuardScope scope_;
};

}  // namespace c10::impl
