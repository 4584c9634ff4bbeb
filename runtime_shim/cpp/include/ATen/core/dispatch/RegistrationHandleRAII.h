// c10::RegistrationHandleRAII: what a registration made lasts as long as its handle.
#pragma once

#include <cstdint>
#include <utility>

namespace c10 {

class RegistrationHandleRAII final {
 public:
  using Undo = void (*)(void* what, uint64_t which);
  RegistrationHandleRAII(Undo undo, void* what, uint64_t which) : undo_(undo), what_(what), which_(which) {}
  RegistrationHandleRAII(RegistrationHandleRAII&& other) noexcept
      : undo_(std::exchange(other.undo_, nullptr)), what_(other.what_), which_(other.which_) {}
  RegistrationHandleRAII& operator=(RegistrationHandleRAII&& other) noexcept {
    std::swap(undo_, other.undo_);
    std::swap(what_, other.what_);
    std::swap(which_, other.which_);
    return *this;
  }
  ~RegistrationHandleRAII() {
    if (undo_ != nullptr) undo_(what_, which_);
  }

 private:
  Undo undo_;
  void* what_;
  uint64_t which_;
};

}  // namespace c10
