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
#include <type_traits>
#include <utility>
#include <vector>

namespace at {

namespace internal {
constexpr int64_t GRAIN_SIZE = 32768;
}

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
inline int& thread_number() {
  thread_local int number = 0;
  return number;
}
/// Which thread of the loop this is, from 0 on.
inline int get_thread_num() { return thread_number(); }
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
    thread_number() = static_cast<int>((first - begin) / size);
    try {
      f(first, std::min(end, first + size));
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
    detail::in_parallel() = false;
    thread_number() = 0;
  };
  const guardfix::GilReleasedIfHeld released;  // the other threads' ops need it
  std::vector<std::thread> threads;
  for (int64_t first = begin + size; first < end; first += size) threads.emplace_back(run, first);
  run(begin);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

template <typename T1, typename T2, typename = std::enable_if_t<std::is_integral_v<T1> && std::is_integral_v<T2>>>
int64_t divup(T1 x, T2 y) {
  return (static_cast<int64_t>(x) + static_cast<int64_t>(y) - 1) / static_cast<int64_t>(y);
}

/// `f(begin, end, identity)` for the pieces, their results combined in order.
template <class T, class F, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, const T& identity, const F& f, const Combine& combine) {
  if (begin >= end) return identity;
  std::mutex mutex;
  std::vector<std::pair<int64_t, T>> parts;
  parallel_for(begin, end, grain_size, [&](int64_t first, int64_t last) {
    T part = f(first, last, identity);
    const std::lock_guard<std::mutex> lock(mutex);
    parts.emplace_back(first, std::move(part));
  });
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  T result = identity;
  for (const auto& [first, part] : parts) result = combine(result, part);
  return result;
}

}  // namespace at
