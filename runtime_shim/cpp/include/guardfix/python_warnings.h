// Warnings that the Python side gives while backward runs, for the program's warning handler. Included where at::Tensor
// is complete.
#pragma once

#include <guardfix/call.h>

#include <string>

namespace guardfix {

/// While it lives, warnings of Python are kept; then they are the program's.
class PythonWarnings {
 public:
  PythonWarnings() : kept_(ask("keep_warnings", {})) {}
  PythonWarnings(const PythonWarnings&) = delete;
  PythonWarnings& operator=(const PythonWarnings&) = delete;
  ~PythonWarnings() {
    const Object texts = ask("kept_warnings", {kept_});
    std::vector<std::string> all;
    {
      const Gil gil;
      for (Py_ssize_t i = 0; i < PyList_Size(texts.get()); ++i) all.push_back(text_of(PyList_GetItem(texts.get(), i)));
    }
    for (const std::string& text : all) TORCH_WARN(text);
  }

 private:
  Object kept_;
};

/// Calls `run`, which runs backward.
template <typename Run>
auto with_warnings_of_backward(bool accumulates_with_graph, Run run) {
  static const Hook is_explained{"is_backward_explained"};
  if (accumulates_with_graph) {
    TORCH_WARN_ONCE(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        "the cycle and avoid the leak.");
  }
  if (!accumulates_with_graph && is_explained({}).get() != Py_True) return run();
  const PythonWarnings warnings;
  return run();
}

}  // namespace guardfix
