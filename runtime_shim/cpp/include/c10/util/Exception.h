// Errors, checks and warnings: c10::Error, TORCH_CHECK, TORCH_INTERNAL_ASSERT, TORCH_WARN.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/StringUtil.h>
#include <guardfix/error_frames.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

using std::string;  // PyTorch has it in this namespace as well, and programs use it

/// What PyTorch's functions throw. `what()` names the place that raised it on a second line (PyTorch
/// has a backtrace there); `what_without_backtrace()` is the message alone.
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) { tell(); }
  Error(SourceLocation place, std::string message)
      : message_(std::move(message)),
        place_(str("\nException raised from ", place.function, " at ", place.file, ":", place.line,
                   " (most recent call first):\n")) {
    guardfix::last_error_frames.take();
    tell();
  }

  /// The message without what was added to it.
  const std::string& msg() const { return message_; }
  const std::vector<std::string>& context() const { return context_; }
  /// Says where the error came up, for whoever catches it after a `throw;`.
  void add_context(std::string context) {
    context_.push_back(std::move(context));
    tell();
  }
  const char* what() const noexcept override { return what_.c_str(); }
  virtual const char* what_without_backtrace() const noexcept { return told_.c_str(); }

 private:
  void tell() {
    told_ = message_;
    if (context_.size() == 1) {
      told_ += " (" + context_[0] + ")";
    } else {
      for (const std::string& line : context_) told_ += "\n  " + line;
    }
    what_ = told_ + place_;
  }

  std::string message_;
  std::string place_;
  std::vector<std::string> context_;
  std::string told_;
  std::string what_;
};

class IndexError : public Error {
  using Error::Error;
};
class ValueError : public Error {
  using Error::Error;
};
class TypeError : public Error {
  using Error::Error;
};
class NotImplementedError : public Error {
  using Error::Error;
};
class LinAlgError : public Error {
  using Error::Error;
};
class OutOfMemoryError : public Error {
  using Error::Error;
};

class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  /// Which of the two it is. (PyTorch has a std::variant, which costs each program 10 ms of compiling.)
  class warning_variant_t {
   public:
    warning_variant_t(UserWarning) {}
    warning_variant_t(DeprecationWarning) : deprecation_(true) {}
    bool is_deprecation() const { return deprecation_; }

   private:
    bool deprecation_ = false;
  };

  Warning(warning_variant_t type, const SourceLocation& source_location, std::string msg, bool verbatim)
      : type_(type), source_location_(source_location), msg_(std::move(msg)), verbatim_(verbatim) {}

  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return source_location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation source_location_;
  std::string msg_;
  bool verbatim_;
};

using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;

/// Receives every warning; the default prints to stderr.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) {
    const SourceLocation& place = warning.source_location();
    const std::string file = place.file;
    std::fprintf(stderr, "[W %s:%u] Warning: %s (function %s)\n", file.substr(file.rfind('/') + 1).c_str(),
                 place.line, warning.msg().c_str(), place.function);
  }
};

namespace WarningUtils {

namespace detail {
inline WarningHandler*& handler() {
  static WarningHandler print;
  thread_local WarningHandler* current = &print;
  return current;
}
inline std::atomic<bool>& warn_always() {
  static std::atomic<bool> value{false};
  return value;
}
}  // namespace detail

inline void set_warning_handler(WarningHandler* handler) noexcept { detail::handler() = handler; }
inline WarningHandler* get_warning_handler() noexcept { return detail::handler(); }
inline void set_warnAlways(bool setting) noexcept { detail::warn_always() = setting; }
inline bool get_warnAlways() noexcept { return detail::warn_always(); }

class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : previous_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard(WarningHandlerGuard&&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(WarningHandlerGuard&&) = delete;
  ~WarningHandlerGuard() { set_warning_handler(previous_); }

 private:
  WarningHandler* previous_;
};

/// While it lives, TORCH_WARN_ONCE warns each time.
struct WarnAlways {
  explicit WarnAlways(bool setting = true) : previous_(get_warnAlways()) { set_warnAlways(setting); }
  ~WarnAlways() { set_warnAlways(previous_); }

 private:
  bool previous_;
};

}  // namespace WarningUtils

inline void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

namespace detail {

[[noreturn]] inline void torchInternalAssertFail(SourceLocation place, const char* condition,
                                                 const std::string& message) {
  throw Error(place, str(condition, " INTERNAL ASSERT FAILED at \"", place.file, "\":", place.line,
                         ", please report a bug to PyTorch. ", message));
}

inline std::string check_message(const char* condition) {
  return str("Expected ", condition,
             " to be true, but got false.  (Could this error message be improved?  If so, please report an "
             "enhancement request to PyTorch.)");
}
template <typename... Parts>
std::string check_message(const char*, const Parts&... parts) {
  return str(parts...);
}

}  // namespace detail
}  // namespace c10

#define C10_HERE \
  ::c10::SourceLocation { __func__, __FILE__, static_cast<uint32_t>(__LINE__) }

#define C10_THROW_ERROR(type, message) throw ::c10::type(C10_HERE, message)

#define TORCH_CHECK_WITH(type, condition, ...)                                                      \
  if (C10_UNLIKELY(!(condition))) {                                                                 \
    C10_THROW_ERROR(type, ::c10::detail::check_message(#condition __VA_OPT__(, ) __VA_ARGS__));      \
  }
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK_WITH(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_WITH(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK_WITH(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ERROR(...) C10_THROW_ERROR(Error, ::c10::str(__VA_ARGS__))
#define AT_ASSERT(condition) TORCH_INTERNAL_ASSERT(condition)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(condition, ...)                                                        \
  if (C10_UNLIKELY(!(condition))) {                                                                  \
    ::c10::detail::torchInternalAssertFail(C10_HERE, #condition, ::c10::str(__VA_ARGS__));            \
  }
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define TORCH_WARN_WITH(type, ...) \
  ::c10::warn(::c10::Warning(::c10::type(), C10_HERE, ::c10::str(__VA_ARGS__), false))
#define TORCH_WARN(...) TORCH_WARN_WITH(UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(DeprecationWarning, __VA_ARGS__)

#define TORCH_WARN_ONCE(...)                                              \
  if (::c10::WarningUtils::get_warnAlways()) {                            \
    TORCH_WARN(__VA_ARGS__);                                              \
  } else {                                                                \
    [[maybe_unused]] static const bool warned_once = [&] {                \
      TORCH_WARN(__VA_ARGS__);                                            \
      return true;                                                        \
    }();                                                                  \
  }
