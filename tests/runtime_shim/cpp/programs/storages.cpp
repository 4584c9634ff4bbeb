// What a tensor takes over from another: its storage; and options that a factory refuses.
#include <ATen/ATen.h>
#include <torch/torch.h>

#include <iostream>

template <typename Call>
void show(const char* what, Call&& call) {
  try {
    call();
    std::cout << what << ": fine\n";
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::cout << what << ": " << text.substr(0, text.find('\n')).substr(0, 60) << "\n";
  }
}

void takes_a_storage() {
  at::Tensor source = at::arange(6, at::kFloat).view({2, 3});
  at::Tensor flat = torch::ones({});
  flat.set_(source.storage());
  std::cout << flat.sizes() << flat.strides() << " " << flat._version() << " " << flat.is_alias_of(source) << "\n";
  flat[5] = 50;
  std::cout << source[1][2].item<float>() << "\n";

  at::Tensor window = at::empty({0}, at::kFloat);
  window.set_(source.storage(), 1, {2, 2}, {3, 1});
  std::cout << window.sizes() << window.strides() << window.storage_offset() << " " << window.sum().item<float>()
            << "\n";
  at::Tensor dense = at::empty({0}, at::kFloat);
  dense.set_(source.storage(), 2, {2, 2});
  std::cout << dense.sizes() << dense.strides() << dense.storage_offset() << " " << dense.sum().item<float>() << "\n";
  at::Tensor row = source[1];
  at::Tensor all = at::empty({0}, at::kFloat);
  all.set_(row.storage());
  std::cout << all.sizes() << " " << row.storage().nbytes() << row.storage().is_alias_of(source.storage()) << "\n";
}

void keeps_a_storage() {
  const at::Storage kept = at::ones({3}).storage();  // the tensor is gone, its memory is not
  at::Tensor again = at::empty({0});
  again.set_(kept);
  std::cout << again.sizes() << again.sum().item<float>() << "\n";
}

void calls_functions() {
  const at::Tensor a = at::ones({2, 2}), b = at::full({2, 2}, 3.0);
  const auto loss = [](const at::Tensor& self, const at::Tensor& other, int64_t r) { return at::mse_loss(self, other, r); };
  std::cout << a.m(at::relu).m(loss, b, at::Reduction::Mean).item<float>() << "\n";
}

int main() {
  takes_a_storage();
  keeps_a_storage();
  calls_functions();
  const auto recording = at::TensorOptions().requires_grad(true);
  show("at::empty", [&] { at::empty({4}, recording); });
  show("at::zeros_like", [&] { at::zeros_like(at::ones({2}), recording); });
  show("at::ones", [&] { std::cout << at::ones({4}, recording).requires_grad() << " "; });
  show("at::empty without", [] { at::empty({4}, at::TensorOptions().requires_grad(false)); });
  show("at::empty strided", [] { at::empty({4}, at::TensorOptions().layout(at::kStrided)); });
  show("torch::empty", [&] { std::cout << torch::empty({4}, recording).requires_grad() << " "; });
  std::cout << at::globalContext().hasCUDA() << at::globalContext().hasMPS() << (&at::globalContext() == &at::globalContext())
            << "\n";
  const auto filled = torch::ones({2}, torch::kDouble).new_full({2}, 3, torch::requires_grad());
  std::cout << filled._version() << filled.requires_grad() << filled.is_leaf() << filled.dtype() << filled.sum().item<double>()
            << torch::ones({2}).new_full({1}, 3, torch::kLong).dtype() << "\n";
}
