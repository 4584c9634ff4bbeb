// c10::complex with numbers of its kind, integers and the functions of <complex>.
#include <torch/torch.h>

#include <iostream>

int main() {
  c10::complex<float> a(1, 2);
  c10::complex<double> b(3, -1);
  std::cout << a * 2.f << ' ' << 2.f * a << ' ' << a + 1.f << ' ' << 1.f - a << ' ' << a / 2.f << ' ' << 2.f / a << '\n';
  std::cout << b * 2 << ' ' << 2 + b << ' ' << b - 1 << ' ' << 3 / b << ' ' << -b << ' ' << b / b << '\n';
  a += 1.f;
  a *= 2.f;
  a -= 0.5f;
  a /= 2.f;
  std::cout << a << ' ' << (b == c10::complex<double>(3, -1)) << ' ' << (a == 1.f) << ' ' << (2.0 != b) << '\n';
  std::cout << std::abs(b) << ' ' << std::conj(b) << ' ' << std::norm(b) << ' ' << std::arg(b) << ' ' << std::real(b) << '\n';
  std::cout << std::exp(b) << ' ' << std::sqrt(b) << ' ' << std::pow(b, 2.0) << ' ' << std::log(b) << ' ' << std::tanh(b) << '\n';
  const auto standard = static_cast<std::complex<double>>(b);
  std::cout << standard << ' ' << c10::complex<double>(standard) << ' ' << c10::complex<double>(a) << '\n';
  std::cout << c10::complex<float>(b) << ' ' << static_cast<bool>(b) << ' ' << sizeof(b) << ' ' << alignof(c10::complex<float>) << '\n';
  using namespace c10::complex_literals;
  std::cout << 1.0_id + 2.0 << ' ' << 3_if << '\n';
  const c10::Scalar number(b);
  std::cout << number.toComplexDouble() << ' ' << number.isComplex() << '\n';
  const auto t = torch::full({2}, number, torch::kComplexDouble);
  std::cout << t.data_ptr<c10::complex<double>>()[1] * 2.0 << ' ' << c10::IValue(b).tagKind() << '\n';
}
