// c10::InferenceMode: no gradients, no view tracking and no versions for what is made in its scope.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <guardfix/scope.h>

namespace c10 {

struct InferenceMode {
  /// `InferenceMode(false)` inside an InferenceMode scope is normal mode again, with grad mode on.
  InferenceMode(bool enabled = true) : scope_("InferenceMode", enabled) {}
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode(InferenceMode&&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  InferenceMode& operator=(InferenceMode&&) = delete;

  static bool is_enabled() {
    static const guardfix::Hook read{"is_inference_mode_enabled"};
    return guardfix::truth_of(read({}));
  }

 private:
  guardfix::GuardScope scope_;
};

}  // namespace c10
