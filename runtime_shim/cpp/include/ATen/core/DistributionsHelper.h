// Distributions that a kernel draws from by itself: `at::normal_distribution<double> normal(0, 1); normal(generator)`.
// They take PyTorch's number of bits in PyTorch's order, so that a seed gives the same numbers.
#pragma once

#include <ATen/Functions.h>

#include <cmath>
#include <limits>
#include <type_traits>

namespace at {

/// Numbers of reduced precision are computed as float.
template <typename T>
using dist_acctype = std::conditional_t<std::is_same_v<T, double>, double, float>;

namespace detail {
constexpr uint64_t kFrom64Bits = uint64_t(1) << 28;
/// A number in [from, to) of as many random bits as `T` has digits.
template <typename T, typename RNG>
dist_acctype<T> draw_uniform(RNG* generator, T from, T to) {
  using Real = dist_acctype<T>;
  constexpr int digits = std::numeric_limits<T>::digits;
  const uint64_t bits = std::is_same_v<T, double> ? generator->random64() : generator->random();
  const Real unit = static_cast<Real>(bits & ((uint64_t(1) << digits) - 1)) * std::ldexp(Real(1), -digits);
  return unit * (to - from) + from;
}
}  // namespace detail

/// Integers in [base, base + range).
template <typename T>
struct uniform_int_from_to_distribution {
  uniform_int_from_to_distribution(uint64_t range, int64_t base) : range_(range), base_(base) {}
  template <typename RNG>
  T operator()(RNG* generator) const {
    const uint64_t bits = range_ >= detail::kFrom64Bits ? generator->random64() : generator->random();
    return static_cast<T>(static_cast<int64_t>(bits % range_ + base_));
  }

 private:
  uint64_t range_;
  int64_t base_;
};

/// All integers of 64 bits.
template <typename T>
struct uniform_int_full_range_distribution {
  template <typename RNG>
  T operator()(RNG* generator) const {
    return static_cast<T>(static_cast<int64_t>(generator->random64()));
  }
};

/// Integers from 0 to the largest that `T` has, or has exactly.
template <typename T>
struct uniform_int_distribution {
  template <typename RNG>
  T operator()(RNG* generator) const {
    const uint64_t bits = std::is_same_v<T, double> || std::is_same_v<T, int64_t> ? generator->random64()
                                                                                  : generator->random();
    if constexpr (std::is_same_v<T, bool>)
      return static_cast<bool>(bits & 1);
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits % (static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1));
    else
      return static_cast<T>(bits % ((uint64_t(1) << std::numeric_limits<T>::digits) + 1));
  }
};

template <typename T>
struct uniform_real_distribution {
  uniform_real_distribution(T from, T to) : from_(from), to_(to) {
    TORCH_CHECK(from <= to, "Expected from <= to but got from > to");
    TORCH_CHECK(to - from <= std::numeric_limits<T>::max(), "Expected to - from <= the largest number of the type");
  }
  template <typename RNG>
  dist_acctype<T> operator()(RNG* generator) const {
    return detail::draw_uniform<T>(generator, from_, to_);
  }

 private:
  T from_, to_;
};

template <typename T>
struct normal_distribution {
  normal_distribution(T mean, T stdv) : mean_(mean), stdv_(stdv) {
    TORCH_CHECK(stdv >= 0, "stdv_in must be positive: ", stdv);
  }
  /// Numbers are made in pairs; the generator keeps the second.
  template <typename RNG>
  dist_acctype<T> operator()(RNG* generator) const {
    using Real = dist_acctype<T>;
    Real sample;
    if (const auto kept = take(generator)) {
      sample = *kept;
    } else {
      const Real angle = static_cast<Real>(2 * 3.14159265358979323846) * detail::draw_uniform<T>(generator, 0, 1);
      const Real radius = std::sqrt(Real(-2) * std::log1p(-detail::draw_uniform<T>(generator, 0, 1)));
      keep(generator, radius * std::sin(angle));
      sample = radius * std::cos(angle);
    }
    return sample * stdv_ + mean_;
  }

 private:
  template <typename RNG>
  static auto take(RNG* generator) {
    if constexpr (std::is_same_v<T, double>)
      return generator->next_double_normal_sample();
    else
      return generator->next_float_normal_sample();
  }
  template <typename RNG>
  static void keep(RNG* generator, dist_acctype<T> sample) {
    if constexpr (std::is_same_v<T, double>)
      generator->set_next_double_normal_sample(sample);
    else
      generator->set_next_float_normal_sample(sample);
  }

  T mean_, stdv_;
};

/// Ones and zeros: one with the probability `p`.
template <typename T>
struct bernoulli_distribution {
  explicit bernoulli_distribution(T p) : p_(p) { TORCH_CHECK(p >= 0 && p <= 1); }
  template <typename RNG>
  T operator()(RNG* generator) const {
    return detail::draw_uniform<T>(generator, 0, 1) < p_;
  }

 private:
  T p_;
};

/// How many tries it takes to succeed with the probability `p`.
template <typename T>
struct geometric_distribution {
  explicit geometric_distribution(T p) : p_(p) { TORCH_CHECK(p > 0 && p < 1); }
  template <typename RNG>
  T operator()(RNG* generator) const {
    return static_cast<T>(std::ceil(std::log(detail::draw_uniform<T>(generator, 0, 1)) / std::log1p(-p_)));
  }

 private:
  T p_;
};

template <typename T>
struct exponential_distribution {
  explicit exponential_distribution(T lambda) : lambda_(lambda) {}
  template <typename RNG>
  T operator()(RNG* generator) const {
    return T(-1) / lambda_ * std::log1p(-detail::draw_uniform<T>(generator, 0, 1));
  }

 private:
  T lambda_;
};

template <typename T>
struct cauchy_distribution {
  cauchy_distribution(T median, T sigma) : median_(median), sigma_(sigma) {}
  template <typename RNG>
  T operator()(RNG* generator) const {
    return median_ + sigma_ * std::tan(static_cast<T>(3.14159265358979323846) *
                                       (detail::draw_uniform<T>(generator, 0, 1) - T(0.5)));
  }

 private:
  T median_, sigma_;
};

template <typename T>
struct lognormal_distribution {
  lognormal_distribution(T mean, T stdv) : normal_(mean, stdv) { TORCH_CHECK(stdv > 0); }
  template <typename RNG>
  T operator()(RNG* generator) const {
    return std::exp(normal_(generator));
  }

 private:
  normal_distribution<T> normal_;
};

}  // namespace at
