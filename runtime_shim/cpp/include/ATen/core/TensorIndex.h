// Indices as in t.index({0, Slice(1, 3), "...", None, mask}). Included where at::Tensor is complete.
#pragma once

#include <guardfix/call.h>

namespace at::indexing {

enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;
inline constexpr std::nullopt_t None = std::nullopt;

/// Beyond all elements, in either direction: where a slice begins or ends that doesn't say so.
constexpr int64_t INDEX_MIN = -(int64_t(1) << 62);
constexpr int64_t INDEX_MAX = -(INDEX_MIN + 1);

/// Elements start, start+step, … below stop, as in Python.
class Slice final {
 public:
  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt)
      : step_(step.value_or(1)) {
    TORCH_CHECK_VALUE(step_ != 0, "slice step cannot be zero");
    start_ = start.value_or(step_ < 0 ? INDEX_MAX : 0);
    stop_ = stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX);
  }
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t start_ = 0, stop_ = 0, step_;
};

inline std::ostream& operator<<(std::ostream& stream, const Slice& slice) {
  return stream << slice.start() << ':' << slice.stop() << ':' << slice.step();
}

/// One index of several: an integer, a bool, a slice, None (a new dimension), an ellipsis, or a tensor.
class TensorIndex final {
 public:
  TensorIndex(std::nullopt_t) : object_(held(Py_None)) {}
  TensorIndex(EllipsisIndexType) : object_(held(Py_Ellipsis)) {}
  TensorIndex(const char* text) : object_(held(Py_Ellipsis)) {
    TORCH_CHECK_VALUE(std::string_view(text) == "...",
                      "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
  }
  TensorIndex(int64_t index) : object_(made(guardfix::Arg(index))) {}
  TensorIndex(int index) : TensorIndex(int64_t(index)) {}
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, bool>>>
  TensorIndex(T index) : object_(made(guardfix::Arg(index))) {}
  TensorIndex(const Tensor& tensor) : object_(made(guardfix::Arg(tensor))) {}
  TensorIndex(const Slice& slice) {
    const guardfix::Gil gil;
    const guardfix::Object start = guardfix::Arg(slice.start()).python(), stop = guardfix::Arg(slice.stop()).python(),
                           step = guardfix::Arg(slice.step()).python();
    object_ = guardfix::checked(PySlice_New(start.get(), stop.get(), step.get()), "Slice");
  }
  const guardfix::Object& object() const { return object_; }

  bool is_none() const { return object_.get() == Py_None; }
  bool is_ellipsis() const { return object_.get() == Py_Ellipsis; }
  bool is_boolean() const { return PyBool_Check(object_.get()); }
  bool is_integer() const { return PyLong_Check(object_.get()) && !is_boolean(); }
  bool is_slice() const { return PySlice_Check(object_.get()); }
  bool is_tensor() const {
    return !is_none() && !is_ellipsis() && !PyLong_Check(object_.get()) && !is_slice();
  }
  bool boolean() const { return object_.get() == Py_True; }
  int64_t integer() const {
    const guardfix::Gil gil;
    return guardfix::as_integer(object_.get(), "index");
  }
  at::indexing::Slice slice() const {
    const guardfix::Gil gil;
    const auto part = [&](const char* name) {
      return guardfix::as_integer(guardfix::attribute(object_.get(), name).get(), name);
    };
    return at::indexing::Slice(part("start"), part("stop"), part("step"));
  }
  Tensor tensor() const { return Tensor::from_python(object_); }

 private:
  static guardfix::Object held(PyObject* object) {
    const guardfix::Gil gil;
    return guardfix::Object::borrow(object);
  }
  static guardfix::Object made(guardfix::Arg arg) {
    const guardfix::Gil gil;
    return arg.python();
  }
  guardfix::Object object_;
};

inline std::ostream& operator<<(std::ostream& stream, const TensorIndex& index) {
  if (index.is_none()) return stream << "None";
  if (index.is_ellipsis()) return stream << "...";
  if (index.is_boolean()) return stream << (index.boolean() ? "true" : "false");
  if (index.is_integer()) return stream << index.integer();
  if (index.is_slice()) return stream << index.slice();
  const guardfix::Gil gil;
  return stream << guardfix::text_of(index.object().get());
}
inline std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices) {
  stream << '(';
  for (size_t i = 0; i < indices.size(); ++i) stream << (i ? ", " : "") << indices[i];
  return stream << ')';
}

inline guardfix::Object as_tuple(ArrayRef<TensorIndex> indices) {
  const guardfix::Gil gil;
  guardfix::Object tuple = guardfix::checked(PyTuple_New(static_cast<Py_ssize_t>(indices.size())), "index");
  for (size_t i = 0; i < indices.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), guardfix::Object(indices[i].object()).release());
  return tuple;
}

}  // namespace at::indexing
