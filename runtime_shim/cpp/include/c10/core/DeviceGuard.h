// c10::DeviceGuard: tensors are on the CPU alone, so that there is nothing to switch.
#pragma once

#include <c10/core/Device.h>
#include <c10/util/Exception.h>

#include <optional>

namespace c10 {

class DeviceGuard {
 public:
  DeviceGuard() = delete;
  explicit DeviceGuard(Device device) : device_(checked(device)) {}
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  void reset_device(Device device) { device_ = checked(device); }
  void set_index(DeviceIndex index) { device_.set_index(index); }
  Device original_device() const { return Device(kCPU); }
  Device current_device() const { return device_; }

 private:
  friend class OptionalDeviceGuard;
  static Device checked(Device device) {
    TORCH_CHECK_NOT_IMPLEMENTED(device.is_cpu(), "the shim has tensors on the CPU alone, and no device ", device);
    return device;
  }

  Device device_;
};

class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(Device device) { reset_device(device); }
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device.has_value()) reset_device(*device);
  }
  OptionalDeviceGuard(const OptionalDeviceGuard&) = delete;
  OptionalDeviceGuard& operator=(const OptionalDeviceGuard&) = delete;

  void reset_device(Device device) { device_ = DeviceGuard::checked(device); }
  std::optional<Device> original_device() const { return device_.has_value() ? std::optional(Device(kCPU)) : std::nullopt; }
  std::optional<Device> current_device() const { return device_; }

 private:
  std::optional<Device> device_;
};

}  // namespace c10
