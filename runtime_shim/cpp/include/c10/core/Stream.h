// c10::Stream: a queue of a device's work. The shim computes on the CPU, at once: its streams are always done.
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>

namespace c10 {

using StreamId = int64_t;

/// A stream in plain numbers, for Python and for other languages.
struct StreamData3 {
  StreamId stream_id;
  DeviceIndex device_index;
  DeviceType device_type;
};

class Stream final {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };

  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  explicit Stream(Default, Device device) : device_(device), id_(0) {}

  bool operator==(const Stream& other) const noexcept { return device_ == other.device_ && id_ == other.id_; }
  bool operator!=(const Stream& other) const noexcept { return !(*this == other); }

  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  DeviceIndex device_index() const noexcept { return device_.index(); }
  StreamId id() const noexcept { return id_; }

  template <typename Event>
  void wait(const Event& event) const {
    event.block(*this);
  }
  bool query() const {
    check_device();
    return true;
  }
  void synchronize() const { check_device(); }

  /// Type, index and id in 8, 8 and 48 bits.
  uint64_t hash() const noexcept {
    return static_cast<uint64_t>(device_type()) << 56 | static_cast<uint64_t>(device_index()) << 48 |
           (static_cast<uint64_t>(id_) & ((uint64_t{1} << 48) - 1));
  }
  StreamData3 pack3() const { return {id_, device_index(), device_type()}; }
  static Stream unpack3(StreamId id, DeviceIndex index, DeviceType type) {
    return Stream(UNSAFE, Device(type, index), id);
  }

 private:
  void check_device() const {
    TORCH_CHECK_NOT_IMPLEMENTED(device_.is_cpu(), "the shim has streams of the CPU alone, and none of ", device_);
  }

  Device device_;
  StreamId id_;
};

inline std::ostream& operator<<(std::ostream& out, const Stream& stream) {
  return out << "stream " << stream.id() << " on device " << stream.device();
}

}  // namespace c10

template <>
struct std::hash<c10::Stream> {
  size_t operator()(c10::Stream stream) const noexcept { return std::hash<uint64_t>{}(stream.hash()); }
};
