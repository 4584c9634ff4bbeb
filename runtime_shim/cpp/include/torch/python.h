// What an extension module uses of Python: pybind11, and tensors as Python objects.
#pragma once

#include <torch/csrc/utils/pybind.h>
#include <torch/types.h>

/// Whether the object is a tensor.
inline bool THPVariable_Check(PyObject* object) { return guardfix::is_tensor_object(object); }
/// The tensor that the object is.
inline at::Tensor THPVariable_Unpack(PyObject* object) {
  return at::Tensor::from_python(guardfix::Object::borrow(object));
}
/// The object that the tensor is: a new reference, None for an undefined tensor.
inline PyObject* THPVariable_Wrap(const at::Tensor& tensor) {
  PyObject* object = guardfix::object_of(tensor);
  return guardfix::Object::borrow(object == nullptr ? Py_None : object).release();
}

namespace torch {

/// The functions that load_inline binds. As in PyTorch they hold the interpreter's lock; at::parallel_for lets go of it.
template <typename Function>
Function wrap_pybind_function(Function function) {
  return function;
}
/// `function` with the interpreter's lock released while it runs.
template <typename Return, typename... Args>
auto wrap_pybind_function_no_gil(Return (*function)(Args...)) {
  return [function](Args... args) -> Return {
    const pybind11::gil_scoped_release released;
    return function(std::forward<Args>(args)...);
  };
}

}  // namespace torch
