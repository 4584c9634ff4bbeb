// c10::Dict<Key, Value>: a Python dictionary of one type of keys and one of values. Included by ATen/core/ivalue.h.
#pragma once

#include <ATen/core/ivalue.h>

#include <stdexcept>

namespace c10 {

template <typename Key, typename Value>
class Dict final {
 public:
  /// A key and its value, as iteration gives them.
  class Entry {
   public:
    Entry(Key key, Value value) : key_(std::move(key)), value_(std::move(value)) {}
    const Key& key() const { return key_; }
    const Value& value() const { return value_; }

   private:
    Key key_;
    Value value_;
  };

  /// Goes through the entries that there were when it was made.
  class iterator {
   public:
    explicit iterator(std::shared_ptr<const std::vector<Entry>> entries) : entries_(std::move(entries)) {}
    const Entry& operator*() const { return (*entries_)[next_]; }
    const Entry* operator->() const { return &**this; }
    iterator& operator++() {
      ++next_;
      return *this;
    }
    bool operator==(const iterator& other) const {
      return at_end() || other.at_end() ? at_end() == other.at_end() : next_ == other.next_;
    }
    bool operator!=(const iterator& other) const { return !(*this == other); }

   private:
    bool at_end() const { return entries_ == nullptr || next_ == entries_->size(); }
    std::shared_ptr<const std::vector<Entry>> entries_;
    size_t next_ = 0;
  };

  Dict() {
    const guardfix::Gil gil;
    object_ = guardfix::checked(PyDict_New(), "Dict");
  }
  /// With the types of its keys and values, known only at run time.
  Dict(const TypePtr&, const TypePtr&) : Dict() {
    static_assert(std::is_same_v<Key, IValue> && std::is_same_v<Value, IValue>,
                  "the types of keys and values are given by the template arguments");
  }
  explicit Dict(guardfix::Object dict) : object_(std::move(dict)) {}

  size_t size() const {
    const guardfix::Gil gil;
    return static_cast<size_t>(PyDict_Size(object_.get()));
  }
  bool empty() const { return size() == 0; }
  bool contains(const Key& key) const {
    const IValue k(key);
    const guardfix::Gil gil;
    return PyDict_Contains(object_.get(), k.python()) == 1;
  }
  Value at(const Key& key) const {
    const IValue k(key);
    const guardfix::Gil gil;
    PyObject* value = PyDict_GetItemWithError(object_.get(), k.python());
    if (value == nullptr) throw std::out_of_range("Argument passed to at() was not in the map.");
    return IValue(guardfix::Object::borrow(value)).to<Value>();
  }
  void insert_or_assign(const Key& key, const Value& value) const {
    const IValue k(key), v(value);
    const guardfix::Gil gil;
    if (PyDict_SetItem(object_.get(), k.python(), v.python()) < 0) guardfix::throw_python_error("insert_or_assign");
  }
  void insert(const Key& key, const Value& value) const {
    if (!contains(key)) insert_or_assign(key, value);
  }
  size_t erase(const Key& key) const {
    const IValue k(key);
    const guardfix::Gil gil;
    if (PyDict_Contains(object_.get(), k.python()) != 1) return 0;
    if (PyDict_DelItem(object_.get(), k.python()) < 0) guardfix::throw_python_error("erase");
    return 1;
  }
  void clear() const {
    const guardfix::Gil gil;
    PyDict_Clear(object_.get());
  }
  void reserve(size_t) const {}
  Dict copy() const {
    const guardfix::Gil gil;
    return Dict(guardfix::checked(PyDict_Copy(object_.get()), "copy"));
  }
  iterator find(const Key& key) const {
    const IValue k(key);
    iterator entry = begin();
    while (entry != end() && !k.equals(IValue(entry->key()))) ++entry;
    return entry;
  }
  std::vector<Entry> entries() const {
    const guardfix::Gil gil;
    std::vector<Entry> all;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object_.get(), &position, &key, &value) != 0)
      all.emplace_back(IValue(guardfix::Object::borrow(key)).to<Key>(),
                       IValue(guardfix::Object::borrow(value)).to<Value>());
    return all;
  }
  iterator begin() const { return iterator(std::make_shared<const std::vector<Entry>>(entries())); }
  iterator end() const { return iterator(nullptr); }
  const guardfix::Object& object() const { return object_; }

 private:
  guardfix::Object object_;
};

namespace impl {
using GenericDict = Dict<IValue, IValue>;
}  // namespace impl

}  // namespace c10
