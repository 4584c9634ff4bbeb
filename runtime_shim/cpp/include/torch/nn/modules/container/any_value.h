// torch::nn::AnyValue: a value of any type that can be copied, as AnyModule passes it on.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <memory>
#include <string>
#include <typeinfo>

namespace torch::nn {

class AnyValue {
 public:
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, AnyValue>>>
  explicit AnyValue(T&& value)
      : type_(&typeid(std::decay_t<T>)), value_(std::make_shared<std::decay_t<T>>(std::forward<T>(value))) {}
  // A tensor is passed on as a tensor, whatever it came as.
  explicit AnyValue(const at::GradSlot& value) : AnyValue(at::Tensor(value)) {}

  /// Null when the value is of another type.
  template <typename T>
  T* try_get() {
    static_assert(!std::is_reference_v<T>, "AnyValue stores decayed types, you cannot cast it to a reference type");
    static_assert(!std::is_array_v<T>, "AnyValue stores decayed types, you must cast it to T* instead of T[]");
    return typeid(T) == *type_ ? static_cast<T*>(value_.get()) : nullptr;
  }
  template <typename T>
  T get() {
    if (T* value = try_get<T>()) return *value;
    TORCH_CHECK(false, "Attempted to cast AnyValue to ", c10::demangle(typeid(T).name()),
                ", but its actual type is ", c10::demangle(type_->name()));
  }
  const std::type_info& type_info() const noexcept { return *type_; }

 private:
  const std::type_info* type_;
  std::shared_ptr<void> value_;
};

}  // namespace torch::nn
