// c10::List<T>: a Python list whose elements are of one type. Included by ATen/core/ivalue.h.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace c10 {

/// Stands for an element of a list: reads as a T, and assigning to it replaces the element.
template <typename T>
class ListElement final {
 public:
  ListElement(List<T> list, size_t index) : list_(std::move(list)), index_(index) {}
  ListElement(const ListElement&) = default;
  operator T() const { return list_.get(index_); }
  /// The element as a value of any type.
  IValue get() const { return IValue(list_.get(index_)); }
  ListElement& operator=(const T& value) && {
    list_.set(index_, value);
    return *this;
  }
  ListElement& operator=(const ListElement& other) && { return std::move(*this) = static_cast<T>(other); }
  /// Numbers compare as what they convert to.
  template <typename U, typename = std::enable_if_t<!std::is_arithmetic_v<T> && std::is_convertible_v<const U&, T>>>
  friend bool operator==(const ListElement& element, const U& value) {
    return static_cast<T>(element) == static_cast<T>(value);
  }
  template <typename U, typename = std::enable_if_t<!std::is_arithmetic_v<T> && std::is_convertible_v<const U&, T> &&
                                                    !std::is_same_v<U, ListElement>>>
  friend bool operator==(const U& value, const ListElement& element) {
    return element == value;
  }
  friend void swap(ListElement a, ListElement b) {
    const T of_a = a, of_b = b;
    std::move(a) = of_b;
    std::move(b) = of_a;
  }

 private:
  List<T> list_;
  size_t index_;
};

/// A place in a list. It stays there when the list changes.
template <typename T>
class ListIterator final {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = ListElement<T>;

  ListIterator() = default;
  ListIterator(guardfix::Object list, difference_type index) : list_(std::move(list)), index_(index) {}
  ListElement<T> operator*() const { return (*this)[0]; }
  ListElement<T> operator[](difference_type offset) const {
    return ListElement<T>(List<T>(list_), static_cast<size_t>(index_ + offset));
  }
  ListIterator& operator+=(difference_type steps) {
    index_ += steps;
    return *this;
  }
  ListIterator& operator-=(difference_type steps) { return *this += -steps; }
  ListIterator& operator++() { return *this += 1; }
  ListIterator& operator--() { return *this -= 1; }
  ListIterator operator++(int) { return std::exchange(*this, *this + 1); }
  ListIterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend ListIterator operator+(ListIterator place, difference_type steps) { return place += steps; }
  friend ListIterator operator+(difference_type steps, ListIterator place) { return place += steps; }
  friend ListIterator operator-(ListIterator place, difference_type steps) { return place -= steps; }
  friend difference_type operator-(const ListIterator& a, const ListIterator& b) { return a.index_ - b.index_; }
  friend bool operator==(const ListIterator& a, const ListIterator& b) { return a.index_ == b.index_; }
  friend bool operator!=(const ListIterator& a, const ListIterator& b) { return a.index_ != b.index_; }
  friend bool operator<(const ListIterator& a, const ListIterator& b) { return a.index_ < b.index_; }
  friend bool operator<=(const ListIterator& a, const ListIterator& b) { return a.index_ <= b.index_; }
  friend bool operator>(const ListIterator& a, const ListIterator& b) { return a.index_ > b.index_; }
  friend bool operator>=(const ListIterator& a, const ListIterator& b) { return a.index_ >= b.index_; }

 private:
  guardfix::Object list_;
  difference_type index_ = 0;
};

template <typename T>
class List final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = ListIterator<T>;
  using reverse_iterator = std::reverse_iterator<iterator>;

  List() : List(std::initializer_list<T>{}) {}
  List(std::initializer_list<T> values) : object_(IValue::list(std::vector<T>(values))) {}
  /// With the type of its elements, known only at run time.
  explicit List(const TypePtr&) : List() {
    static_assert(std::is_same_v<T, IValue>, "the type of the elements is given by the template argument");
  }
  explicit List(ArrayRef<T> values) : object_(IValue::list(values.vec())) {}
  explicit List(guardfix::Object list) : object_(std::move(list)) {}
  // One that was moved from is still a list: moving copies the reference.
  List(const List&) = default;
  List& operator=(const List&) = default;

  size_t size() const {
    const guardfix::Gil gil;
    return static_cast<size_t>(PyList_GET_SIZE(object_.get()));
  }
  bool empty() const { return size() == 0; }
  T get(size_t index) const {
    expect_index(index);
    const guardfix::Gil gil;
    return IValue(guardfix::Object::borrow(PyList_GET_ITEM(object_.get(), static_cast<Py_ssize_t>(index))))
        .template to<T>();
  }
  ListElement<T> operator[](size_t index) {
    expect_index(index);
    return ListElement<T>(*this, index);
  }
  T operator[](size_t index) const { return get(index); }
  T extract(size_t index) const { return get(index); }
  /// Before the place; gives the place of the new element.
  iterator insert(iterator place, const T& value) const {
    const IValue item(value);
    const guardfix::Gil gil;
    if (PyList_Insert(object_.get(), place - begin(), item.python()) < 0) guardfix::throw_python_error("insert");
    return place;
  }
  template <typename... Args>
  iterator emplace(iterator place, Args&&... args) const {
    return insert(place, T(std::forward<Args>(args)...));
  }
  iterator erase(iterator place) const { return erase(place, place + 1); }
  iterator erase(iterator first, iterator last) const {
    cut(static_cast<size_t>(first - begin()), static_cast<size_t>(last - begin()));
    return first;
  }
  void resize(size_t count) const { resize(count, T()); }
  void resize(size_t count, const T& value) const {
    if (count < size()) return cut(count, size());
    while (size() < count) push_back(value);
  }
  /// Whether both are one list.
  bool is(const List& other) const { return object_.get() == other.object_.get(); }
  friend bool operator==(const List& a, const List& b) {
    if (a.is(b)) return true;
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!IValue(a.get(i)).equals(IValue(b.get(i)))) return false;
    return true;
  }
  friend bool operator!=(const List& a, const List& b) { return !(a == b); }
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
    expect_index(index);
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
  iterator begin() const { return iterator(object_, 0); }
  iterator end() const { return iterator(object_, static_cast<std::ptrdiff_t>(size())); }
  const guardfix::Object& object() const { return object_; }

 private:
  void expect_index(size_t index) const {
    if (index >= size()) throw std::out_of_range(str("list index out of range: ", index, " of ", size()));
  }
  void cut(size_t from, size_t to) const {
    const guardfix::Gil gil;
    if (PyList_SetSlice(object_.get(), static_cast<Py_ssize_t>(from), static_cast<Py_ssize_t>(to), nullptr) < 0)
      guardfix::throw_python_error("erase");
  }
  std::vector<IValue> vec_of_values() const { return IValue(object_).elements(); }
  guardfix::Object object_;
};

namespace impl {
using GenericList = List<IValue>;
}  // namespace impl

}  // namespace c10

namespace at {

inline Tensor Tensor::index(const c10::List<std::optional<Tensor>>& indices) const {
  static const guardfix::Op op{"index"};
  return from_python(op({*this, indices.object()}));
}
inline Tensor& Tensor::index_put_(const c10::List<std::optional<Tensor>>& indices, const Tensor& values,
                                  bool accumulate) {
  static const guardfix::Op op{"index_put_"};
  op({*this, indices.object(), values, accumulate});
  return *this;
}

inline Tensor Tensor::index_put(const c10::List<std::optional<Tensor>>& indices, const Tensor& values,
                                bool accumulate) const {
  Tensor copy = clone();
  copy.index_put_(indices, values, accumulate);
  return copy;
}

}  // namespace at
