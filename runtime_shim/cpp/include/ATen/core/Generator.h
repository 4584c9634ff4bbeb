// at::Generator: a handle to a generator of the Python module, a stream of random numbers of its own.
#pragma once

#include <c10/core/Device.h>
#include <guardfix/call.h>

#include <mutex>

namespace at {

class Generator {
 public:
  Generator() = default;
  explicit Generator(guardfix::Object generator) : generator_(std::move(generator)) {}

  bool defined() const { return static_cast<bool>(generator_); }
  c10::Device device() const { return c10::Device(c10::kCPU); }
  bool operator==(const Generator& other) const { return generator_.get() == other.generator_.get(); }
  bool operator!=(const Generator& other) const { return !(*this == other); }

  void set_current_seed(uint64_t seed) const { method("manual_seed", "K", static_cast<unsigned long long>(seed)); }
  uint64_t current_seed() const { return number(method("initial_seed", nullptr)); }
  /// Seeds with a number that is chosen at random, and returns it.
  uint64_t seed() const { return number(method("seed", nullptr)); }
  /// For a lock around several draws. Each draw by itself is safe from any thread.
  std::mutex& mutex() const {
    static auto& lock = *new std::mutex();
    return lock;
  }

  /// What an op is given.
  operator PyObject*() const { return generator_.get(); }

 private:
  template <typename... Arguments>
  guardfix::Object method(const char* name, const char* format, Arguments... arguments) const {
    const guardfix::Gil gil;
    TORCH_CHECK(defined(), "the generator is undefined");
    return guardfix::checked(PyObject_CallMethod(generator_.get(), name, format, arguments...), name);
  }
  static uint64_t number(const guardfix::Object& value) {
    const guardfix::Gil gil;
    return PyLong_AsUnsignedLongLongMask(value.get());
  }

  guardfix::Object generator_;
};

/// The template argument of `at::make_generator` and `at::check_generator`.
using CPUGeneratorImpl = Generator;

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
