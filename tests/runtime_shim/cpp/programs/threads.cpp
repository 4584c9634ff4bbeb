// Threads start with the default state, whatever the state of the thread that starts them.
#include <torch/torch.h>
#include <ATen/Parallel.h>

#include <atomic>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
  const auto shared = torch::ones({4}, torch::requires_grad());
  c10::InferenceMode guard;
  std::thread([&] {
    std::cout << c10::InferenceMode::is_enabled() << c10::GradMode::is_enabled() << torch::ones({1}).is_inference()
              << (shared * 2).requires_grad();
    c10::InferenceMode guard;
    std::cout << c10::InferenceMode::is_enabled() << torch::ones({1}).is_inference() << "\n";
  }).join();
  std::cout << c10::InferenceMode::is_enabled() << "\n";

  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&done, &shared, n] {
      torch::NoGradGuard no_grad;
      auto sum = torch::zeros({4});
      for (int i = 0; i < 50; ++i) sum += shared * n;
      if (!sum.requires_grad() && sum[0].item<float>() == 50.0f * static_cast<float>(n)) ++done;
    });
  for (auto& thread : threads) thread.join();
  std::cout << done << " threads agree\n";

  std::vector<int> seen(100, 0);
  at::parallel_for(0, 100, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)] += 1;
  });
  int total = 0;
  for (int n : seen) total += n;
  std::cout << total << "\n";
  try {
    at::parallel_for(0, 4, 1, [](int64_t, int64_t) { throw std::runtime_error("from a body"); });
  } catch (const std::runtime_error& e) {
    std::cout << e.what() << "\n";
  }
}
