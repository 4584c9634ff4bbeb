// Where an error was raised: the functions of the program that were running, as PyTorch's backtrace lists them.
#pragma once

#include <array>
#include <cstdlib>
#include <string>

#if __has_include(<execinfo.h>) && __has_include(<dlfcn.h>)
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#define GUARDFIX_HAS_FRAMES
#endif

namespace guardfix {

/// The return addresses at the last error of this thread: when a program ends by it, its stack has been unwound.
struct ErrorFrames {
  std::array<void*, 64> addresses;
  int count = 0;

  void take() {
#ifdef GUARDFIX_HAS_FRAMES
    count = ::backtrace(addresses.data(), static_cast<int>(addresses.size()));
#endif
  }
};

inline thread_local ErrorFrames last_error_frames;

/// The frames of the program that `inside` is in, without those of PyTorch's and C++'s own functions.
inline std::string frames_of_program(const ErrorFrames& frames, const void* inside) {
  std::string shown;
#ifdef GUARDFIX_HAS_FRAMES
  ::Dl_info program;
  if (::dladdr(inside, &program) == 0) return shown;
  for (int i = 0, number = 0; i < frames.count; ++i) {
    ::Dl_info found;
    if (::dladdr(frames.addresses[i], &found) == 0 || found.dli_sname == nullptr) continue;
    if (found.dli_fbase != program.dli_fbase) continue;
    int status = 0;
    char* plain = abi::__cxa_demangle(found.dli_sname, nullptr, nullptr, &status);
    std::string name = status == 0 ? plain : found.dli_sname;
    std::free(plain);
    const std::string function = name.substr(0, name.find('('));
    const std::string called = function.substr(function.rfind(' ') + 1);  // a template's name begins with its type
    bool own = called.rfind("guardfix", 0) != 0;
    for (const char* space : {"at::", "c10::", "torch::", "std::", "caffe2::", "__gnu_cxx::"}) {
      own = own && called.rfind(space, 0) != 0;
    }
    if (own) shown += "frame #" + std::to_string(number++) + ": " + name + "\n";
  }
#endif
  return shown;
}

}  // namespace guardfix
