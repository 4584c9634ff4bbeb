// Grad mode: whether ops on tensors that require gradients are recorded. Thread-local.
#pragma once

#include <ATen/core/Tensor.h>
#include <guardfix/scope.h>

namespace c10 {

struct GradMode {
  static bool is_enabled() {
    static const guardfix::Hook read{"is_grad_enabled"};
    return guardfix::truth_of(read({}));
  }
  static void set_enabled(bool enabled) {
    static const guardfix::Hook write{"set_grad_enabled"};
    write({enabled});
  }
};

/// Switches grad mode for a scope.
struct AutoGradMode {
  AutoGradMode(bool enabled) : scope_("AutoGradMode", enabled) {}
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode(AutoGradMode&&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;
  AutoGradMode& operator=(AutoGradMode&&) = delete;

 private:
  guardfix::GuardScope scope_;
};

/// Switches grad mode off for a scope.
struct NoGradGuard : public AutoGradMode {
  NoGradGuard() : AutoGradMode(/*enabled=*/false) {}
};

}  // namespace c10
