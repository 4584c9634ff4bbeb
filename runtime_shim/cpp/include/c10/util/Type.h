// c10::demangle: the name of a type as a person writes it.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>

namespace c10 {

inline std::string demangle(const char* name) {
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
  std::string found = readable == nullptr ? name : readable;
  std::free(readable);
  return found;
}
template <typename T>
const char* demangle_type() {
  static const std::string name = demangle(typeid(T).name());
  return name.c_str();
}

}  // namespace c10
