// Tensors and what goes with them as arguments and results of pybind11 functions. This header needs pybind11 itself
// (the extra `extensions`).
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <guardfix/thread_waits.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace guardfix {

/// Whether the object is of the class torch.`kind`: a dtype, a device, …
inline bool is_instance_of(PyObject* object, const char* kind) {
  static const Hook ask_kind{"is_a"};
  return truth_of(ask_kind({object, kind}));
}

inline pybind11::handle for_python(const c10::IValue& value) { return Object::borrow(value.python()).release(); }

// Errors of PyTorch's own kinds become Python's, as PyTorch has it.
inline const bool errors_are_translated = [] {
  pybind11::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const c10::Error&) {
      set_python_error();
    }
  });
  return true;
}();

}  // namespace guardfix

namespace pybind11::detail {

template <>
struct type_caster<at::Tensor> {
 public:
  PYBIND11_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"));
  bool load(handle source, bool) {
    if (!guardfix::is_tensor_object(source.ptr())) return false;
    value = at::Tensor::from_python(guardfix::Object::borrow(source.ptr()));
    return true;
  }
  static handle cast(const at::Tensor& source, return_value_policy, handle) {
    PyObject* object = guardfix::object_of(source);
    return guardfix::Object::borrow(object == nullptr ? Py_None : object).release();
  }
};

/// A whole number out of Python: an int, or a tensor of one.
inline bool load_integer(handle source, int64_t& value) {
  if (PyFloat_Check(source.ptr()) || (PyIndex_Check(source.ptr()) == 0)) return false;
  const guardfix::Object index = guardfix::Object::steal(PyNumber_Index(source.ptr()));
  value = index ? PyLong_AsLongLong(index.get()) : -1;
  if (!index || (value == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    return false;
  }
  return true;
}

template <>
struct type_caster<c10::SymInt> {
 public:
  PYBIND11_TYPE_CASTER(c10::SymInt, const_name("int"));
  bool load(handle source, bool) {
    int64_t integer = 0;
    if (!load_integer(source, integer)) return false;
    value = integer;
    return true;
  }
  static handle cast(const c10::SymInt& source, return_value_policy, handle) {
    return PyLong_FromLongLong(source.expect_int());
  }
};

// A view's elements live in the caster, which lives as long as the call.
template <typename T>
struct type_caster<c10::ArrayRef<T>> {
 public:
  PYBIND11_TYPE_CASTER(c10::ArrayRef<T>, const_name("List[") + make_caster<T>::name + const_name("]"));
  bool load(handle source, bool convert) {
    if (!isinstance<list>(source) && !isinstance<tuple>(source)) return false;
    elements_.clear();
    for (handle item : reinterpret_borrow<sequence>(source)) {
      make_caster<T> element;
      if (!element.load(item, convert)) return false;
      elements_.push_back(cast_op<T>(std::move(element)));
    }
    value = c10::ArrayRef<T>(elements_);
    return true;
  }
  static handle cast(c10::ArrayRef<T> source, return_value_policy policy, handle parent) {
    list made(source.size());
    for (size_t i = 0; i < source.size(); ++i)
      made[i] = reinterpret_steal<object>(make_caster<T>::cast(source[i], policy, parent));
    return made.release();
  }

 private:
  std::vector<T> elements_;
};
template <typename T>
struct type_caster<c10::OptionalArrayRef<T>> {
 public:
  PYBIND11_TYPE_CASTER(c10::OptionalArrayRef<T>, const_name("Optional[List[") + make_caster<T>::name + const_name("]]"));
  bool load(handle source, bool convert) {
    if (source.is_none()) return true;
    if (!elements_.load(source, convert)) return false;
    value = c10::OptionalArrayRef<T>(static_cast<c10::ArrayRef<T>&>(elements_));
    return true;
  }
  static handle cast(const c10::OptionalArrayRef<T>& source, return_value_policy policy, handle parent) {
    return source.has_value() ? make_caster<c10::ArrayRef<T>>::cast(*source, policy, parent) : none().release();
  }

 private:
  make_caster<c10::ArrayRef<T>> elements_;
};

template <>
struct type_caster<at::Scalar> {
 public:
  PYBIND11_TYPE_CASTER(at::Scalar, const_name("Union[Number, torch.Tensor]"));
  bool load(handle source, bool) {
    PyObject* object = source.ptr();
    if (guardfix::is_tensor_object(object)) {
      value = at::Tensor::from_python(guardfix::Object::borrow(object)).item();
      return true;
    }
    if (!PyBool_Check(object) && !PyLong_Check(object) && !PyFloat_Check(object) && !PyComplex_Check(object)) return false;
    value = guardfix::scalar_of(object, "Scalar");
    return true;
  }
  static handle cast(const at::Scalar& source, return_value_policy, handle) {
    return guardfix::number(source).release();
  }
};

// Values that Python has classes for: each is read from what the object is called.
#define GUARDFIX_CASTER(type, python, kind, read, write)                        \
  template <>                                                                   \
  struct type_caster<type> {                                                    \
   public:                                                                      \
    type_caster() : value(initial()) {}                                         \
    static constexpr auto name = const_name(python);                            \
    bool load(handle source, bool) {                                            \
      if (!guardfix::is_instance_of(source.ptr(), kind)) return false;          \
      value = c10::IValue(guardfix::Object::borrow(source.ptr())).read();       \
      return true;                                                              \
    }                                                                           \
    static handle cast([[maybe_unused]] type source, return_value_policy, handle) { return write; } \
    template <typename T>                                                       \
    using cast_op_type = movable_cast_op_type<T>;                               \
    operator type*() { return &value; }                                         \
    operator type&() { return value; }                                          \
    operator type&&() && { return std::move(value); }                           \
                                                                                \
   private:                                                                     \
    static type initial();                                                      \
    type value;                                                                 \
  };
GUARDFIX_CASTER(at::ScalarType, "torch.dtype", "dtype", toScalarType, guardfix::dtype_object(source).release())
GUARDFIX_CASTER(at::Device, "torch.device", "device", toDevice,
                guardfix::ask("device", {std::string_view(source.str())}).release())
GUARDFIX_CASTER(at::MemoryFormat, "torch.memory_format", "memory_format", toMemoryFormat,
                guardfix::ask("memory_format", {static_cast<int64_t>(source)}).release())
GUARDFIX_CASTER(at::Layout, "torch.layout", "layout", toLayout, guardfix::ask("layout", {}).release())
#undef GUARDFIX_CASTER
inline at::ScalarType type_caster<at::ScalarType>::initial() { return at::kFloat; }
inline at::Device type_caster<at::Device>::initial() { return at::kCPU; }
inline at::MemoryFormat type_caster<at::MemoryFormat>::initial() { return at::MemoryFormat::Contiguous; }
inline at::Layout type_caster<at::Layout>::initial() { return at::kStrided; }

// Values that are Python objects already.
template <typename T, typename Check>
struct object_caster {
 public:
  bool load(handle source, bool) {
    if (!Check::check(source)) return false;
    value_.emplace(c10::IValue(guardfix::Object::borrow(source.ptr())).to<T>());
    return true;
  }
  static handle cast(const T& source, return_value_policy, handle) { return guardfix::for_python(c10::IValue(source)); }
  template <typename U>
  using cast_op_type = movable_cast_op_type<U>;
  operator T*() { return &*value_; }
  operator T&() { return *value_; }
  operator T&&() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
};
struct is_list {
  static bool check(handle source) { return isinstance<list>(source); }
};
struct is_dict {
  static bool check(handle source) { return isinstance<dict>(source); }
};
struct is_anything {
  static bool check(handle) { return true; }
};
template <typename T>
struct type_caster<c10::List<T>> : object_caster<c10::List<T>, is_list> {
  static constexpr auto name = const_name("List[") + make_caster<T>::name + const_name("]");
};
template <typename Key, typename Value>
struct type_caster<c10::Dict<Key, Value>> : object_caster<c10::Dict<Key, Value>, is_dict> {
  static constexpr auto name =
      const_name("Dict[") + make_caster<Key>::name + const_name(", ") + make_caster<Value>::name + const_name("]");
};
template <>
struct type_caster<c10::IValue> : object_caster<c10::IValue, is_anything> {
  static constexpr auto name = const_name("Any");
};
template <>
struct type_caster<at::Generator> {
 public:
  PYBIND11_TYPE_CASTER(at::Generator, const_name("torch.Generator"));
  bool load(handle source, bool) {
    if (!guardfix::is_instance_of(source.ptr(), "Generator")) return false;
    value = at::Generator(guardfix::Object::borrow(source.ptr()));
    return true;
  }
  static handle cast(const at::Generator& source, return_value_policy, handle) {
    return handle(static_cast<PyObject*>(source)).inc_ref();
  }
};
template <typename T>
struct type_caster<c10::complex<T>> {
 public:
  PYBIND11_TYPE_CASTER(c10::complex<T>, const_name("complex"));
  bool load(handle source, bool) {
    if (!PyComplex_Check(source.ptr()) && !PyFloat_Check(source.ptr()) && !PyLong_Check(source.ptr())) return false;
    value = c10::complex<T>(static_cast<T>(PyComplex_RealAsDouble(source.ptr())),
                            static_cast<T>(PyComplex_ImagAsDouble(source.ptr())));
    return true;
  }
  static handle cast(const c10::complex<T>& source, return_value_policy, handle) {
    return PyComplex_FromDoubles(source.real(), source.imag());
  }
};

}  // namespace pybind11::detail
