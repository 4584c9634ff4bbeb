// OpenMP regions and the interpreter's lock. A function that Python calls holds the lock; the other threads of a region
// need it for each op, and the thread that started the region waits for them: for ever, unless it lets go of the lock.
// GCC turns each region into a call of the functions below; those here stand before the ones of libgomp.
#pragma once

#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)

#include <guardfix/python.h>

#include <dlfcn.h>

namespace guardfix {

/// The function of libgomp of this name.
template <typename Function>
Function of_libgomp(const char* name) {
  static void* const library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(library == nullptr ? nullptr : dlsym(library, name));
}

}  // namespace guardfix

#define GUARDFIX_OPENMP_REGION(result, name, parameters, arguments)                                \
  extern "C" __attribute__((visibility("hidden"), used)) inline result name parameters {           \
    static const auto region = ::guardfix::of_libgomp<result(*) parameters>(#name);                \
    const ::guardfix::GilReleasedIfHeld released;                                                  \
    return region arguments;                                                                       \
  }
#define GUARDFIX_OPENMP_LOOP(name)                                                                               \
  GUARDFIX_OPENMP_REGION(void, name,                                                                             \
                         (void (*body)(void*), void* data, unsigned threads, long start, long end, long step,    \
                          long chunk, unsigned flags),                                                           \
                         (body, data, threads, start, end, step, chunk, flags))
#define GUARDFIX_OPENMP_LOOP_WITHOUT_CHUNK(name)                                                                 \
  GUARDFIX_OPENMP_REGION(void, name,                                                                             \
                         (void (*body)(void*), void* data, unsigned threads, long start, long end, long step,    \
                          unsigned flags),                                                                       \
                         (body, data, threads, start, end, step, flags))

GUARDFIX_OPENMP_REGION(void, GOMP_parallel, (void (*body)(void*), void* data, unsigned threads, unsigned flags),
                       (body, data, threads, flags))
GUARDFIX_OPENMP_REGION(unsigned, GOMP_parallel_reductions,
                       (void (*body)(void*), void* data, unsigned threads, unsigned flags),
                       (body, data, threads, flags))
GUARDFIX_OPENMP_REGION(void, GOMP_parallel_sections,
                       (void (*body)(void*), void* data, unsigned threads, unsigned count, unsigned flags),
                       (body, data, threads, count, flags))
GUARDFIX_OPENMP_LOOP(GOMP_parallel_loop_static)
GUARDFIX_OPENMP_LOOP(GOMP_parallel_loop_dynamic)
GUARDFIX_OPENMP_LOOP(GOMP_parallel_loop_guided)
GUARDFIX_OPENMP_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
GUARDFIX_OPENMP_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
GUARDFIX_OPENMP_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_runtime)
GUARDFIX_OPENMP_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_nonmonotonic_runtime)
GUARDFIX_OPENMP_LOOP_WITHOUT_CHUNK(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#undef GUARDFIX_OPENMP_LOOP_WITHOUT_CHUNK
#undef GUARDFIX_OPENMP_LOOP
#undef GUARDFIX_OPENMP_REGION

#endif
