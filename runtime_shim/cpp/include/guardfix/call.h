// Calling the Python side. Everything that a header needs from Python goes through the backend object
// (guardfix/runtime_shim/cpp/cpp_backend.py): `Op` calls an op by its name, `Hook` a method of the backend.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/Scalar.h>
#include <c10/util/ArrayRef.h>
#include <guardfix/openmp_regions.h>
#include <guardfix/python.h>
#include <guardfix/run.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace at {
class Tensor;
}

namespace guardfix {

/// The Python tensor behind a handle, borrowed; null for an undefined tensor.
inline PyObject* object_of(const at::Tensor& tensor);

// What a Python result becomes.
inline std::vector<at::Tensor> tensors_of(const Object& sequence);
inline std::tuple<at::Tensor, at::Tensor> pair_of(const Object& sequence);
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> triple_of(const Object& sequence);
inline bool truth_of(const Object& value);

/// An argument on its way to Python. Refers to the C++ value, so it lives no longer than the call.
class Arg {
 public:
  Arg(const at::Tensor& tensor) : kind_(Kind::tensor), pointer_(&tensor) {}
  Arg(const c10::Scalar& scalar) : kind_(Kind::scalar), pointer_(&scalar) {}
  Arg(c10::ArrayRef<at::Tensor> tensors) : kind_(Kind::tensors), size_(tensors.size()), pointer_(tensors.data()) {}
  Arg(const std::vector<at::Tensor>& tensors) : Arg(c10::ArrayRef<at::Tensor>(tensors)) {}
  Arg(c10::IntArrayRef integers) : kind_(Kind::integers), size_(integers.size()), pointer_(integers.data()) {}
  Arg(const std::vector<int64_t>& integers) : Arg(c10::IntArrayRef(integers)) {}
  Arg(const std::vector<double>& reals) : Arg(c10::ArrayRef<double>(reals)) {}
  Arg(c10::ArrayRef<double> reals) : kind_(Kind::reals), size_(reals.size()), pointer_(reals.data()) {}
  Arg(c10::OptionalIntArrayRef integers) : kind_(Kind::none) {
    if (integers.has_value()) *this = Arg(*integers);
  }
  Arg(std::string_view text) : kind_(Kind::text), size_(text.size()), pointer_(text.data()) {}
  Arg(const std::string& text) : Arg(std::string_view(text)) {}
  Arg(const char* text) : Arg(std::string_view(text)) {}
  Arg(bool value) : kind_(Kind::boolean), integer_(value) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Arg(T value) : kind_(std::is_integral_v<T> ? Kind::integer : Kind::real) {
    if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(value);
    } else {
      real_ = static_cast<double>(value);
    }
  }
  Arg(c10::ScalarType type) : kind_(Kind::dtype), integer_(static_cast<int64_t>(type)) {}
  Arg(c10::MemoryFormat format) : kind_(Kind::memory_format), integer_(static_cast<int64_t>(format)) {}
  Arg(const c10::Device& device) : kind_(Kind::device), pointer_(&device) {}
  Arg(PyObject* object) : kind_(object == nullptr ? Kind::none : Kind::object), pointer_(object) {}
  Arg(const Object& object) : Arg(object.get()) {}
  Arg(std::nullopt_t) : kind_(Kind::none) {}
  template <typename T>
  Arg(const std::optional<T>& value) : kind_(Kind::none) {
    if (value.has_value()) *this = Arg(*value);
  }

  /// A keyword argument; one without a value is not passed at all.
  static Arg keyword(const char* name, Arg value) {
    value.keyword_ = name;
    if (value.kind_ == Kind::none) value.kind_ = Kind::absent;
    return value;
  }

  const char* keyword() const { return keyword_; }
  bool absent() const { return kind_ == Kind::absent; }
  bool is_undefined_tensor() const;
  /// The value for Python: a new reference. The caller holds the interpreter lock.
  Object python() const;

 private:
  enum class Kind : uint8_t {
    absent, none, tensor, scalar, integer, real, boolean, text, dtype, memory_format, device, integers, reals, tensors, object
  };
  Kind kind_;
  const char* keyword_ = nullptr;
  size_t size_ = 0;
  union {
    int64_t integer_ = 0;
    double real_;
    const void* pointer_;
  };
};

inline Arg kw(const char* name, Arg value) { return Arg::keyword(name, value); }
/// `alpha` and its kind: passed only when it is not the number that it is by default.
inline Arg kw_unless(const char* name, int default_value, const c10::Scalar& value) {
  return Arg::keyword(name, value.equal(default_value) ? Arg(std::nullopt) : Arg(value));
}

/// A memory format is passed where it is another than that of new tensors.
inline Arg kw_unless(const char* name, c10::MemoryFormat default_value, std::optional<c10::MemoryFormat> value) {
  return Arg::keyword(name, !value.has_value() || *value == default_value ? Arg(std::nullopt) : Arg(*value));
}

/// The object that stands between the headers and the Python module whose tensors these are.
inline PyObject* backend() {
  static PyObject* const found = [] {
    const Gil gil;
    const Object module = checked(PyImport_ImportModule("guardfix.runtime_shim.cpp.torch_backend"), "backend");
    return checked(PyObject_CallMethod(module.get(), "current", nullptr), "backend").release();
  }();
  return found;
}

/// The dtype object of the Python module.
inline Object dtype_object(c10::ScalarType type) {
  return checked(PyObject_CallMethod(backend(), "dtype", "s", c10::python_name(type)), "dtype");
}

/// Calls `function` with arguments and keywords. The caller holds the interpreter lock.
inline Object call(PyObject* function, const char* where, std::initializer_list<Arg> args) {
  constexpr size_t limit = 24;
  Object values[limit];
  PyObject* stack[limit + 1] = {nullptr};
  size_t positional = 0, count = 0;
  Object names;
  for (const Arg& arg : args) {
    if (arg.absent()) continue;
    TORCH_INTERNAL_ASSERT(count < limit, where, " has too many arguments");
    values[count] = arg.python();
    stack[count + 1] = values[count].get();
    ++count;
    if (arg.keyword() == nullptr) {
      ++positional;
      continue;
    }
    const Object name = checked(PyUnicode_InternFromString(arg.keyword()), where);
    const Object one = checked(PyTuple_Pack(1, name.get()), where);
    names = names ? checked(PySequence_Concat(names.get(), one.get()), where) : one;
  }
  return checked(PyObject_Vectorcall(function, stack + 1, positional | PY_VECTORCALL_ARGUMENTS_OFFSET, names.get()),
                 where);
}

/// A method of the backend, looked up at each call.
inline Object ask(const char* method, std::initializer_list<Arg> args) {
  const Gil gil;
  const Object bound = attribute(backend(), method);
  return call(bound.get(), method, args);
}

/// A method of the backend, looked up once: for a static object, as it keeps what it found.
class Hook {
 public:
  constexpr explicit Hook(const char* name) : name_(name) {}
  Object operator()(std::initializer_list<Arg> args) const {
    const Gil gil;
    if (method_ == nullptr) method_ = attribute(backend(), name_).release();
    return call(method_, name_, args);
  }

 private:
  const char* name_;
  mutable PyObject* method_ = nullptr;
};

/// Whether the object is a tensor. The class of tensors is asked for once.
inline bool is_tensor_object(PyObject* object) {
  static PyObject* const type = [] {
    const Gil gil;
    return ask("tensor_class", {}).release();
  }();
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type)) != 0;
}

/// An op of the Python module by its name: what a method or a function of the C++ interface calls. Looked up once; for
/// a static object, too.
class Op {
 public:
  /// `find` is the method of the backend that knows which callable stands for the name.
  constexpr explicit Op(const char* name, const char* find = "op") : name_(name), find_(find) {}
  Object operator()(std::initializer_list<Arg> args) const {
    if (args.size() != 0 && args.begin()->is_undefined_tensor())
      return without("#0 'self'", args.size() < 2 || args.begin()[1].is_undefined_tensor());
    if (args.size() == 2 && std::string_view(name_) == "equal" && args.begin()[1].is_undefined_tensor())
      return without("#1 'other'", false);
    const Gil gil;
    if (function_ == nullptr)
      function_ = checked(PyObject_CallMethod(backend(), find_, "s", name_), name_).release();
    return call(function_, name_, args);
  }

 private:
  /// What the op says of an argument that is undefined. Below Autograd some ops do without.
  Object without(const char* argument, bool alone) const {
    static const Hook excluded{"excluded"};
    const std::string_view name(name_);
    const bool is_equal = name == "equal", can_do_without = is_equal ? !alone : name == "detach_";
    const Object keys = can_do_without ? excluded({}) : Object();
    const Gil gil;
    constexpr int64_t autograd = 2;
    TORCH_CHECK(keys && (as_integer(keys.get(), name_) & autograd) != 0,
                "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument ", argument);
    return Object::borrow(is_equal ? Py_False : Py_None);
  }

  const char* name_;
  const char* find_;
  mutable PyObject* function_ = nullptr;
};

/// The overload of an op that takes a number: in C++ the number stays a number, where Python makes a tensor of it.
class ScalarOp : public Op {
 public:
  constexpr explicit ScalarOp(const char* name) : Op(name, "scalar_op") {}
};

template <typename T>
std::vector<T> integers_of(const Object& sequence, const char* where) {
  const Gil gil;
  const Object fast = checked(PySequence_Fast(sequence.get(), where), where);
  std::vector<T> values(static_cast<size_t>(PySequence_Fast_GET_SIZE(fast.get())));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(as_integer(PySequence_Fast_GET_ITEM(fast.get(), static_cast<Py_ssize_t>(i)), where));
  return values;
}

inline Object number(const c10::Scalar& scalar) {
  if (scalar.isBoolean()) return Object::steal(PyBool_FromLong(scalar.toBool()));
  if (scalar.isComplex())
    return Object::steal(PyComplex_FromDoubles(scalar.toComplexDouble().real(), scalar.toComplexDouble().imag()));
  if (scalar.isFloatingPoint()) return Object::steal(PyFloat_FromDouble(scalar.toDouble()));
  return Object::steal(PyLong_FromLongLong(scalar.toLong()));
}

/// A Python number as a Scalar. The caller holds the interpreter lock.
inline c10::Scalar scalar_of(PyObject* value, const char* where) {
  if (PyBool_Check(value)) return value == Py_True;
  if (PyLong_Check(value)) return as_integer(value, where);
  if (PyComplex_Check(value))
    return c10::complex<double>(PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value));
  return as_real(value, where);
}

template <typename Element, typename Convert>
Object list_of(const Element* elements, size_t size, Convert&& convert) {
  Object list = checked(PyList_New(static_cast<Py_ssize_t>(size)), "list");
  for (size_t i = 0; i < size; ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), convert(elements[i]).release());
  return list;
}

}  // namespace guardfix
