// Memory layouts and formats. The shim's tensors are strided.
#pragma once

#include <cstdint>
#include <ostream>

namespace c10 {

enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  const char* const names[] = {"Strided", "Sparse", "SparseCsr", "Mkldnn"};
  return out << names[static_cast<int>(layout)];
}

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
inline std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  const char* const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(format)];
}

}  // namespace c10
