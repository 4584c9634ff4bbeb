// Warnings go to the handler of the thread; a warning of the once kind comes once, unless always is asked for.
#include <torch/torch.h>

#include <iostream>

struct Collect : public c10::WarningHandler {
  void process(const c10::Warning& warning) override { std::cout << "[" << warning.msg() << "]\n"; }
};

void once() { TORCH_WARN_ONCE("once ", 1); }

int main() {
  Collect collect;
  c10::WarningUtils::WarningHandlerGuard guard(&collect);
  TORCH_WARN("plain ", 2);
  once();
  once();
  {
    c10::WarningUtils::WarnAlways always(true);
    once();
  }
  std::cout << c10::WarningUtils::get_warnAlways() << (c10::WarningUtils::get_warning_handler() == &collect) << "\n";
  { at::AutoNonVariableTypeMode old; }
  { at::AutoNonVariableTypeMode old; }
  const auto y = torch::ones({1}, torch::requires_grad()) * 2;
  std::cout << y.grad().defined() << "\n";
  try {
    at::AutoNonVariableTypeMode never(false);
  } catch (const c10::Error& e) {
    std::cout << std::string(e.what_without_backtrace()).substr(0, 29) << "\n";
  }
  std::cout << (torch::ones({1}, torch::requires_grad()) * 2).requires_grad() << "\n";
}
