// The dispatch keys. A tensor carries a set of them, each thread includes and excludes some, and an op
// runs the kernel of the highest that is left.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace c10 {

// From the lowest priority to the highest. The shim's tensors live on the CPU; the keys of other
// backends exist so that registrations for them compile (their kernels are kept and never reached).
#define C10_FORALL_RUNTIME_DISPATCH_KEYS(_)                                                           \
  _(CPU)                                                                                              \
  _(CUDA) _(MPS) _(XLA) _(Meta) _(MkldnnCPU) _(QuantizedCPU) _(QuantizedCUDA) _(SparseCPU)            \
  _(SparseCUDA) _(PrivateUse1) _(BackendSelect) _(Python) _(Named) _(Conjugate) _(Negative)           \
  _(ADInplaceOrView) _(AutogradOther) _(AutogradFunctionality) _(AutogradNestedTensor) _(AutogradCPU) \
  _(AutogradCUDA) _(AutogradMPS) _(AutogradXLA) _(AutogradMeta) _(AutogradPrivateUse1) _(Tracer)      \
  _(AutocastCPU) _(AutocastCUDA) _(Functionalize)

// Keys that stand for several others in a registration.
#define C10_FORALL_ALIAS_DISPATCH_KEYS(_) \
  _(Autograd) _(CompositeImplicitAutograd) _(CompositeExplicitAutograd) _(CompositeExplicitAutogradNonFunctional)

enum class DispatchKey : uint16_t {
  Undefined = 0,
#define C10_DISPATCH_KEY(name) name,
  C10_FORALL_RUNTIME_DISPATCH_KEYS(C10_DISPATCH_KEY)
  EndOfRuntimeBackendKeys,
  C10_FORALL_ALIAS_DISPATCH_KEYS(C10_DISPATCH_KEY)
#undef C10_DISPATCH_KEY
  CatchAll = Undefined,
  Autocast = AutocastCUDA,  // the name from when there was no other
};

inline const char* toString(DispatchKey key) {
  switch (key) {
#define C10_DISPATCH_KEY(name) \
  case DispatchKey::name:      \
    return #name;
    C10_FORALL_RUNTIME_DISPATCH_KEYS(C10_DISPATCH_KEY)
    C10_FORALL_ALIAS_DISPATCH_KEYS(C10_DISPATCH_KEY)
#undef C10_DISPATCH_KEY
    default:
      return "Undefined";
  }
}

inline std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }

}  // namespace c10
