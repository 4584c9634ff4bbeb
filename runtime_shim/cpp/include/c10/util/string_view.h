// c10::string_view, which is std's here.
#pragma once

#include <string_view>

namespace c10 {

using string_view = std::string_view;

constexpr bool string_view_starts_with(std::string_view text, std::string_view start) noexcept {
  return text.substr(0, start.size()) == start;
}
constexpr bool string_view_ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace c10
