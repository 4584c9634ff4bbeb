// The switch of TorchScript's optimizer. The shim interprets a module's code as it stands, so the switch is kept
// and has no effect.
#pragma once

#include <atomic>

namespace torch::jit {

namespace detail {
inline std::atomic<bool>& graph_executor_optimize() {
  static std::atomic<bool> value{true};
  return value;
}
}  // namespace detail

inline bool getGraphExecutorOptimize() { return detail::graph_executor_optimize(); }
inline void setGraphExecutorOptimize(bool optimize) { detail::graph_executor_optimize() = optimize; }

/// Sets the switch for a scope. Often a neighbour of the guards of an inference workload.
struct GraphOptimizerEnabledGuard {
  GraphOptimizerEnabledGuard(bool state) : old_state_(getGraphExecutorOptimize()) { setGraphExecutorOptimize(state); }
  ~GraphOptimizerEnabledGuard() { setGraphExecutorOptimize(old_state_); }

  bool old_state_;
};

}  // namespace torch::jit
