// What torch::tensor takes: a number, or nested braces of numbers, or a list of numbers.
#pragma once

#include <ATen/Functions.h>

#include <initializer_list>
#include <vector>

namespace torch::detail {

class TensorDataContainer {
 public:
  TensorDataContainer() : sizes_({0}), type_(c10::ScalarType::Float) {}

  // One constructor for each element type, so that what is ambiguous with PyTorch (a long long) is so here.
#define TORCH_ONE_VALUE(type, name, python, printed) \
  TensorDataContainer(type value) : type_(c10::ScalarType::name), values_({c10::Scalar(value)}) {}
  AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(TORCH_ONE_VALUE)
#undef TORCH_ONE_VALUE

  TensorDataContainer(std::initializer_list<TensorDataContainer> rows) {
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
      : sizes_({static_cast<int64_t>(values.size())}), type_(c10::ScalarType::name) {                          \
    for (type value : values) values_.push_back(c10::Scalar(value));                                                   \
  }                                                                                                            \
  TensorDataContainer(c10::ArrayRef<type> values)                                                              \
      : sizes_({static_cast<int64_t>(values.size())}), type_(c10::ScalarType::name) {                          \
    for (type value : values) values_.push_back(c10::Scalar(value));                                                   \
  }
  AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(TORCH_LIST_OF_VALUES)
#undef TORCH_LIST_OF_VALUES

  at::Tensor to_tensor(at::TensorOptions options) const {
    static const guardfix::Hook make{"from_values"};
    std::optional<c10::ScalarType> type = options.dtype_opt();
    if (!type.has_value() && !c10::isFloatingType(type_)) type = c10::isIntegralType(type_, false) ? c10::kLong : type_;
    const guardfix::Gil gil;
    const guardfix::Object list = guardfix::list_of(values_.data(), values_.size(), guardfix::number);
    return at::Tensor::from_python(
        make({list, c10::IntArrayRef(sizes_), type, options.requires_grad()}));
  }

  friend std::ostream& operator<<(std::ostream& out, const TensorDataContainer& container) {
    if (container.sizes_.empty()) return out << container.values_[0];
    return out << "{" << c10::Join(", ", container.values_) << "}";
  }

 private:
  std::vector<int64_t> sizes_;
  c10::ScalarType type_ = c10::ScalarType::Undefined;
  std::vector<c10::Scalar> values_;
};

}  // namespace torch::detail
