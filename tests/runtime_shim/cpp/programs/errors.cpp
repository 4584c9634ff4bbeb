// What is thrown, of which type, with which words.
#include <torch/torch.h>

#include <iostream>
#include <stdexcept>
#include <string>

template <class Action>
void attempt(const char* what, const Action& action) {
  std::cout << what << ": ";
  try {
    action();
    std::cout << "no error\n";
  } catch (const c10::IndexError& e) {
    std::cout << "IndexError " << e.what_without_backtrace() << "\n";
  } catch (const c10::NotImplementedError& e) {
    std::cout << "NotImplementedError " << e.what_without_backtrace() << "\n";
  } catch (const c10::Error& e) {
    std::cout << "Error " << e.what_without_backtrace() << "\n";
  } catch (const std::exception& e) {
    std::cout << "std::exception " << e.what() << "\n";
  }
}

int check(bool good) {
  TORCH_CHECK(good, "wanted good, got ", 3, " and ", 2.5);
  return 1;
}

int main() {
  const auto vector = torch::ones({2});
  const auto leaf = torch::ones({2}, torch::requires_grad());
  attempt("check", [] { check(true); });
  attempt("failed check", [] { check(false); });
  attempt("check without words", [] { TORCH_CHECK(1 == 2); });
  attempt("index check", [] { TORCH_CHECK_INDEX(false, "at ", 5); });
  attempt("shapes", [&] { torch::ones({2, 3}) + torch::ones({4}); });
  attempt("index", [&] { vector[5]; });
  attempt("item of two", [&] { vector.item<float>(); });
  attempt("wrong element type", [&] { vector.data_ptr<double>(); });
  attempt("wrong number of dimensions", [&] { vector.accessor<float, 2>(); });
  attempt("undefined", [] { torch::Tensor().add(1); });
  attempt("in place on a leaf", [&] { torch::Tensor(leaf).add_(1); });
  attempt("not a scalar", [&] { (leaf * leaf).backward(); });
  attempt("no grad_fn", [&] { vector.sum().backward(); });
  attempt("twice", [&] {
    const auto y = (leaf * leaf).sum();
    y.backward();
    y.backward();
  });
  attempt("requires_grad of at::", [] { at::ones({2}, torch::requires_grad()); });
  attempt("IValue", [] { torch::IValue(3).toTensor(); });
  attempt("ragged", [] { torch::tensor({{1, 2}, {3}}); });
  attempt("mixed", [] { torch::tensor({torch::detail::TensorDataContainer(1), torch::detail::TensorDataContainer(2.5)}); });
  attempt("thrown by a hook", [&] {
    const auto y = leaf * 2;
    y.register_hook([](torch::Tensor) -> torch::Tensor { throw std::out_of_range("mine"); });
    y.sum().backward();
  });
  const c10::Error error(c10::SourceLocation{"f", "file.cpp", 7}, "message");
  std::cout << error.what_without_backtrace() << "|" << error.msg() << "|"
            << (std::string(error.what()).rfind("message\nException raised from f at file.cpp:7", 0) == 0) << "\n";
  try {
    TORCH_CHECK_LE(3, 2) << "more";
  } catch (const c10::Error& failed) {
    std::cout << (std::string(failed.what()).find("Check failed: 3 <= 2 (3 vs. 2). more") != std::string::npos) << "\n";
  }
}
