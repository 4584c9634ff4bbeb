// Going through several dimensions by one index, as loops over pieces of a tensor do.
#pragma once

#include <cstdint>
#include <utility>

namespace at::native {

template <typename T>
T data_index_init(T offset) {
  return offset;
}
/// Sets each `x` of `x, X, y, Y, …` to its index in an array of sizes X, Y, … at the offset.
template <typename T, typename... Args>
T data_index_init(T offset, T& x, const T& X, Args&&... args) {
  offset = data_index_init(offset, std::forward<Args>(args)...);
  x = offset % X;
  return offset / X;
}
inline bool data_index_step() { return true; }
/// Moves on by one; whether it was the last.
template <typename T, typename... Args>
bool data_index_step(T& x, const T& X, Args&&... args) {
  if (!data_index_step(std::forward<Args>(args)...)) return false;
  x = x + 1 == X ? 0 : x + 1;
  return x == 0;
}

}  // namespace at::native
