// c10::TensorOptions: what a factory makes, as in torch::ones({2, 3}, torch::dtype(torch::kLong)).
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

#include <type_traits>
#include <utility>

namespace c10 {

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType type) : dtype_(type) {}
  TensorOptions(caffe2::TypeMeta type) : dtype_(type.toScalarType()) {}
  TensorOptions(Layout layout) : layout_(layout) {}
  TensorOptions(MemoryFormat format) : memory_format_(format) {}
  /// From anything that names a device: Device, DeviceType, "cpu", {kCUDA, 1}.
  template <typename... Args, typename = std::enable_if_t<std::is_constructible_v<Device, Args&&...>>>
  TensorOptions(Args&&... device) : device_(Device(std::forward<Args>(device)...)) {}

  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> type) const {
    TensorOptions r = *this;
    r.dtype_ = type;
    return r;
  }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta type) const { return dtype(type.toScalarType()); }
  template <typename T>
  TensorOptions& dtype() {
    dtype_ = CppTypeToScalarType<T>::value;
    return *this;
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
    TensorOptions r = *this;
    r.device_ = device;
    return r;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> layout) const {
    TensorOptions r = *this;
    r.layout_ = layout;
    return r;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> requires_grad) const {
    TensorOptions r = *this;
    r.requires_grad_ = requires_grad;
    return r;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> format) const {
    TensorOptions r = *this;
    r.memory_format_ = format;
    return r;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool>) const { return *this; }

  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(dtype_.value_or(ScalarType::Float)); }
  Device device() const { return device_.value_or(Device(DeviceType::CPU)); }
  Layout layout() const { return layout_.value_or(Layout::Strided); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  bool has_layout() const { return layout_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<Layout> layout_opt() const { return layout_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }

  /// Refuse a layout that the shim has no tensors of.
  void check_strided() const {
    TORCH_CHECK_NOT_IMPLEMENTED(layout() == Layout::Strided, "the shim has no tensors of layout ", layout());
  }
  void check_records_nothing() const {
    TORCH_CHECK(!requires_grad(),
                "Operators taking TensorOptions cannot take a TensorOptions with options.requires_grad set as true. This "
                "isn't implemented yet.");
  }

  /// These options with those that `other` sets put over them.
  TensorOptions merge_in(const TensorOptions& other) const {
    TensorOptions r = *this;
    if (other.dtype_) r.dtype_ = other.dtype_;
    if (other.device_) r.device_ = other.device_;
    if (other.layout_) r.layout_ = other.layout_;
    if (other.requires_grad_) r.requires_grad_ = other.requires_grad_;
    if (other.memory_format_) r.memory_format_ = other.memory_format_;
    return r;
  }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_;
  std::optional<MemoryFormat> memory_format_;
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions().dtype(type); }
inline TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions().dtype(type); }
template <typename T>
TensorOptions dtype() {
  return TensorOptions().dtype(CppTypeToScalarType<T>::value);
}
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions layout(Layout layout) { return TensorOptions().layout(layout); }
inline TensorOptions requires_grad(bool requires_grad = true) { return TensorOptions().requires_grad(requires_grad); }
inline TensorOptions memory_format(MemoryFormat format) { return TensorOptions().memory_format(format); }

inline std::ostream& operator<<(std::ostream& out, const TensorOptions& o) {
  const auto set = [](bool given) { return given ? "" : " (default)"; };
  out << std::boolalpha << "TensorOptions(dtype=" << o.dtype() << set(o.has_dtype()) << ", device=" << o.device()
      << set(o.has_device()) << ", layout=" << o.layout() << set(o.has_layout())
      << ", requires_grad=" << o.requires_grad() << set(o.has_requires_grad())
      << ", pinned_memory=false (default), memory_format=";
  if (o.memory_format_opt()) return out << *o.memory_format_opt() << ')';
  return out << "(nullopt))";
}

}  // namespace c10
