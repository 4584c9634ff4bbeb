// What an extension module uses of Python: pybind11, tensors as Python objects, and modules of torch::nn.
#pragma once

#include <torch/csrc/utils/pybind.h>
#include <torch/nn/module.h>
#include <torch/ordered_dict.h>
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

namespace pybind11::detail {

template <typename Value>
struct type_caster<torch::OrderedDict<std::string, Value>> {
 public:
  static constexpr auto name = const_name("OrderedDict");
  static handle cast(const torch::OrderedDict<std::string, Value>& source, return_value_policy, handle) {
    list pairs;
    for (const auto& item : source) pairs.append(pybind11::make_tuple(item.key(), item.value()));
    return module_::import("guardfix.runtime_shim.nn.cpp").attr("OrderedItems")(pairs).release();
  }
};

}  // namespace pybind11::detail

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

namespace torch::python {

namespace detail {
template <typename ModuleType>
using PyModuleClass = py::class_<ModuleType, torch::nn::Module, std::shared_ptr<ModuleType>>;

template <typename T, typename = void>
struct has_forward : std::false_type {};
template <typename T>
struct has_forward<T, std::void_t<decltype(&T::forward)>> : std::true_type {};

inline void move_to(torch::nn::Module& module, const py::object& device, const py::object& dtype, bool non_blocking) {
  if (device.is_none()) return module.to(dtype.cast<Dtype>(), non_blocking);
  if (dtype.is_none()) return module.to(device.cast<Device>(), non_blocking);
  module.to(device.cast<Device>(), dtype.cast<Dtype>(), non_blocking);
}
}  // namespace detail

/// Gives a class of Python what modules of Python have.
template <typename ModuleType, typename... Extra>
py::class_<ModuleType, Extra...> add_module_bindings(py::class_<ModuleType, Extra...> module) {
  const py::arg_v recurse = py::arg("recurse") = true, non_blocking = py::arg("non_blocking") = false;
  return module.def("train", [](ModuleType& m, bool mode) { m.train(mode); }, py::arg("mode") = true)
      .def("eval", [](ModuleType& m) { m.eval(); })
      .def("clone", [](ModuleType& m) { return m.clone(); })
      .def_property_readonly("training", [](ModuleType& m) { return m.is_training(); })
      .def("zero_grad", [](ModuleType& m) { m.zero_grad(); })
      .def_property_readonly("_parameters", [](ModuleType& m) { return m.named_parameters(false); })
      .def("parameters", [](ModuleType& m, bool recurse) { return m.parameters(recurse); }, recurse)
      .def("named_parameters", [](ModuleType& m, bool recurse) { return m.named_parameters(recurse); }, recurse)
      .def_property_readonly("_buffers", [](ModuleType& m) { return m.named_buffers(false); })
      .def("buffers", [](ModuleType& m, bool recurse) { return m.buffers(recurse); }, recurse)
      .def("named_buffers", [](ModuleType& m, bool recurse) { return m.named_buffers(recurse); }, recurse)
      .def_property_readonly("_modules", [](ModuleType& m) { return m.named_children(); })
      .def("modules", [](ModuleType& m) { return m.modules(); })
      .def("named_modules",
           [](ModuleType& m, const py::object&, const std::string& prefix, bool) { return m.named_modules(prefix); },
           py::arg("memo") = py::none(), py::arg("prefix") = std::string(), py::arg("remove_duplicate") = true)
      .def("children", [](ModuleType& m) { return m.children(); })
      .def("named_children", [](ModuleType& m) { return m.named_children(); })
      .def("to",
           [](ModuleType& m, const py::object& where, bool non_blocking) {
             const bool is_device = guardfix::is_instance_of(where.ptr(), "device");
             detail::move_to(m, is_device ? where : py::none(), is_device ? py::none() : where, non_blocking);
           },
           py::arg("dtype_or_device"), non_blocking)
      .def("to", &detail::move_to, py::arg("device"), py::arg("dtype"), non_blocking)
      .def("cpu", [](ModuleType& m) { m.to(kCPU); })
      .def("float", [](ModuleType& m) { m.to(kFloat32); })
      .def("double", [](ModuleType& m) { m.to(kFloat64); })
      .def("half", [](ModuleType& m) { m.to(kFloat16); })
      .def("__str__", [](ModuleType& m) { return m.name(); })
      .def("__repr__", [](ModuleType& m) { return m.name(); });
}

/// Binds a module: `module.name` is a subclass of Python's Module, whose instances have one of C++ inside.
template <typename ModuleType>
detail::PyModuleClass<ModuleType> bind_module(py::module_ module, const char* name) {
  py::module_ cpp = module.def_submodule("cpp");
  if (py::detail::get_type_info(typeid(torch::nn::Module)) == nullptr)
    add_module_bindings(py::class_<torch::nn::Module, std::shared_ptr<torch::nn::Module>>(cpp, "Module"));
  detail::PyModuleClass<ModuleType> bound = add_module_bindings(detail::PyModuleClass<ModuleType>(cpp, name));
  if constexpr (detail::has_forward<ModuleType>::value)
    bound.def("forward", &ModuleType::forward).def("__call__", &ModuleType::forward);
  const py::object wrapper = py::module_::import("guardfix.runtime_shim.nn.cpp").attr("ModuleWrapper");
  const auto type = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyType_Type));
  py::object made = type(py::str(name), py::make_tuple(wrapper), py::dict());
  made.attr("__init__") = py::cpp_function(
      [wrapper, bound](const py::object& self, const py::args& args, const py::kwargs& kwargs) {
        wrapper.attr("__init__")(self, bound(*args, **kwargs));
      },
      py::is_method(made));
  module.attr(name) = made;
  return bound;
}

}  // namespace torch::python
