// c10::IValue, c10::List and c10::Dict: values of any type that TorchScript knows. Long because each needs the others.
#pragma once

#include <ATen/core/Formatting.h>
#include <ATen/core/Tensor.h>
#include <c10/core/SymInt.h>
#include <c10/util/intrusive_ptr.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch {
/// The base of classes whose objects go to Python: see torch/custom_class.h.
using CustomClassHolder = c10::intrusive_ptr_target;
namespace jit {
class Module;
}
}  // namespace torch

namespace guardfix {
template <typename T>
Object object_of_class(const c10::intrusive_ptr<T>& pointer);
}

namespace c10 {

class IValue;
template <typename T>
class List;
template <typename Key, typename Value>
class Dict;

template <typename T>
class ListElement;

/// The type of a value in TorchScript. The shim's lists and dictionaries take values of any type, so that a type is
/// only a name here.
class Type {
 public:
  explicit constexpr Type(const char* name) : name_(name) {}
  std::string str() const { return name_; }
  std::string repr_str() const { return name_; }

 private:
  const char* name_;
};
using TypePtr = std::shared_ptr<const Type>;
#define C10_NAMED_TYPE(name, text)                                           \
  struct name {                                                              \
    static TypePtr get() { return std::make_shared<const Type>(text); }      \
  };
C10_NAMED_TYPE(AnyType, "Any")
C10_NAMED_TYPE(BoolType, "bool")
C10_NAMED_TYPE(FloatType, "float")
C10_NAMED_TYPE(IntType, "int")
C10_NAMED_TYPE(NoneType, "NoneType")
C10_NAMED_TYPE(StringType, "str")
C10_NAMED_TYPE(TensorType, "Tensor")
#undef C10_NAMED_TYPE

namespace ivalue {
class Tuple;
class TuplePtr;
class ConstantString;
}  // namespace ivalue

class IValue final {
 public:
  IValue() : IValue(guardfix::Object()) {}
  IValue(std::nullopt_t) : IValue() {}
  IValue(guardfix::Object object) : object_(std::move(object)) {
    if (object_.get() == Py_None) object_ = guardfix::Object();
  }
  IValue(const at::Tensor& value) : IValue(made(value)) {}
  IValue(const Scalar& value) : IValue(made(value)) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  IValue(T value) : IValue(made(value)) {}
  IValue(const char* value) : IValue(made(value)) {}
  IValue(const std::string& value) : IValue(made(value)) {}
  IValue(Device value) : IValue(device_object(value)) {}
  IValue(ScalarType value) : IValue(static_cast<int64_t>(value)) {}
  IValue(Layout value) : IValue(static_cast<int64_t>(value)) {}
  IValue(MemoryFormat value) : IValue(static_cast<int64_t>(value)) {}
  IValue(std::string_view value) : IValue(made(value)) {}
  IValue(SymInt value) : IValue(value.expect_int()) {}
  IValue(complex<double> value) : IValue(Scalar(value)) {}
  IValue(IntArrayRef values) : IValue(made(values)) {}
  IValue(ArrayRef<double> values) : IValue(made(values)) {}
  template <typename T>
  IValue(ArrayRef<T> values) : IValue(list(values)) {}
  template <typename T, size_t N>
  IValue(const std::array<T, N>& values) : IValue(list(values)) {}
  template <typename T>
  IValue(const OptionalArrayRef<T>& values) : IValue() {
    if (values.has_value()) *this = IValue(*values);
  }
  template <typename T>
  IValue(const std::vector<T>& values) : IValue(list(values)) {}
  template <typename T>
  IValue(const std::optional<T>& value) : IValue() {
    if (value.has_value()) *this = IValue(*value);
  }
  template <typename T>
  IValue(const List<T>& values) : IValue(values.object()) {}
  template <typename Key, typename Value>
  IValue(const Dict<Key, Value>& values) : IValue(values.object()) {}
  template <typename Key, typename Value>
  IValue(const std::unordered_map<Key, Value>& values);
  template <typename... Elements>
  IValue(const std::tuple<Elements...>& values)
      : IValue(tuple(std::apply([](const auto&... v) { return std::vector<IValue>{IValue(v)...}; }, values))) {}
  IValue(const ivalue::TuplePtr& value);
  template <typename T>
  IValue(const intrusive_ptr<T>& object) : IValue(guardfix::object_of_class(object)) {}

  bool isNone() const { return !object_; }
  bool isTensor() const;
  bool isBool() const { return object_ && PyBool_Check(object_.get()); }
  bool isInt() const { return object_ && PyLong_Check(object_.get()) && !isBool(); }
  bool isDouble() const { return object_ && PyFloat_Check(object_.get()); }
  bool isScalar() const { return isInt() || isDouble() || isBool() || isComplexDouble(); }
  bool isDevice() const {
    if (!object_) return false;
    const std::string_view type = Py_TYPE(object_.get())->tp_name;
    return type == "device" || type == "torch.device";
  }
  bool isString() const { return object_ && PyUnicode_Check(object_.get()); }
  bool isList() const { return object_ && PyList_Check(object_.get()); }
  bool isTuple() const { return object_ && PyTuple_Check(object_.get()); }
  bool isGenericDict() const { return object_ && PyDict_Check(object_.get()); }
  // Of modules: in torch/csrc/jit/api/module.h.
  bool isModule() const;
  /// An object of a class: a module, or one of a class of the program's own.
  bool isObject() const { return tagKind() == "Object"; }
  bool isComplexDouble() const { return object_ && PyComplex_Check(object_.get()); }
  bool isIntList() const { return all(&IValue::isInt); }
  bool isDoubleList() const { return all(&IValue::isDouble); }
  bool isBoolList() const { return all(&IValue::isBool); }
  bool isTensorList() const { return all(&IValue::isTensor); }
  std::string tagKind() const;

  at::Tensor toTensor() const;
  int64_t toInt() const {
    expect(isInt() || isBool(), "Int");
    const guardfix::Gil gil;
    return guardfix::as_integer(object_.get(), "toInt");
  }
  double toDouble() const {
    expect(isDouble() || isInt(), "Double");
    const guardfix::Gil gil;
    return guardfix::as_real(object_.get(), "toDouble");
  }
  bool toBool() const {
    expect(isBool(), "Bool");
    return object_.get() == Py_True;
  }
  Scalar toScalar() const {
    expect(isScalar(), "Scalar");
    const guardfix::Gil gil;
    return guardfix::scalar_of(object_.get(), "toScalar");
  }
  /// The text; lives as long as this value.
  const std::string& toStringRef() const {
    expect(isString(), "String");
    const guardfix::Gil gil;
    text_ = guardfix::text_of(object_.get());
    return text_;
  }
  std::shared_ptr<const ivalue::ConstantString> toString() const;
  std::string_view toStringView() const { return toStringRef(); }
  ScalarType toScalarType() const;
  Layout toLayout() const { return Layout::Strided; }
  MemoryFormat toMemoryFormat() const;
  /// From a device of Python, or the name of one.
  Device toDevice() const {
    const guardfix::Gil gil;
    return Device(guardfix::text_of(python()));
  }
  /// The elements of a list or a tuple.
  std::vector<IValue> elements() const;
  /// The pairs of a dictionary.
  std::vector<IValue> items() const {
    expect(isGenericDict(), "GenericDict");
    const guardfix::Gil gil;
    return IValue(guardfix::checked(PyDict_Items(object_.get()), "items")).elements();
  }
  std::vector<IValue> toListRef() const { return elements(); }
  SymInt toSymInt() const { return toInt(); }
  std::vector<SymInt> toSymIntVector() const { return toVector<SymInt>(); }
  std::vector<std::string> toStringVector() const { return toVector<std::string>(); }
  std::vector<int64_t> toIntVector() const { return toVector<int64_t>(); }
  std::vector<double> toDoubleVector() const { return toVector<double>(); }
  std::vector<at::Tensor> toTensorVector() const { return toVector<at::Tensor>(); }
  // Templates, so that only a program that uses one pays for compiling it.
  template <typename T = int64_t>
  List<T> toIntList() const {
    return to<List<T>>();
  }
  template <typename T = double>
  List<T> toDoubleList() const {
    return to<List<T>>();
  }
  template <typename T = bool>
  List<T> toBoolList() const {
    return to<List<T>>();
  }
  template <typename T = at::Tensor>
  List<T> toTensorList() const {
    return to<List<T>>();
  }
  template <typename T = IValue>
  List<T> toList() const {
    return to<List<T>>();
  }
  template <typename T = IValue>
  Dict<T, T> toGenericDict() const {
    return to<Dict<T, T>>();
  }
  ivalue::TuplePtr toTuple() const;
  torch::jit::Module toModule() const;
  // Of classes that torch::class_ registers: in torch/custom_class.h.
  bool isCustomClass() const;
  template <typename T>
  intrusive_ptr<T> toCustomClass() const;
  /// Pointer-like access to the tuple, as `value.toTupleRef().elements()`.
  ivalue::Tuple toTupleRef() const;
  template <typename T>
  std::optional<T> toOptional() const {
    return isNone() ? std::nullopt : std::optional<T>(to<T>());
  }
  template <typename T>
  T to() const;

  const guardfix::Object& object() const { return object_; }
  /// The value for Python, borrowed.
  PyObject* python() const { return object_ ? object_.get() : Py_None; }
  /// Of the same kind and with the same value; tensors and objects are the same when they are one.
  bool equals(const IValue& other) const {
    if (isTensor() || isNone() || other.isNone()) return is(other);
    const guardfix::Gil gil;
    const int equal = PyObject_RichCompareBool(object_.get(), other.object_.get(), Py_EQ);
    if (equal < 0) guardfix::throw_python_error("==");
    return equal == 1;
  }
  bool is(const IValue& other) const { return object_.get() == other.object_.get(); }

 private:
  static guardfix::Object made(guardfix::Arg arg) {
    const guardfix::Gil gil;
    return arg.python();
  }
  static guardfix::Object device_object(Device device) {
    const guardfix::Gil gil;
    PyObject* object = PyObject_CallMethod(guardfix::backend(), "device", "s", device.str().c_str());
    if (object != nullptr) return guardfix::Object::steal(object);
    PyErr_Clear();  // the backend hasn't this device; its name does where none is made on it
    return made(device);
  }
  template <typename Values>
  static guardfix::Object list(const Values& values) {
    const guardfix::Gil gil;
    guardfix::Object list = guardfix::checked(PyList_New(0), "list");
    for (const auto& value : values) {
      const IValue item(static_cast<const typename Values::value_type&>(value));
      PyList_Append(list.get(), item.python());
    }
    return list;
  }
  static guardfix::Object tuple(const std::vector<IValue>& values) {
    const guardfix::Gil gil;
    guardfix::Object tuple = guardfix::checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())), "tuple");
    for (size_t i = 0; i < values.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       guardfix::Object::borrow(values[i].python()).release());
    return tuple;
  }
  template <typename T>
  std::vector<T> toVector() const {
    std::vector<T> values;
    for (const IValue& item : elements()) values.push_back(item.to<T>());
    return values;
  }
  bool all(bool (IValue::*is)() const) const {
    if (!isList()) return false;
    for (const IValue& item : elements())
      if (!(item.*is)()) return false;
    return true;
  }
  void expect(bool matches, const char* kind) const {
    TORCH_CHECK(matches, "Expected ", kind, " but got ", tagKind());
  }
  template <typename T>
  friend class List;
  template <typename Key, typename Value>
  friend class Dict;

  guardfix::Object object_;
  mutable std::string text_;  // what toStringRef refers to
};

namespace ivalue {

/// A fixed number of values of any types.
class Tuple {
 public:
  explicit Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
  static TuplePtr create(std::vector<IValue> elements);
  /// By value: `const auto& e = value.toTuple()->elements();` is safe.
  std::vector<IValue> elements() const { return elements_; }
  size_t size() const { return elements_.size(); }

 private:
  std::vector<IValue> elements_;
};

/// Used as a pointer to a tuple.
class TuplePtr {
 public:
  explicit TuplePtr(Tuple tuple) : tuple_(std::move(tuple)) {}
  const Tuple* operator->() const { return &tuple_; }
  const Tuple& operator*() const { return tuple_; }

 private:
  Tuple tuple_;
};

inline TuplePtr Tuple::create(std::vector<IValue> elements) { return TuplePtr(Tuple(std::move(elements))); }

/// A text that does not change.
class ConstantString {
 public:
  explicit ConstantString(std::string text) : text_(std::move(text)) {}
  static std::shared_ptr<const ConstantString> create(std::string text) {
    return std::make_shared<const ConstantString>(std::move(text));
  }
  const std::string& string() const { return text_; }
  std::string_view string_view() const { return text_; }
  operator const std::string&() const { return text_; }

 private:
  std::string text_;
};
inline std::ostream& operator<<(std::ostream& out, const ConstantString& text) { return out << text.string(); }

}  // namespace ivalue

inline IValue::IValue(const ivalue::TuplePtr& value) : IValue(tuple(value->elements())) {}
inline ivalue::TuplePtr IValue::toTuple() const {
  expect(isTuple(), "Tuple");
  return ivalue::Tuple::create(elements());
}
inline std::shared_ptr<const ivalue::ConstantString> IValue::toString() const {
  return ivalue::ConstantString::create(toStringRef());
}
inline ivalue::Tuple IValue::toTupleRef() const { return *toTuple(); }

inline bool IValue::isTensor() const {
  return object_ && guardfix::is_tensor_object(object_.get());
}
inline at::Tensor IValue::toTensor() const {
  if (isNone()) return at::Tensor();
  expect(isTensor(), "Tensor");
  return at::Tensor::from_python(object_);
}
/// A number, as TorchScript has it, or a dtype of Python.
inline ScalarType IValue::toScalarType() const {
  if (isInt()) return static_cast<ScalarType>(toInt());
  const guardfix::Gil gil;
  const std::string name = guardfix::text_of(python());
  TORCH_CHECK(name.rfind("torch.", 0) == 0, "Expected ScalarType but got ", tagKind());
  return at::detail::scalar_type_named(name.substr(6));
}
inline MemoryFormat IValue::toMemoryFormat() const {
  if (isInt()) return static_cast<MemoryFormat>(toInt());
  const guardfix::Gil gil;
  const std::string name = guardfix::text_of(python());
  for (const auto& [known, format] :
       {std::pair{"torch.preserve_format", MemoryFormat::Preserve},
        std::pair{"torch.channels_last", MemoryFormat::ChannelsLast},
        std::pair{"torch.channels_last_3d", MemoryFormat::ChannelsLast3d}})
    if (name == known) return format;
  return MemoryFormat::Contiguous;
}
inline std::string IValue::tagKind() const {
  if (isNone()) return "None";
  if (isBool()) return "Bool";
  if (isInt()) return "Int";
  if (isDouble()) return "Double";
  if (isString()) return "String";
  if (isDevice()) return "Device";
  if (isList()) return "GenericList";
  if (isTuple()) return "Tuple";
  if (isGenericDict()) return "GenericDict";
  if (isComplexDouble()) return "ComplexDouble";
  return isTensor() ? "Tensor" : "Object";
}
inline std::vector<IValue> IValue::elements() const {
  TORCH_CHECK(isList() || isTuple(), "Expected GenericList but got ", tagKind());
  const guardfix::Gil gil;
  std::vector<IValue> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object_.get()); ++i)
    values.emplace_back(guardfix::Object::borrow(PySequence_Fast_GET_ITEM(object_.get(), i)));
  return values;
}

template <typename T>
struct IValueAs;
template <typename T>
T IValue::to() const {
  return IValueAs<T>::from(*this);
}
#define C10_IVALUE_AS(type, method)                                   \
  template <>                                                         \
  struct IValueAs<type> {                                             \
    static type from(const IValue& value) { return value.method(); }  \
  };
C10_IVALUE_AS(at::Tensor, toTensor)
C10_IVALUE_AS(int64_t, toInt)
C10_IVALUE_AS(double, toDouble)
C10_IVALUE_AS(bool, toBool)
C10_IVALUE_AS(std::string, toStringRef)
C10_IVALUE_AS(Scalar, toScalar)
C10_IVALUE_AS(ScalarType, toScalarType)
C10_IVALUE_AS(Device, toDevice)
C10_IVALUE_AS(Layout, toLayout)
C10_IVALUE_AS(MemoryFormat, toMemoryFormat)
C10_IVALUE_AS(SymInt, toInt)
C10_IVALUE_AS(ivalue::TuplePtr, toTuple)
#undef C10_IVALUE_AS
template <>
struct IValueAs<int> {
  static int from(const IValue& value) { return static_cast<int>(value.toInt()); }
};
template <>
struct IValueAs<complex<double>> {
  static complex<double> from(const IValue& value) { return value.toScalar().toComplexDouble(); }
};
template <>
struct IValueAs<float> {
  static float from(const IValue& value) { return static_cast<float>(value.toDouble()); }
};
template <>
struct IValueAs<IValue> {
  static IValue from(const IValue& value) { return value; }
};
template <typename T>
struct IValueAs<std::optional<T>> {
  static std::optional<T> from(const IValue& value) { return value.toOptional<T>(); }
};
template <typename T>
struct IValueAs<std::vector<T>> {
  static std::vector<T> from(const IValue& value) {
    std::vector<T> values;
    for (const IValue& item : value.elements()) values.push_back(item.to<T>());
    return values;
  }
};
template <typename T, size_t N>
struct IValueAs<std::array<T, N>> {
  static std::array<T, N> from(const IValue& value) {
    const std::vector<IValue> values = value.elements();
    TORCH_CHECK(values.size() == N, "Tried to convert a List with ", values.size(),
                " elements to a fixed-size array of size ", N);
    std::array<T, N> elements;
    for (size_t i = 0; i < N; ++i) elements[i] = values[i].to<T>();
    return elements;
  }
};
template <typename... Elements>
struct IValueAs<std::tuple<Elements...>> {
  static std::tuple<Elements...> from(const IValue& value) {
    const std::vector<IValue> values = value.elements();
    TORCH_CHECK(values.size() == sizeof...(Elements), "Expected a Tuple of ", sizeof...(Elements), " elements but got ",
                values.size());
    return from(values, std::index_sequence_for<Elements...>());
  }

 private:
  template <size_t... at>
  static std::tuple<Elements...> from(const std::vector<IValue>& values, std::index_sequence<at...>) {
    return std::tuple<Elements...>{values[at].template to<Elements>()...};
  }
};
template <typename T>
struct IValueAs<List<T>> {
  static List<T> from(const IValue& value) { return List<T>(value.object()); }
};
template <typename Key, typename Value>
struct IValueAs<std::unordered_map<Key, Value>> {
  static std::unordered_map<Key, Value> from(const IValue& value) {
    std::unordered_map<Key, Value> map;
    for (const IValue& item : value.items()) {
      const auto key_and_value = item.elements();
      map.emplace(key_and_value[0].template to<Key>(), key_and_value[1].template to<Value>());
    }
    return map;
  }
};
template <typename Key, typename Value>
struct IValueAs<Dict<Key, Value>> {
  static Dict<Key, Value> from(const IValue& value) { return Dict<Key, Value>(value.object()); }
};

namespace detail {
/// The elements of a list, a tuple or a dictionary as printed, between brackets.
template <typename Elements, typename Print>
void print_between(std::ostream& out, const char* open, const Elements& elements, const char* close, Print print) {
  out << open;
  const char* separator = "";
  for (const auto& element : elements) {
    out << separator;
    print(element);
    separator = ", ";
  }
  out << close;
}
}  // namespace detail

inline std::ostream& operator<<(std::ostream& out, const IValue& value) {
  const auto print = [&out](const IValue& item) { out << item; };
  if (value.isNone()) return out << "None";
  if (value.isTensor()) return out << value.toTensor();
  if (value.isBool()) return out << (value.toBool() ? "True" : "False");
  if (value.isInt()) return out << value.toInt();
  if (value.isDouble()) {
    const double number = value.toDouble();
    return out << at::detail::shortest(number) << (number == static_cast<int64_t>(number) ? "." : "");
  }
  if (value.isString()) return out << value.toStringRef();
  if (value.isDevice()) return out << value.toDevice();
  if (value.isList()) {
    detail::print_between(out, "[", value.elements(), "]", print);
  } else if (value.isTuple()) {
    detail::print_between(out, "(", value.elements(), value.elements().size() == 1 ? ",)" : ")", print);
  } else if (value.isGenericDict()) {
    detail::print_between(out, "{", value.items(), "}", [&out](const IValue& item) {
      const auto key_and_value = item.elements();
      out << key_and_value[0] << ": " << key_and_value[1];
    });
  } else {
    const guardfix::Gil gil;
    out << guardfix::text_of(value.object().get());
  }
  return out;
}

}  // namespace c10

namespace at {
using c10::IValue;
}  // namespace at

namespace torch::jit {
using c10::IValue;
using Stack = std::vector<IValue>;
}  // namespace torch::jit

#include <ATen/core/Dict_inl.h>
#include <ATen/core/List_inl.h>
#include <ATen/core/stack.h>

namespace torch {
template <typename T>
using List = c10::List<T>;
template <typename Key, typename Value>
using Dict = c10::Dict<Key, Value>;
}  // namespace torch
