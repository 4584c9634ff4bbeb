// c10::Device. The shim computes on the CPU; other devices can be named, and naming one to an op is an error.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <string>

namespace c10 {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, FPGA = 7, XLA = 9, MPS = 13, Meta = 14, Lazy = 17, PrivateUse1 = 20 };
using DeviceIndex = int8_t;

constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;
constexpr DeviceType kLazy = DeviceType::Lazy;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  switch (type) {
    case DeviceType::CPU:
      return lower_case ? "cpu" : "CPU";
    case DeviceType::CUDA:
      return lower_case ? "cuda" : "CUDA";
    case DeviceType::XLA:
      return lower_case ? "xla" : "XLA";
    case DeviceType::MPS:
      return lower_case ? "mps" : "MPS";
    case DeviceType::Meta:
      return lower_case ? "meta" : "META";
    case DeviceType::FPGA:
      return lower_case ? "fpga" : "FPGA";
    case DeviceType::Lazy:
      return lower_case ? "lazy" : "LAZY";
    default:
      return lower_case ? "privateuseone" : "PRIVATEUSEONE";
  }
}
inline std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << DeviceTypeName(type, true); }

struct Device final {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  /// "cpu", "cuda", "cuda:1", …
  Device(const std::string& name) : type_(DeviceType::CPU) {
    const size_t colon = name.find(':');
    const std::string kind = name.substr(0, colon);
    bool known = false;
    for (DeviceType type : {DeviceType::CPU, DeviceType::CUDA, DeviceType::XLA, DeviceType::MPS, DeviceType::Meta})
      if (kind == DeviceTypeName(type, true)) {
        type_ = type;
        known = true;
      }
    TORCH_CHECK(known, "Invalid device string: '", name, "'");
    if (colon != std::string::npos) index_ = static_cast<DeviceIndex>(std::atoi(name.c_str() + colon + 1));
  }
  Device(const char* name) : Device(std::string(name)) {}

  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool has_index() const { return index_ != -1; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  std::string str() const {
    return DeviceTypeName(type_, true) + (has_index() ? ":" + std::to_string(index_) : std::string());
  }
  bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
  bool operator!=(const Device& other) const { return !(*this == other); }

 private:
  DeviceType type_;
  DeviceIndex index_ = -1;
};
inline std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

}  // namespace c10
