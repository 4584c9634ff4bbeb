// What is known of a tensor that is a view: how it was created decides what an in-place op on it may do.
#pragma once

#include <guardfix/call.h>

namespace torch::autograd {

enum class CreationMeta : uint8_t {
  DEFAULT,
  IN_CUSTOM_FUNCTION,
  MULTI_OUTPUT_NODE,
  NO_GRAD_MODE,
  INFERENCE_MODE,
};

class DifferentiableViewMeta {
 public:
  /// `view` is borrowed: the tensor outlives what is known of it.
  explicit DifferentiableViewMeta(PyObject* view) : view_(view) {}
  bool has_bw_view() const { return true; }
  CreationMeta get_creation_meta() const {
    static const guardfix::Hook read{"creation_meta"};
    const guardfix::Object value = read({view_});
    const guardfix::Gil gil;
    return static_cast<CreationMeta>(guardfix::as_integer(value.get(), "creation_meta"));
  }

 private:
  PyObject* view_;
};

}  // namespace torch::autograd
