// at::Generator: a handle to a generator of the Python module, a stream of random numbers of its own.
#pragma once

#include <c10/core/Device.h>
#include <guardfix/call.h>

#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace at {

/// One stream of numbers, which are drawn and kept in Python: what `check_generator` gives a kernel that draws its own.
class CPUGeneratorImpl {
 public:
  explicit CPUGeneratorImpl(guardfix::Object generator) : generator_(std::move(generator)) {}

  static c10::DeviceType device_type() { return c10::kCPU; }
  c10::Device device() const { return c10::Device(c10::kCPU); }
  void set_current_seed(uint64_t seed) { method("manual_seed", "K", static_cast<unsigned long long>(seed)); }
  uint64_t current_seed() const { return number(method("initial_seed", nullptr)); }
  /// Seeds with a number that is chosen at random, and returns it.
  uint64_t seed() { return number(method("seed", nullptr)); }
  /// 32 and 64 random bits.
  uint32_t random() { return static_cast<uint32_t>(bits(32)); }
  uint64_t random64() { return bits(64); }
  /// The second number of a pair that was drawn for a normal distribution, once.
  std::optional<double> next_double_normal_sample() {
    static const guardfix::Hook take{"take_normal_sample"};
    const auto found = take({generator_.get()});
    const guardfix::Gil gil;
    if (found.get() == Py_None) return std::nullopt;
    return guardfix::as_real(found.get(), "next_double_normal_sample");
  }
  void set_next_double_normal_sample(std::optional<double> sample) {
    static const guardfix::Hook keep{"keep_normal_sample"};
    keep({generator_.get(), sample});
  }
  std::optional<float> next_float_normal_sample() { return std::exchange(next_float_, std::nullopt); }
  void set_next_float_normal_sample(std::optional<float> sample) { next_float_ = sample; }

  PyObject* python() const { return generator_.get(); }

 private:
  template <typename... Arguments>
  guardfix::Object method(const char* name, const char* format, Arguments... arguments) const {
    const guardfix::Gil gil;
    return guardfix::checked(PyObject_CallMethod(generator_.get(), name, format, arguments...), name);
  }
  static uint64_t number(const guardfix::Object& value) {
    const guardfix::Gil gil;
    return PyLong_AsUnsignedLongLongMask(value.get());
  }
  uint64_t bits(int64_t count) {
    static const guardfix::Hook draw{"random_bits"};
    return number(draw({generator_.get(), count}));
  }
  static std::mutex& shared_mutex() {
    static auto& lock = *new std::mutex();
    return lock;
  }

  guardfix::Object generator_;
  std::optional<float> next_float_;

 public:
  /// For a lock around several draws. Each draw by itself is safe from any thread.
  std::mutex& mutex_ = shared_mutex();
};

class Generator {
 public:
  Generator() = default;
  explicit Generator(guardfix::Object generator)
      : impl_(generator ? std::make_shared<CPUGeneratorImpl>(std::move(generator)) : nullptr) {}

  bool defined() const { return impl_ != nullptr; }
  c10::Device device() const { return c10::Device(c10::kCPU); }
  bool operator==(const Generator& other) const { return python() == other.python(); }
  bool operator!=(const Generator& other) const { return !(*this == other); }

  void set_current_seed(uint64_t seed) const { get()->set_current_seed(seed); }
  uint64_t current_seed() const { return get()->current_seed(); }
  uint64_t seed() const { return get()->seed(); }
  std::mutex& mutex() const { return get()->mutex_; }

  template <typename Kind = CPUGeneratorImpl>
  Kind* get() const {
    static_assert(std::is_same_v<Kind, CPUGeneratorImpl>, "there are generators of the CPU only");
    TORCH_CHECK(defined(), "the generator is undefined");
    return impl_.get();
  }
  CPUGeneratorImpl* unsafeGetGeneratorImpl() const { return impl_.get(); }

  /// What an op is given.
  operator PyObject*() const { return python(); }

 private:
  PyObject* python() const { return impl_ ? impl_->python() : nullptr; }

  std::shared_ptr<CPUGeneratorImpl> impl_;
};

template <typename Kind>
Kind* check_generator(const std::optional<Generator>& generator) {
  TORCH_CHECK(generator.has_value(), "Expected Generator but received nullopt");
  TORCH_CHECK(generator->defined(), "Generator with undefined implementation is not allowed");
  return generator->get<Kind>();
}
template <typename Kind>
Kind* get_generator_or_default(const std::optional<Generator>& generator, const Generator& default_generator) {
  return check_generator<Kind>(generator.has_value() && generator->defined() ? *generator : default_generator);
}

namespace detail {
/// The generator of draws that are given none.
inline const Generator& getDefaultCPUGenerator() {
  static const guardfix::Hook find{"default_generator"};
  static const auto& found = *new Generator(find({}));
  return found;
}
/// A new generator.
inline Generator createCPUGenerator(uint64_t seed = 67280421310721) {
  static const guardfix::Op make{"Generator", "function"};
  Generator made(make({}));
  made.set_current_seed(seed);
  return made;
}
}  // namespace detail

template <typename Kind>
Generator make_generator(uint64_t seed = 67280421310721) {
  static_assert(std::is_same_v<Kind, CPUGeneratorImpl>, "there are generators of the CPU only");
  return detail::createCPUGenerator(seed);
}

}  // namespace at
