// torch::OrderedDict: entries with a key, in the order in which they were inserted. What a module keeps its parameters in.
#pragma once

#include <c10/util/Exception.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace torch {

/// Entries are looked for one after the other: a module has few. (A std::unordered_map costs each program 50 ms of
/// compiling.)
template <typename Key, typename Value>
class OrderedDict {
 public:
  /// A key with its value; stands for the value, as an iterator does.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` is what errors call a key, as in "Parameter".
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const noexcept { return key_description_; }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  void clear() { items_.clear(); }
  void reserve(size_t size) { items_.reserve(size); }

  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  const std::vector<Item>& items() const noexcept { return items_; }
  Item& front() { return at_index(0); }
  const Item& front() const { return items_.at(0); }
  Item& back() { return at_index(size() - 1); }
  const Item& back() const { return items_.at(size() - 1); }

  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }
  /// Null when the key is not there.
  Value* find(const Key& key) noexcept { return const_cast<Value*>(std::as_const(*this).find(key)); }
  const Value* find(const Key& key) const noexcept {
    for (const Item& item : items_)
      if (item.key() == key) return &item.value();
    return nullptr;
  }
  /// The value of a key; a c10::Error when it is not there.
  Value& operator[](const Key& key) { return const_cast<Value&>(std::as_const(*this)[key]); }
  const Value& operator[](const Key& key) const {
    if (const Value* value = find(key)) return *value;
    TORCH_CHECK(false, key_description_, " '", key, "' is not defined");
  }
  Item& operator[](size_t index) { return at_index(index); }
  const Item& operator[](size_t index) const { return const_cast<OrderedDict*>(this)->at_index(index); }

  /// The value as it is kept here; a c10::Error when the key is there already.
  Value& insert(Key key, Value value) {
    TORCH_CHECK(!contains(key), key_description_, " '", key, "' already defined");
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    for (auto item = items_.begin(); item != items_.end(); ++item) {
      if (item->key() != key) continue;
      items_.erase(item);
      return;
    }
    TORCH_CHECK(false, key_description_, " '", key, "' doesn't exist");
  }

  std::vector<Key> keys() const {
    std::vector<Key> keys;
    for (const Item& item : items_) keys.push_back(item.key());
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    for (const Item& item : items_) values.push_back(item.value());
    return values;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> pairs;
    for (const Item& item : items_) pairs.push_back(item.pair());
    return pairs;
  }

 private:
  Item& at_index(size_t index) {
    TORCH_CHECK(index < items_.size(), "Index ", index, " is out of bounds");
    return items_[index];
  }
  std::vector<Item> items_;
  std::string key_description_;
};

}  // namespace torch
