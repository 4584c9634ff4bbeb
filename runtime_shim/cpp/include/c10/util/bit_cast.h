#pragma once

#include <cstring>
#include <type_traits>

namespace c10 {

/// The bits of `source` as another type of the same size.
template <typename To, typename From>
To bit_cast(const From& source) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> && std::is_trivially_copyable_v<To>);
  To result;
  std::memcpy(&result, &source, sizeof(To));
  return result;
}

}  // namespace c10
