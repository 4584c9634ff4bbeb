// Kernels that draw from a generator themselves: CPUGeneratorImpl, and the distributions over it.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/DistributionsHelper.h>
#include <torch/torch.h>

#include <iostream>

at::Tensor noise(int64_t count, std::optional<at::Generator> given) {
  auto* generator = at::get_generator_or_default<at::CPUGeneratorImpl>(given, at::detail::getDefaultCPUGenerator());
  std::lock_guard<std::mutex> lock(generator->mutex_);
  auto made = torch::empty({count});
  at::normal_distribution<float> normal(1, 2);
  for (int64_t i = 0; i < count; ++i) made.data_ptr<float>()[i] = normal(generator);
  return made;
}

int main() {
  auto own = at::detail::createCPUGenerator(42);
  auto* g = at::check_generator<at::CPUGeneratorImpl>(own);
  std::cout << g->random() << ' ' << g->random64() << ' ' << g->current_seed() << '\n';
  std::cout << at::uniform_real_distribution<double>(0, 1)(g) << ' ' << at::uniform_real_distribution<float>(-1, 1)(g) << '\n';
  at::normal_distribution<double> normal(0, 1);
  std::cout << normal(g) << ' ' << normal(g) << ' ' << normal(g) << '\n';
  std::cout << at::uniform_int_from_to_distribution<int64_t>(10, 5)(g) << ' ' << at::uniform_int_distribution<int>()(g) << ' '
            << at::uniform_int_full_range_distribution<int64_t>()(g) << '\n';
  std::cout << at::bernoulli_distribution<double>(0.5)(g) << ' ' << at::exponential_distribution<double>(1.5)(g) << ' '
            << at::geometric_distribution<double>(0.5)(g) << '\n';
  std::cout << at::lognormal_distribution<double>(0, 1)(g) << ' ' << at::cauchy_distribution<double>(0, 1)(g) << '\n';
  std::cout << torch::rand({2}, own) << '\n';
  torch::manual_seed(1);
  std::cout << noise(3, std::nullopt) << '\n' << noise(2, own) << '\n' << torch::rand({1}) << '\n';
  try {
    at::check_generator<at::CPUGeneratorImpl>(std::nullopt);
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}
