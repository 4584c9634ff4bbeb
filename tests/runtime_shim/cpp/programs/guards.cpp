// The thread state under each guard, and what each does to new tensors, views and versions.
#include <torch/torch.h>

#include <iostream>

void state(const char* where) {
  using namespace c10::impl;
  std::cout << where << ": inference " << c10::InferenceMode::is_enabled() << " grad " << c10::GradMode::is_enabled()
            << " autograd excluded " << tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset)
            << " ADInplaceOrView excluded " << tls_is_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView)
            << " included " << tls_is_dispatch_key_included(c10::DispatchKey::ADInplaceOrView);
  auto normal = torch::ones({2}, torch::requires_grad()).clone();
  const auto view = normal.view({2, 1});
  const auto version = normal.is_inference() ? -1 : normal._version();
  normal.mul_(1);
  std::cout << " new is inference " << normal.is_inference() << " recorded " << (normal * 2).requires_grad()
            << " view " << view.is_view() << " counted " << (normal.is_inference() ? -1 : normal._version() - version)
            << "\n";
}

int main() {
  state("none");
  {
    c10::InferenceMode guard;
    state("InferenceMode");
    {
      c10::InferenceMode off(false);
      state("InferenceMode(false) inside");
      torch::NoGradGuard no_grad;
      state("NoGradGuard inside");
    }
    torch::AutoGradMode grad(true);
    state("AutoGradMode(true) inside");
  }
  {
    torch::NoGradGuard no_grad;
    state("NoGradGuard");
    c10::InferenceMode off(false);
    state("InferenceMode(false) inside");
  }
  {
    at::AutoDispatchBelowAutograd guard;
    state("AutoDispatchBelowAutograd");
  }
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    state("AutoDispatchBelowADInplaceOrView");
  }
  {
    c10::impl::ExcludeDispatchKeyGuard guard(c10::autograd_dispatch_keyset);
    state("ExcludeDispatchKeyGuard(autograd)");
  }
  c10::GradMode::set_enabled(false);
  state("set_enabled(false)");
  c10::GradMode::set_enabled(true);
  state("none again");
}
