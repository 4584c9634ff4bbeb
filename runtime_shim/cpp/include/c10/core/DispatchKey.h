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
  _(CUDA) _(MPS) _(XLA) _(Lazy) _(Meta) _(PrivateUse1) _(FPGA) _(MkldnnCPU) _(QuantizedCPU)           \
  _(QuantizedCUDA) _(SparseCPU) _(SparseCUDA) _(BackendSelect) _(Python) _(Named) _(Conjugate)        \
  _(Negative) _(ADInplaceOrView) _(AutogradOther) _(AutogradFunctionality) _(AutogradNestedTensor)    \
  _(AutogradCPU) _(AutogradCUDA) _(AutogradMPS) _(AutogradXLA) _(AutogradLazy) _(AutogradMeta)        \
  _(AutogradPrivateUse1) _(Tracer) _(AutocastCPU) _(AutocastCUDA) _(Functionalize)

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
  CPUTensorId = CPU,        // and those from before there were other keys than backends
  CUDATensorId = CUDA,
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

constexpr DispatchKey kAutograd = DispatchKey::Autograd;

/// The backends that have an Autograd key of their own.
enum class BackendComponent : uint8_t {
  InvalidBit = 0,
#define C10_BACKEND_COMPONENT(name) name##Bit = static_cast<uint8_t>(DispatchKey::name),
#define C10_FORALL_BACKEND_COMPONENTS(_) _(CPU) _(CUDA) _(MPS) _(XLA) _(Lazy) _(Meta) _(PrivateUse1)
  C10_FORALL_BACKEND_COMPONENTS(C10_BACKEND_COMPONENT)
#undef C10_BACKEND_COMPONENT
};

constexpr BackendComponent toBackendComponent(DispatchKey key) {
  switch (key) {
#define C10_BACKEND_COMPONENT(name)  \
  case DispatchKey::name:            \
  case DispatchKey::Autograd##name:  \
    return BackendComponent::name##Bit;
    C10_FORALL_BACKEND_COMPONENTS(C10_BACKEND_COMPONENT)
#undef C10_BACKEND_COMPONENT
    case DispatchKey::QuantizedCPU:
    case DispatchKey::SparseCPU:
      return BackendComponent::CPUBit;
    case DispatchKey::QuantizedCUDA:
    case DispatchKey::SparseCUDA:
      return BackendComponent::CUDABit;
    default:
      return BackendComponent::InvalidBit;
  }
}
constexpr DispatchKey getAutogradKeyFromBackend(BackendComponent backend) {
  switch (backend) {
#define C10_BACKEND_COMPONENT(name)  \
  case BackendComponent::name##Bit:  \
    return DispatchKey::Autograd##name;
    C10_FORALL_BACKEND_COMPONENTS(C10_BACKEND_COMPONENT)
#undef C10_BACKEND_COMPONENT
    default:
      return DispatchKey::AutogradOther;
  }
}

inline std::ostream& operator<<(std::ostream& out, DispatchKey key) { return out << toString(key); }

}  // namespace c10
