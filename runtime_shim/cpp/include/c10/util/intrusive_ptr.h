// c10::intrusive_ptr: a pointer to an object that counts its owners itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace c10 {

/// The base of what an intrusive_ptr can point to.
class intrusive_ptr_target {
 public:
  intrusive_ptr_target() = default;
  intrusive_ptr_target(const intrusive_ptr_target&) {}
  intrusive_ptr_target& operator=(const intrusive_ptr_target&) { return *this; }
  virtual ~intrusive_ptr_target() = default;

 private:
  template <typename T>
  friend class intrusive_ptr;
  mutable std::atomic<size_t> owners_{0};
};

template <typename T>
class intrusive_ptr final {
 public:
  using element_type = T;

  intrusive_ptr() = default;
  intrusive_ptr(std::nullptr_t) {}
  intrusive_ptr(const intrusive_ptr& other) : target_(other.target_) { retain(); }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  template <typename Derived, typename = std::enable_if_t<std::is_convertible_v<Derived*, T*>>>
  intrusive_ptr(const intrusive_ptr<Derived>& other) : target_(other.get()) {
    retain();
  }
  ~intrusive_ptr() { reset(); }
  intrusive_ptr& operator=(intrusive_ptr other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }

  /// Owns a new object, or one more share of an old one.
  static intrusive_ptr reclaim_copy(T* target) {
    intrusive_ptr pointer;
    pointer.target_ = target;
    pointer.retain();
    return pointer;
  }
  template <typename... Args>
  static intrusive_ptr make(Args&&... args) {
    return reclaim_copy(new T(std::forward<Args>(args)...));
  }

  T* get() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  T* operator->() const noexcept { return target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }
  bool defined() const noexcept { return target_ != nullptr; }
  size_t use_count() const noexcept { return target_ == nullptr ? 0 : target_->owners_.load(); }
  bool unique() const noexcept { return use_count() == 1; }
  void reset() noexcept {
    if (T* target = std::exchange(target_, nullptr))
      if (target->owners_.fetch_sub(1) == 1) delete target;
  }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) { return a.target_ == b.target_; }
  friend bool operator!=(const intrusive_ptr& a, const intrusive_ptr& b) { return a.target_ != b.target_; }

 private:
  void retain() const noexcept {
    if (target_ != nullptr) target_->owners_.fetch_add(1);
  }
  T* target_ = nullptr;
};

template <typename T, typename... Args>
intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::make(std::forward<Args>(args)...);
}
template <typename To, typename From>
intrusive_ptr<To> dynamic_intrusive_pointer_cast(const intrusive_ptr<From>& pointer) {
  return intrusive_ptr<To>::reclaim_copy(dynamic_cast<To*>(pointer.get()));
}
template <typename To, typename From>
intrusive_ptr<To> static_intrusive_pointer_cast(const intrusive_ptr<From>& pointer) {
  return intrusive_ptr<To>::reclaim_copy(static_cast<To*>(pointer.get()));
}

}  // namespace c10
