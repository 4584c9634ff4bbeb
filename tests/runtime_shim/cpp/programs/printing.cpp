// How PyTorch's C++ side prints tensors, sizes, dtypes, options and values.
#include <torch/script.h>

#include <cmath>
#include <iostream>

int main() {
  const auto show = [](const torch::Tensor& t) { std::cout << t << "\n--\n"; };
  using torch::tensor;
  show(torch::ones({2, 3}));
  show(torch::arange(6).view({2, 3}));
  for (double x : {3.5, 3.14159265358979, 1e-8, -1.0, 1e20, 1e16, 123456.0}) show(tensor(x));
  show(tensor(3.14159265358979, torch::kDouble));
  show(tensor(123456789));
  show(tensor(true));
  show(tensor({1.5, 2.25, -3.0}));
  show(tensor({1e-5, 2.25, 30000.0}));
  show(tensor({1e10, 2.25}));
  show(tensor({1e100, 2.5}, torch::kDouble));
  show(tensor({1e-100, 2.5}, torch::kDouble));
  show(tensor({static_cast<double>(INFINITY), 1.5}));
  show(tensor({static_cast<double>(NAN), 2.0}));
  show(tensor({-static_cast<double>(INFINITY)}));
  show(tensor({-1, -22, 3}));
  show(tensor({1e9, 2.0}));
  show(tensor({123456789.0, 2.0}, torch::kDouble));
  show(tensor({99999.5, 1.0}));
  show(tensor({0.05, 0.02}));
  show(tensor({0.5, 1e-4}));
  show(tensor({true, false}));
  show(torch::full({2, 3}, 1e-8));
  show(torch::full({2, 2, 2}, 1e-8));
  show(torch::full({2, 3}, 1e6 + 0.5, torch::kDouble));
  show(torch::arange(40).view({2, 20}) * 1000.5);
  show(torch::arange(60).view({2, 1, 30}) * 1000.5);
  show(torch::ones({2, 2, 2, 2}));
  show(torch::zeros({2, 0}));
  show(torch::zeros({0}));
  show(torch::Tensor());
  show(torch::ones({2}, torch::kHalf) * 0.5);
  for (auto type : {torch::kByte, torch::kChar, torch::kShort, torch::kInt, torch::kLong, torch::kHalf, torch::kFloat,
                    torch::kDouble, torch::kBool, torch::kComplexFloat}) {
    const auto t = torch::empty({1}, type);
    std::cout << type << ", " << t.dtype() << ", " << t.toString() << ", " << t.itemsize() << "\n";
  }
  std::cout << torch::ones({2, 3}).sizes() << torch::ones({2, 3}).strides() << " " << torch::ones(2).options() << "\n"
            << torch::Device("cuda:1") << " " << torch::kCPU << " " << torch::kStrided << " " << at::Scalar(2.5) << " "
            << at::Scalar(3) << " " << at::Scalar(true) << " " << torch::ones(2).key_set() << "\n";
  std::cout << torch::IValue(3) << " " << torch::IValue(2.0) << " " << torch::IValue(2.5) << " " << torch::IValue(true)
            << " " << torch::IValue() << " " << torch::IValue("text") << " "
            << torch::IValue(std::vector<int64_t>{1, 2}) << " " << torch::IValue(std::make_tuple(1, 2.5)) << " "
            << torch::IValue(tensor({1, 2})) << "\n";
  std::cout << torch::complex(torch::tensor({1.0, 1000.5}), torch::tensor({0.0, -2.0})) << "\n";
  std::cout << torch::complex(torch::zeros({2, 1, 2}), torch::ones({2, 1, 2})) << "\n";
  std::cout << torch::complex(torch::zeros({0}), torch::zeros({0})) << "\n";
  at::print(torch::eye(2));
  std::cout << "\nstorage " << torch::eye(2).storage() << "\n";
}
