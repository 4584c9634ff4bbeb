// Anomaly detection: backward says which forward op an error or a NaN comes from.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch::autograd {

struct AnomalyMode {
  static bool is_enabled() {
    static const guardfix::Op op{"is_anomaly_enabled", "function"};
    return guardfix::truth_of(op({}));
  }
  static bool should_check_nan() {
    static const guardfix::Op op{"is_anomaly_check_nan_enabled", "function"};
    return guardfix::truth_of(op({}));
  }
  static void set_enabled(bool enabled, bool check_nan = true) {
    static const guardfix::Op op{"set_anomaly_enabled", "function"};
    op({enabled, check_nan});
  }
};

/// Detects anomalies for a scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : before_(AnomalyMode::is_enabled()), checked_nan_(AnomalyMode::should_check_nan()) {
    TORCH_WARN_ONCE(
        "This mode should be enabled only for debugging as the different tests will slow down your program execution.");
    AnomalyMode::set_enabled(true, check_nan);
  }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(before_, checked_nan_); }

 private:
  bool before_, checked_nan_;
};

}  // namespace torch::autograd
