// Options and states of optimizers list their fields once: TORCH_FIELDS(lr, momentum). Copies, comparison and archives
// follow from that.
#pragma once

#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace torch::optim::detail {

inline bool same(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || at::equal(a, b));
}
template <typename Sequence>
bool same_elements(const Sequence& a, const Sequence& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}
inline bool same(const std::deque<Tensor>& a, const std::deque<Tensor>& b) { return same_elements(a, b); }
inline bool same(const std::optional<std::vector<Tensor>>& a, const std::optional<std::vector<Tensor>>& b) {
  return a.has_value() == b.has_value() && (!a.has_value() || same_elements(*a, *b));
}
template <typename T>
bool same(const T& a, const T& b) {
  return a == b;
}

template <typename Sequence>
void write_tensors(serialize::OutputArchive& archive, const char* key, const Sequence& tensors) {
  serialize::OutputArchive nested;
  for (size_t i = 0; i < tensors.size(); ++i) nested.write(std::to_string(i), tensors[i]);
  archive.write(key, nested);
}
template <typename Sequence>
void read_tensors(serialize::InputArchive& archive, const char* key, Sequence& tensors) {
  serialize::InputArchive nested;
  archive.read(key, nested);
  tensors.clear();
  for (const std::string& name : nested.keys()) {
    Tensor tensor;
    nested.read(name, tensor);
    tensors.push_back(tensor);
  }
}

struct Writer {
  serialize::OutputArchive& archive;
  void operator()(const char* key, const Tensor& value) const { archive.write(key, value); }
  void operator()(const char* key, const std::deque<Tensor>& value) const { write_tensors(archive, key, value); }
  void operator()(const char* key, const std::optional<std::vector<Tensor>>& value) const {
    if (value.has_value()) write_tensors(archive, key, *value);
  }
  void operator()(const char* key, const std::tuple<double, double>& value) const {
    archive.write(key, c10::IValue(std::make_tuple(std::get<0>(value), std::get<1>(value))));
  }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& value) const {
    if (value.has_value()) archive.write(key, c10::IValue(*value));
  }
  template <typename T>
  void operator()(const char* key, const T& value) const {
    archive.write(key, c10::IValue(value));
  }
};

struct Reader {
  serialize::InputArchive& archive;
  void operator()(const char* key, Tensor& value) const {
    value = Tensor();
    archive.read(key, value);
  }
  void operator()(const char* key, std::deque<Tensor>& value) const { read_tensors(archive, key, value); }
  void operator()(const char* key, std::optional<std::vector<Tensor>>& value) const {
    value.reset();
    serialize::InputArchive nested;
    if (archive.try_read(key, nested)) read_tensors(archive, key, value.emplace());
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) const {
    c10::IValue found;
    value.reset();
    if (archive.try_read(key, found)) value = found.to<T>();
  }
  template <typename T>
  void operator()(const char* key, T& value) const {
    c10::IValue found;
    archive.read(key, found);
    value = found.to<T>();
  }
};

/// What follows from the fields of Derived; `Interface` declares it.
template <typename Derived, typename Interface>
class WithFields : public Interface {
 public:
  std::unique_ptr<Interface> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    visit(static_cast<Derived&>(*this), Reader{archive}, 0);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    visit(static_cast<Derived&>(const_cast<WithFields&>(*this)), Writer{archive}, 0);
  }
  friend bool operator==(const Derived& a, const Derived& b) {
    return const_cast<Derived&>(a).equals(const_cast<Derived&>(b));
  }
  friend bool operator!=(const Derived& a, const Derived& b) { return !(a == b); }

 private:
  template <typename T, typename Visitor>
  static auto visit(T& object, Visitor&& visitor, int) -> decltype(object.each_field(visitor)) {
    return object.each_field(visitor);
  }
  template <typename T, typename Visitor>
  static void visit(T&, Visitor&&, long) {
    TORCH_CHECK(false, "serialize() has not been overidden and implemented in this subclass: you must override it in "
                       "your subclass.");
  }
};

}  // namespace torch::optim::detail

#define TORCH_FIELD_1(what, a) what(a)
#define TORCH_FIELD_2(what, a, ...) what(a) TORCH_FIELD_1(what, __VA_ARGS__)
#define TORCH_FIELD_3(what, a, ...) what(a) TORCH_FIELD_2(what, __VA_ARGS__)
#define TORCH_FIELD_4(what, a, ...) what(a) TORCH_FIELD_3(what, __VA_ARGS__)
#define TORCH_FIELD_5(what, a, ...) what(a) TORCH_FIELD_4(what, __VA_ARGS__)
#define TORCH_FIELD_6(what, a, ...) what(a) TORCH_FIELD_5(what, __VA_ARGS__)
#define TORCH_FIELD_7(what, a, ...) what(a) TORCH_FIELD_6(what, __VA_ARGS__)
#define TORCH_FIELD_8(what, a, ...) what(a) TORCH_FIELD_7(what, __VA_ARGS__)
#define TORCH_FIELD_9(what, a, ...) what(a) TORCH_FIELD_8(what, __VA_ARGS__)
#define TORCH_FIELD_10(what, a, ...) what(a) TORCH_FIELD_9(what, __VA_ARGS__)
#define TORCH_FIELD_11(what, a, ...) what(a) TORCH_FIELD_10(what, __VA_ARGS__)
#define TORCH_CHOOSE_FIELDS(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, chosen, ...) chosen
#define TORCH_EACH_FIELD(what, ...)                                                                                  \
  TORCH_CHOOSE_FIELDS(__VA_ARGS__, TORCH_FIELD_11, TORCH_FIELD_10, TORCH_FIELD_9, TORCH_FIELD_8, TORCH_FIELD_7,      \
                      TORCH_FIELD_6, TORCH_FIELD_5, TORCH_FIELD_4, TORCH_FIELD_3, TORCH_FIELD_2, TORCH_FIELD_1)      \
  (what, __VA_ARGS__)
#define TORCH_VISIT_FIELD(name) visitor(#name, this->name());
#define TORCH_COMPARE_FIELD(name) &&::torch::optim::detail::same(this->name(), other.name())
/// In a class of options or states: the names of its TORCH_ARGs.
#define TORCH_FIELDS(Class, ...)                                    \
 public:                                                            \
  template <typename Visitor>                                       \
  void each_field(Visitor&& visitor) {                              \
    TORCH_EACH_FIELD(TORCH_VISIT_FIELD, __VA_ARGS__)                \
  }                                                                 \
  bool equals(Class& other) { return true TORCH_EACH_FIELD(TORCH_COMPARE_FIELD, __VA_ARGS__); }
