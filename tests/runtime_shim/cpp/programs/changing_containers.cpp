// Lists and dictionaries that are changed through iterators, numbers that don't fit, masks of bytes.
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/torch.h>

#include <algorithm>
#include <iostream>

struct Printing : c10::WarningHandler {
  void process(const c10::Warning& warning) override { std::cout << "warning: " << warning.msg() << "\n"; }
};

void lists() {
  c10::List<int64_t> list({5, 3, 4});
  list.insert(list.begin() + 1, 9);
  list.erase(list.begin());
  list[0] = 7;
  *(list.end() - 1) = 8;
  std::iter_swap(list.begin(), list.begin() + 2);
  for (const int64_t value : list) std::cout << value << " ";
  const c10::List<int64_t> same = list;
  list.resize(4);
  list.emplace(list.end(), 6);
  std::cout << same.size() << same.is(list) << list.copy().is(list) << (list.copy() == list)
            << (c10::List<std::string>({"a"}) != c10::List<std::string>({"b"})) << (list.end() - list.begin()) << "\n";
  try {
    list.get(5);
  } catch (const std::out_of_range&) {
    std::cout << "out of range\n";
  }
}

void dictionaries() {
  c10::Dict<int64_t, std::string> dict;
  dict.insert(3, "a");
  const auto [entry, is_new] = dict.insert(4, "b");
  std::cout << entry->key() << entry->value() << is_new << dict.insert(4, "c").second << dict.at(4);
  dict.begin()->setValue("d");
  dict.find(4)->setValue(dict.find(3)->value());
  std::cout << dict.at(3) << dict.at(4);
  auto place = dict.begin();
  const auto before = place++;
  std::cout << before->key() << place->key() << (place == dict.find(4)) << (before == place);
  const c10::Dict<int64_t, std::string> copied = dict.copy();
  std::cout << (copied == dict) << copied.is(dict);
  dict.erase(dict.begin());
  std::cout << dict.size() << (copied != dict) << "\n";
}

template <typename Function>
void attempt(Function&& function) {
  try {
    function();
    std::cout << "no error\n";
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << "\n";
  }
}

int main() {
  lists();
  dictionaries();
  attempt([] { c10::Scalar(1e10).toInt(); });
  attempt([] { c10::Scalar(300).toChar(); });
  attempt([] { c10::Scalar(100000).toHalf(); });
  attempt([] { c10::Scalar(NAN).toLong(); });
  attempt([] { c10::Scalar(INFINITY).toFloat(); });
  attempt([] { c10::Scalar(c10::complex<double>(1, 2)).toFloat(); });
  attempt([] { torch::tensor({1}, torch::kInt).requires_grad_(); });
  attempt([] { torch::tensor(1).index({0}); });
  attempt([] { at::tensor(c10::complex<float>(1, 2), at::kFloat); });
  std::cout << int(c10::Scalar(-1).toByte()) << c10::Scalar(2).equal(2.0) << c10::Scalar(true).equal(1)
            << c10::Scalar(c10::complex<double>(2, 0)).equal(2) << c10::Scalar(c10::complex<double>(2, 3)).conj() << "\n";
  std::cout << torch::randn({4, 3}).var(0).sizes() << torch::randn({4, 3}).std(1).sizes()
            << torch::randn({4, 3}).std(false).sizes() << "\n";

  Printing handler;
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&handler);
    const auto bytes = torch::tensor({1, 0}, torch::kByte);
    for (int i = 0; i < 2; ++i) std::cout << torch::ones({2, 3}).index({bytes}).sizes() << "\n";
    auto number = torch::tensor(3);
    number.index_put_({torch::tensor(1, torch::kByte)}, torch::ones({1, 1}, torch::kLong));
    std::cout << number.item<int64_t>() << "\n";
  }
  auto rows = torch::ones({3, 2});
  const auto mask = torch::tensor({true, false, true});
  rows.index_put_({mask}, {rows.index({mask})}, /*accumulate=*/true);
  std::cout << rows.sum().item<float>() << "\n";

  const auto x = torch::ones(1, torch::requires_grad());
  std::cout << (x.grad_fn() == nullptr) << ((x * 2).grad_fn() == (x * 2).grad_fn());
  const auto y = x * 2;
  const auto node = y.grad_fn();
  std::cout << (node == y.grad_fn()) << node->name() << at::native::is_nonzero(x) << "\n";
  const torch::IValue text("text");
  std::cout << text.toString()->string() << text.isModule() << "\n";
}
