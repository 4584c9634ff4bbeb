// How a compiled program is entered.
#pragma once

#include <c10/util/Exception.h>

#include <cstdio>
#include <exception>
#include <iostream>

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
