// What torch::tensor takes: a number, or nested braces of numbers, or a list of numbers.
#pragma once

#include <ATen/Functions.h>

#include <initializer_list>
#include <vector>

namespace torch::detail {

class TensorDataContainer {
 public:
  TensorDataContainer() : kind_(Kind::init_list), sizes_({0}), type_(c10::ScalarType::Float) {}

  // One constructor for each element type, so that what is ambiguous with PyTorch (a long long) is so here.
#define TORCH_ONE_VALUE(type, name, python, printed) \
  TensorDataContainer(type value) : type_(c10::ScalarType::name), values_({c10::Scalar(value)}) {}
  AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(TORCH_ONE_VALUE)
#undef TORCH_ONE_VALUE

  TensorDataContainer(std::initializer_list<TensorDataContainer> rows) : kind_(Kind::init_list) {
    sizes_.push_back(static_cast<int64_t>(rows.size()));
    const TensorDataContainer* first = nullptr;
    for (const TensorDataContainer& row : rows) {
      if (first == nullptr) {
        first = &row;
        type_ = row.type_;
        sizes_.insert(sizes_.end(), row.sizes_.begin(), row.sizes_.end());
      }
      TORCH_CHECK(row.sizes_ == first->sizes_, "Expected all sub-lists to have sizes: ",
                  c10::Join(" ", first->sizes_), " (e.g. ", *first, "), but got sub-list ", row,
                  " with sizes: ", c10::Join(" ", row.sizes_));
      TORCH_CHECK(row.type_ == first->type_, "Expected all elements of the tensor to have the same scalar type: ",
                  first->type_, ", but got element of scalar type: ", row.type_);
      values_.insert(values_.end(), row.values_.begin(), row.values_.end());
    }
    if (first == nullptr) type_ = c10::ScalarType::Float;
  }

#define TORCH_LIST_OF_VALUES(type, name, python, printed)                                                      \
  TensorDataContainer(const std::vector<type>& values)                                                         \
      : kind_(Kind::tensor), sizes_({static_cast<int64_t>(values.size())}), type_(c10::ScalarType::name) {     \
    for (type value : values) values_.push_back(c10::Scalar(value));                                                   \
  }                                                                                                            \
  TensorDataContainer(c10::ArrayRef<type> values)                                                              \
      : kind_(Kind::tensor), sizes_({static_cast<int64_t>(values.size())}), type_(c10::ScalarType::name) {     \
    for (type value : values) values_.push_back(c10::Scalar(value));                                                   \
  }
  AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(TORCH_LIST_OF_VALUES)
#undef TORCH_LIST_OF_VALUES

  bool is_scalar() const { return kind_ == Kind::scalar; }
  bool is_init_list() const { return kind_ == Kind::init_list; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  const c10::IntArrayRef sizes() const { return sizes_; }
  c10::ScalarType scalar_type() const { return type_; }
  const c10::Scalar& scalar() const {
    TORCH_CHECK(is_scalar(), "Can only call `scalar()` on a TensorDataContainer that has `is_scalar() == true`");
    return values_[0];
  }
  /// The numbers of all rows, one after the other.
  const std::vector<c10::Scalar>& init_list() const {
    TORCH_CHECK(is_init_list(),
                "Can only call `init_list()` on a TensorDataContainer that has `is_init_list() == true`");
    return values_;
  }
  at::Tensor tensor() const {
    TORCH_CHECK(is_tensor(), "Can only call `tensor()` on a TensorDataContainer that has `is_tensor() == true`");
    return to_tensor(at::TensorOptions().dtype(type_));
  }
  /// With the type of the numbers themselves, and at least one dimension: what at::tensor gives.
  at::Tensor to_plain_tensor(const at::TensorOptions& options) const {
    const c10::ScalarType type = options.dtype_opt().value_or(type_);
    TORCH_CHECK_NOT_IMPLEMENTED(are_real_for(type), "\"tensor_cpu\" not implemented for '", type, "'");
    const at::Tensor made = to_tensor(options.has_dtype() ? options : options.dtype(type_));
    return sizes_.empty() ? made.reshape(1) : made;
  }

  at::Tensor to_tensor(at::TensorOptions options) const {
    static const guardfix::Hook make{"from_values"};
    std::optional<c10::ScalarType> type = options.dtype_opt();
    if (!type.has_value() && c10::isComplexType(type_)) {
      static const guardfix::Hook read{"default_dtype_name"};
      type = at::detail::scalar_type_named(read({})) == c10::kDouble ? c10::kComplexDouble : c10::kComplexFloat;
    } else if (!type.has_value() && !c10::isFloatingType(type_)) {
      type = c10::isIntegralType(type_, false) ? c10::kLong : type_;
    }
    if (type.has_value() && !are_real_for(*type))
      for (const c10::Scalar& value : values_) *type == c10::kFloat ? value.toFloat() : value.toDouble();  // or an error
    const guardfix::Gil gil;
    const guardfix::Object list = guardfix::list_of(values_.data(), values_.size(), guardfix::number);
    return at::Tensor::from_python(
        make({list, c10::IntArrayRef(sizes_), type, options.requires_grad(), is_init_list()}));
  }

  friend std::ostream& operator<<(std::ostream& out, const TensorDataContainer& container) {
    if (container.sizes_.empty()) return out << container.values_[0];
    size_t next = 0;
    container.print_rows(out, 0, next);
    return out;
  }

 private:
  enum class Kind : uint8_t { scalar, init_list, tensor };
  bool are_real_for(c10::ScalarType type) const { return !c10::isComplexType(type_) || c10::isComplexType(type); }
  void print_rows(std::ostream& out, size_t depth, size_t& next) const {
    out << '{';
    for (int64_t i = 0; i < sizes_[depth]; ++i) {
      if (i != 0) out << ", ";
      if (depth + 1 < sizes_.size()) {
        print_rows(out, depth + 1, next);
      } else {
        out << values_[next++];
      }
    }
    out << '}';
  }

  Kind kind_ = Kind::scalar;
  std::vector<int64_t> sizes_;
  c10::ScalarType type_ = c10::ScalarType::Undefined;
  std::vector<c10::Scalar> values_;
};

}  // namespace torch::detail

namespace at {

/// A tensor of the given values and of their own type: at::tensor(1.5) is Double, at::tensor({1, 2}) is Int.
inline Tensor tensor(const torch::detail::TensorDataContainer& values, const TensorOptions& options = {}) {
  return values.to_plain_tensor(options);
}

}  // namespace at
