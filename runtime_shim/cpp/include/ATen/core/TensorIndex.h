// Indices as in t.index({0, Slice(1, 3), "...", None, mask}). Included where at::Tensor is complete.
#pragma once

#include <guardfix/call.h>

namespace at::indexing {

enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;
inline constexpr std::nullopt_t None = std::nullopt;

/// Elements start, start+step, … below stop, as in Python.
class Slice final {
 public:
  explicit Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
                 std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step) {}
  std::optional<int64_t> start() const { return start_; }
  std::optional<int64_t> stop() const { return stop_; }
  std::optional<int64_t> step() const { return step_; }

 private:
  std::optional<int64_t> start_, stop_, step_;
};

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

inline guardfix::Object as_tuple(ArrayRef<TensorIndex> indices) {
  const guardfix::Gil gil;
  guardfix::Object tuple = guardfix::checked(PyTuple_New(static_cast<Py_ssize_t>(indices.size())), "index");
  for (size_t i = 0; i < indices.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), guardfix::Object(indices[i].object()).release());
  return tuple;
}

}  // namespace at::indexing
