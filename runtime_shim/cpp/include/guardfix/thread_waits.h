// Waiting for threads, and the interpreter's lock. A function that a module binds holds the lock; threads that it waits
// for need it for each op: both would wait forever, unless the function lets go of the lock while it waits.
// The names by which a program waits are found here before those of the C++ library.
#pragma once

#include <future>
#include <mutex>
#include <thread>

#if defined(__GLIBCXX__) && defined(__linux__)

#include <guardfix/python.h>

#include <dlfcn.h>
#include <pthread.h>

namespace guardfix {

/// The function of this symbol that the module would call without this header.
template <typename Function>
Function next_function(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

/// Calls `wait` without the interpreter's lock.
template <typename Wait>
auto waiting(Wait&& wait) {
  if (!Py_IsInitialized()) return wait();
  const GilReleasedIfHeld released;
  return wait();
}

}  // namespace guardfix

#define GUARDFIX_WAIT(result, name, symbol, parameters, arguments)                                            \
  extern "C" __attribute__((visibility("hidden"), used)) inline result name parameters __asm__(symbol);       \
  extern "C" inline result name parameters {                                                                  \
    static const auto wait = ::guardfix::next_function<result(*) parameters>(symbol);                         \
    return ::guardfix::waiting([&] { return wait arguments; });                                               \
  }

// std::thread::join, std::condition_variable::wait, and what std::future waits with.
GUARDFIX_WAIT(void, guardfix_thread_join, "_ZNSt6thread4joinEv", (void* thread), (thread))
GUARDFIX_WAIT(void, guardfix_condition_wait, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
              (void* condition, void* lock), (condition, lock))
GUARDFIX_WAIT(bool, guardfix_future_wait,
              "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_"
              "IlS3_ILl1ELl1000000000EEEE",
              (void* state, unsigned* address, unsigned value, bool limited, long seconds, long nanoseconds),
              (state, address, value, limited, seconds, nanoseconds))
GUARDFIX_WAIT(bool, guardfix_future_wait_steady,
              "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEE"
              "NS2_IlS3_ILl1ELl1000000000EEEE",
              (void* state, unsigned* address, unsigned value, bool limited, long seconds, long nanoseconds),
              (state, address, value, limited, seconds, nanoseconds))
// Waiting for some time, and the C functions.
GUARDFIX_WAIT(int, guardfix_condition_clock_wait, "pthread_cond_clockwait",
              (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until),
              (condition, mutex, clock, until))
GUARDFIX_WAIT(int, guardfix_condition_timed_wait, "pthread_cond_timedwait",
              (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until), (condition, mutex, until))
GUARDFIX_WAIT(int, guardfix_pthread_join, "pthread_join", (pthread_t thread, void** result), (thread, result))

#undef GUARDFIX_WAIT

// A mutex is locked often, and most often free.
extern "C" __attribute__((visibility("hidden"), used)) inline int guardfix_mutex_lock(pthread_mutex_t* mutex) __asm__(
    "pthread_mutex_lock");
extern "C" inline int guardfix_mutex_lock(pthread_mutex_t* mutex) {
  static const auto lock = ::guardfix::next_function<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  if (pthread_mutex_trylock(mutex) == 0) return 0;
  return ::guardfix::waiting([&] { return lock(mutex); });
}

#endif
