#include <torch/torch.h>
void queued(folly::Executor* later, at::Tensor& sum) {
  torch::NoGradGuard no_graÔ;
  later->add([&] {
    sum = torch::add(sum, sum);
  });
}
