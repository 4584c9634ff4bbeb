// Checks that say both values, and marks for statistics of PyTorch's own, which mean nothing here.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <ostream>
#include <sstream>

#define C10_LOG_API_USAGE_ONCE(...) [[maybe_unused]] static const bool C10_ANONYMOUS_VARIABLE(used_once) = true;
#define C10_LOG_EVENT_SAMPLED(...)

namespace c10::detail {

/// Collects what is said of a check that failed, and throws it as an Error when the statement ends.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line) : file_(file), line_(line) {}
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  ~CheckFailure() noexcept(false) { throw Error(SourceLocation{"", file_, static_cast<uint32_t>(line_)}, said_.str()); }
  std::ostream& stream() { return said_; }

 private:
  const char* file_;
  int line_;
  std::ostringstream said_;
};

}  // namespace c10::detail

// `TORCH_CHECK_EQ(a, b) << "why"`: an Error that has both values when they are not as they should be.
#define TORCH_CHECK_OP(a, b, op)                                                                      \
  if ((a)op(b)) {                                                                                     \
  } else                                                                                              \
    ::c10::detail::CheckFailure(__FILE__, __LINE__).stream()                                          \
        << "Check failed: " #a " " #op " " #b " (" << (a) << " vs. " << (b) << "). "
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK_OP(a, b, >)
#ifndef CHECK
#define CHECK(condition) TORCH_CHECK_OP(static_cast<bool>(condition), true, ==)
#define CHECK_EQ(a, b) TORCH_CHECK_EQ(a, b)
#define CHECK_NE(a, b) TORCH_CHECK_NE(a, b)
#define CHECK_LE(a, b) TORCH_CHECK_LE(a, b)
#define CHECK_LT(a, b) TORCH_CHECK_LT(a, b)
#define CHECK_GE(a, b) TORCH_CHECK_GE(a, b)
#define CHECK_GT(a, b) TORCH_CHECK_GT(a, b)
#endif
