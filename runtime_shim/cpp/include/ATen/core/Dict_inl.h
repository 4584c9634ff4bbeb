// c10::Dict<Key, Value>: a Python dictionary of one type of keys and one of values. Included by ATen/core/ivalue.h.
#pragma once

#include <ATen/core/ivalue.h>

#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

namespace c10 {

template <typename Key, typename Value>
class Dict final {
 public:
  /// A key and its value, as iteration gives them.
  class Entry {
   public:
    Entry(Key key, Value value, guardfix::Object dict)
        : key_(std::move(key)), value_(std::move(value)), dict_(std::move(dict)) {}
    const Key& key() const { return key_; }
    const Value& value() const { return value_; }
    /// Changes the dictionary.
    void setValue(const Value& value) const {
      Dict(dict_).insert_or_assign(key_, value);
      value_ = value;
    }

   private:
    Key key_;
    mutable Value value_;
    guardfix::Object dict_;
  };

  /// Goes through the entries that there were when it was first looked at.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    explicit iterator(std::shared_ptr<const std::vector<Entry>> entries) : entries_(std::move(entries)) {}
    /// At a key of the dictionary.
    iterator(const Dict& dict, const Key& key) : dict_(dict.object_), key_(key) {}
    const Entry& operator*() const {
      look();
      return (*entries_)[next_];
    }
    const Entry* operator->() const { return &**this; }
    iterator& operator++() {
      look();
      ++next_;
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const {
      return at_end() || other.at_end() ? at_end() == other.at_end() : next_ == other.next_;
    }
    bool operator!=(const iterator& other) const { return !(*this == other); }

   private:
    bool at_end() const {
      look();
      return entries_ == nullptr || next_ == entries_->size();
    }
    /// Most iterators that `insert` gives are never looked at.
    void look() const {
      if (!key_.has_value()) return;
      const IValue key(*std::exchange(key_, std::nullopt));
      entries_ = std::make_shared<const std::vector<Entry>>(Dict(dict_).entries());
      while (next_ < entries_->size() && !key.equals(IValue((*entries_)[next_].key()))) ++next_;
    }
    mutable std::shared_ptr<const std::vector<Entry>> entries_;
    mutable size_t next_ = 0;
    guardfix::Object dict_;
    mutable std::optional<Key> key_;
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
  // One that was moved from is still a dictionary: moving copies the reference.
  Dict(const Dict&) = default;
  Dict& operator=(const Dict&) = default;

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
  /// Where the key is now, and whether it is new.
  std::pair<iterator, bool> insert_or_assign(const Key& key, const Value& value) const {
    const bool is_new = !contains(key);
    const IValue k(key), v(value);
    const guardfix::Gil gil;
    if (PyDict_SetItem(object_.get(), k.python(), v.python()) < 0) guardfix::throw_python_error("insert_or_assign");
    return {iterator(*this, key), is_new};
  }
  /// The same, but a key that is there keeps its value.
  std::pair<iterator, bool> insert(const Key& key, const Value& value) const {
    if (contains(key)) return {iterator(*this, key), false};
    return insert_or_assign(key, value);
  }
  void erase(const iterator& entry) const { erase(entry->key()); }
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
  iterator find(const Key& key) const { return contains(key) ? iterator(*this, key) : end(); }
  std::vector<Entry> entries() const {
    const guardfix::Gil gil;
    std::vector<Entry> all;
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object_.get(), &position, &key, &value) != 0)
      all.emplace_back(IValue(guardfix::Object::borrow(key)).to<Key>(),
                       IValue(guardfix::Object::borrow(value)).to<Value>(), object_);
    return all;
  }
  iterator begin() const { return iterator(std::make_shared<const std::vector<Entry>>(entries())); }
  iterator end() const { return iterator(nullptr); }
  /// Whether both are one dictionary.
  bool is(const Dict& other) const { return object_.get() == other.object_.get(); }
  /// Whether both have the same keys and values, in any order.
  friend bool operator==(const Dict& a, const Dict& b) {
    if (a.is(b)) return true;
    if (a.size() != b.size()) return false;
    for (const Entry& entry : a.entries()) {
      if (!b.contains(entry.key()) || !IValue(entry.value()).equals(IValue(b.at(entry.key())))) return false;
    }
    return true;
  }
  friend bool operator!=(const Dict& a, const Dict& b) { return !(a == b); }
  const guardfix::Object& object() const { return object_; }

 private:
  guardfix::Object object_;
};

template <typename Key, typename Value>
IValue::IValue(const std::unordered_map<Key, Value>& values) : IValue() {
  Dict<Key, Value> dict;
  for (const auto& [key, value] : values) dict.insert(key, value);
  *this = IValue(dict);
}

namespace impl {
using GenericDict = Dict<IValue, IValue>;
/// The same dictionary, with the types of its keys and values.
template <typename Key, typename Value>
Dict<Key, Value> toTypedDict(const GenericDict& dict) {
  return Dict<Key, Value>(dict.object());
}
}  // namespace impl

}  // namespace c10
