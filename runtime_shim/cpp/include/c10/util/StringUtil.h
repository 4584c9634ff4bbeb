// c10::str, c10::Join: building text from printable values.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace c10 {

struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

/// The arguments as printed one after another.
template <typename... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  static_cast<void>((out << ... << parts));
  return out.str();
}
inline std::string str() { return {}; }
inline std::string str(const char* text) { return text; }
inline const std::string& str(const std::string& text) { return text; }

/// The elements of `container` as printed, with `separator` between them.
template <class Container>
std::string Join(const std::string& separator, const Container& container) {
  std::ostringstream out;
  bool first = true;
  for (const auto& element : container) {
    if (!first) out << separator;
    first = false;
    out << element;
  }
  return out.str();
}

}  // namespace c10
