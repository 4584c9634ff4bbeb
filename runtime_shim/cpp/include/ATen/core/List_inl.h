// c10::List<T>: a Python list whose elements are of one type. Included by ATen/core/ivalue.h.
#pragma once

#include <ATen/core/ivalue.h>

namespace c10 {

template <typename T>
class ListElement final {
 public:
  ListElement(List<T> list, size_t index) : list_(std::move(list)), index_(index) {}
  operator T() const { return list_.get(index_); }
  ListElement& operator=(const T& value) && {
    list_.set(index_, value);
    return *this;
  }
  ListElement& operator=(const ListElement& other) && { return std::move(*this) = static_cast<T>(other); }
  /// Numbers compare as what they convert to.
  template <typename U, typename = std::enable_if_t<!std::is_arithmetic_v<T> && std::is_convertible_v<const U&, T>>>
  friend bool operator==(const ListElement& element, const U& value) {
    return static_cast<T>(element) == value;
  }

 private:
  List<T> list_;
  size_t index_;
};

template <typename T>
class List final {
 public:
  List() : List(std::initializer_list<T>{}) {}
  List(std::initializer_list<T> values) : object_(IValue::list(std::vector<T>(values))) {}
  /// With the type of its elements, known only at run time.
  explicit List(const TypePtr&) : List() {
    static_assert(std::is_same_v<T, IValue>, "the type of the elements is given by the template argument");
  }
  explicit List(ArrayRef<T> values) : object_(IValue::list(values.vec())) {}
  explicit List(guardfix::Object list) : object_(std::move(list)) {}

  size_t size() const { return vec_of_values().size(); }
  bool empty() const { return size() == 0; }
  T get(size_t index) const {
    const std::vector<IValue> values = vec_of_values();
    TORCH_CHECK_INDEX(index < values.size(), "list index out of range: ", index, " of ", values.size());
    return values[index].template to<T>();
  }
  /// Stands for the element: reads as a T, and assigning to it replaces the element.
  ListElement<T> operator[](size_t index) const {
    get(index);
    return ListElement<T>(*this, index);
  }
  T extract(size_t index) const { return get(index); }
  void push_back(const T& value) const {
    const IValue item(value);
    const guardfix::Gil gil;
    if (PyList_Append(object_.get(), item.python()) < 0) guardfix::throw_python_error("push_back");
  }
  template <typename... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  void append(const List& other) const {
    for (const T& value : other.vec()) push_back(value);
  }
  void pop_back() const { cut(size() - 1, size()); }
  void clear() const { cut(0, size()); }
  void reserve(size_t) const {}
  List copy() const { return List(ArrayRef<T>(vec())); }
  void set(size_t index, const T& value) const {
    const IValue item(value);
    const guardfix::Gil gil;
    if (PyList_SetItem(object_.get(), static_cast<Py_ssize_t>(index),
                       guardfix::Object::borrow(item.python()).release()) < 0)
      guardfix::throw_python_error("set");
  }
  std::vector<T> vec() const {
    std::vector<T> values;
    for (const IValue& item : vec_of_values()) values.push_back(item.template to<T>());
    return values;
  }
  /// The elements now; an iterator that is kept sees no later change.
  auto begin() const {
    now_ = vec();
    return now_.begin();
  }
  auto end() const { return now_.end(); }
  const guardfix::Object& object() const { return object_; }

 private:
  void cut(size_t from, size_t to) const {
    const guardfix::Gil gil;
    if (PyList_SetSlice(object_.get(), static_cast<Py_ssize_t>(from), static_cast<Py_ssize_t>(to), nullptr) < 0)
      guardfix::throw_python_error("erase");
  }
  std::vector<IValue> vec_of_values() const { return IValue(object_).elements(); }
  guardfix::Object object_;
  mutable std::vector<T> now_;  // what is being iterated over
};

namespace impl {
using GenericList = List<IValue>;
}  // namespace impl

}  // namespace c10
