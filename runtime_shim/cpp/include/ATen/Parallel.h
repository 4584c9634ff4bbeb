// at::parallel_for and the number of threads it uses. Each body starts with the default thread state: no guard
// of the calling thread is in force there, as in PyTorch.
#pragma once

#include <guardfix/python.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace at {

namespace detail {
inline std::atomic<int>& thread_count() {
  static std::atomic<int> count{static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  return count;
}
inline bool& in_parallel() {
  thread_local bool inside = false;
  return inside;
}
}  // namespace detail

inline int get_num_threads() { return detail::thread_count(); }
inline void set_num_threads(int count) { detail::thread_count() = std::max(1, count); }
inline int get_num_interop_threads() { return get_num_threads(); }
inline void init_num_threads() {}
inline bool in_parallel_region() { return detail::in_parallel(); }

/// Calls `f(begin, end)` for pieces of [begin, end) of at least `grain_size`. The first piece runs on the calling
/// thread, the others on threads of their own; the first exception is thrown when all are done.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  if (begin >= end) return;
  const int64_t pieces = std::min<int64_t>(get_num_threads(), (end - begin) / std::max<int64_t>(1, grain_size));
  if (pieces <= 1 || in_parallel_region()) {
    f(begin, end);
    return;
  }
  const int64_t size = (end - begin + pieces - 1) / pieces;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&](int64_t first) {
    detail::in_parallel() = true;
    try {
      f(first, std::min(end, first + size));
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
    detail::in_parallel() = false;
  };
  const guardfix::GilReleasedIfHeld released;  // the other threads' ops need it
  std::vector<std::thread> threads;
  for (int64_t first = begin + size; first < end; first += size) threads.emplace_back(run, first);
  run(begin);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace at
