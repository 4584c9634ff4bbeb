#pragma once

#include <cstdint>
#include <ostream>

namespace at {

/// The indices from `begin` up to and without `end`.
struct Range {
  Range(int64_t begin, int64_t end) : begin(begin), end(end) {}
  int64_t size() const { return end - begin; }
  Range operator/(int64_t divisor) const { return {begin / divisor, end / divisor}; }

  int64_t begin;
  int64_t end;
};
inline std::ostream& operator<<(std::ostream& out, const Range& range) {
  return out << "Range[" << range.begin << ", " << range.end << "]";
}

}  // namespace at
