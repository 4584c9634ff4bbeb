// c10::MaybeOwned: a value, or a reference to one that lives longer.
#pragma once

#include <c10/util/Exception.h>

#include <optional>
#include <utility>

namespace c10 {

template <typename T>
class MaybeOwned final {
 public:
  /// Borrows nothing yet.
  MaybeOwned() = default;
  static MaybeOwned borrowed(const T& value) {
    MaybeOwned result;
    result.borrowed_ = &value;
    return result;
  }
  static MaybeOwned owned(T&& value) {
    MaybeOwned result;
    result.owned_.emplace(std::move(value));
    return result;
  }
  template <typename... Args>
  static MaybeOwned owned(std::in_place_t, Args&&... args) {
    MaybeOwned result;
    result.owned_.emplace(std::forward<Args>(args)...);
    return result;
  }

  bool unsafeIsBorrowed() const { return !owned_.has_value(); }
  const T& operator*() const& {
    TORCH_INTERNAL_ASSERT(owned_.has_value() || borrowed_ != nullptr, "it holds nothing");
    return owned_.has_value() ? *owned_ : *borrowed_;
  }
  T operator*() && {
    if (owned_.has_value()) return std::move(*owned_);
    return *static_cast<const MaybeOwned&>(*this);
  }
  const T* operator->() const { return &static_cast<const T&>(**this); }

 private:
  std::optional<T> owned_;
  const T* borrowed_ = nullptr;
};

}  // namespace c10
