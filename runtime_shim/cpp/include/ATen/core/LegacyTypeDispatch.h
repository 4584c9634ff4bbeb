// The guards for kernels: at::AutoDispatchBelowAutograd, at::AutoDispatchBelowADInplaceOrView, and the old
// at::AutoNonVariableTypeMode, which meant the second before 1.9 and has done what the first does since.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace at {

/// Hides the Autograd keys for a scope: nothing is recorded; views are tracked and versions count.
struct AutoDispatchBelowAutograd {
  AutoDispatchBelowAutograd() : scope_("AutoDispatchBelowAutograd", std::nullopt) {}

 private:
  guardfix::GuardScope scope_;
};

/// Hides the Autograd keys and ADInplaceOrView for a scope: views are not tracked, versions do not count.
struct AutoDispatchBelowADInplaceOrView {
  AutoDispatchBelowADInplaceOrView() : scope_("AutoDispatchBelowADInplaceOrView", std::nullopt) {}

 private:
  guardfix::GuardScope scope_;
};

/// The old guard. Which of its two meanings it has here is chosen where the program is started
/// (`guardfix run --legacy-since19`); its default is the meaning that code written for it had in mind.
struct AutoNonVariableTypeMode {
  AutoNonVariableTypeMode(bool enabled = true) : scope_("AutoNonVariableTypeMode", enabled) {
    TORCH_WARN_ONCE(
        "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. "
        "For kernel implementations please use AutoDispatchBelowADInplaceOrView instead, "
        "If you are looking for a user facing API to enable running your inference-only "
        "workload, please use c10::InferenceMode. Using AutoDispatchBelowADInplaceOrView in user code "
        "is under risk of producing silent wrong result in some edge cases. "
        "See Note [AutoDispatchBelowAutograd] for more details.");
    TORCH_INTERNAL_ASSERT(enabled);
  }

 private:
  guardfix::GuardScope scope_;
};

}  // namespace at
