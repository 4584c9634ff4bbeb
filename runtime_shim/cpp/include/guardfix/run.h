// How a compiled program is entered.
#pragma once

#include <c10/util/Exception.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace guardfix {

/// What is told of an error of PyTorch's that ends the program, with what was printed of it.
inline void (*error_told)(const char*) = nullptr;
inline std::terminate_handler other_errors = nullptr;

extern "C" void guardfix_warn(const char*, unsigned, const char*);

/// Ends the program as C++ does, and says which functions were running.
[[noreturn]] inline void end_by_error() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const c10::Error& error) {
    std::string shown = std::string("terminate called after throwing an instance of 'c10::Error'\n  what():  ") +
                        error.what() + frames_of_program(last_error_frames, reinterpret_cast<void*>(&guardfix_warn));
    std::cout.flush();
    std::fflush(nullptr);
    std::fprintf(stderr, "%s\n", shown.c_str());
    error_told(shown.c_str());
    std::abort();
  } catch (...) {
  }
  if (other_errors != nullptr) other_errors();
  std::abort();
}

}  // namespace guardfix

/// Has somebody told of the error that ends the program.
extern "C" __attribute__((visibility("default"), used)) inline void guardfix_at_error(void (*told)(const char*)) {
  guardfix::error_told = told;
  guardfix::other_errors = std::set_terminate(guardfix::end_by_error);
}

/// Calls the program's main and writes out what it left in buffers. Exported for the side that loads the program.
/// An exception that main lets out ends the process here, with its message, as it does in any C++ program.
extern "C" __attribute__((visibility("default"), used)) inline int guardfix_run(int (*main_function)(int, char**),
                                                                              int argc, char** argv) noexcept {
  const int status = main_function(argc, argv);
  std::cout.flush();
  std::fflush(nullptr);
  return status;
}

/// Gives a warning of the Python side to the program's handler.
extern "C" __attribute__((visibility("default"), used)) inline void guardfix_warn(const char* file, unsigned line,
                                                                               const char* message) {
  c10::WarningUtils::get_warning_handler()->process(
      c10::Warning(c10::UserWarning(), {"torch", file, line}, std::string(message), false));
}
