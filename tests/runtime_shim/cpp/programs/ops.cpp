// A broad sample of the ops, as methods, functions, operators and in-place.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({{1.0, -2.0}, {3.0, 0.5}});
  const auto one = [](const torch::Tensor& t) { return t.sum().item<float>(); };
  std::cout << one(x + 1) << " " << one(2 - x) << " " << one(x * x) << " " << one(1 / x.abs()) << " " << one(-x) << " "
            << one(x % 2) << " " << (2 / x)._version() << (2 - x)._version() << (x + 2)._version() << "\n";
  std::cout << (x > 0) << (x == x.t()).all().item<bool>() << one((x > 0).to(torch::kFloat)) << "\n";
  auto y = x.clone();
  y += 1;
  y -= x;
  y *= 3;
  y /= torch::full({2, 2}, 2.0);
  y.add_(x, 2).sub_(1).clamp_(-1, 2).relu_();
  std::cout << y << y._version() << "\n";
  std::cout << x.exp().log() << x.sqrt()[0][0].item<float>() << x.sigmoid() << torch::tanh(x) << x.pow(2)
            << x.abs().pow(x) << x.softmax(1) << "\n";
  std::cout << x.sum(0) << x.mean({0, 1}, true).sizes() << x.max().item<float>() << std::get<1>(x.max(1)) << x.argmax()
            << x.amax({0}) << x.std().item<float>() << x.norm().item<float>() << x.prod().item<float>()
            << x.cumsum(1) << x.any().item<bool>() << "\n";
  std::cout << x.matmul(x) << torch::mm(x, x.t()) << x.mv(torch::ones({2})) << torch::dot(x[0], x[1])
            << torch::addmm(x, x, x) << "\n";
  std::cout << torch::cat({x, x}).sizes() << torch::stack({x, x}, 2).sizes() << torch::where(x > 0, x, -x)
            << x.reshape({4}) << x.view({-1}) << x.unsqueeze(0).squeeze().sizes() << x.expand({2, 2, 2}).sizes()
            << x.permute({1, 0}) << x.flatten() << x.repeat({1, 2}).sizes() << x.diagonal() << x.flip({0}) << "\n";
  for (const auto& part : x.split(1)) std::cout << part;
  for (const auto& part : x.chunk(2, 1)) std::cout << part.sizes();
  std::cout << x.index_select(0, torch::tensor({1})) << x.gather(1, torch::zeros({2, 1}, torch::kLong))
            << x.masked_fill(x < 0, 0) << x.masked_select(x > 0) << torch::zeros({2, 2}).copy_(x) << "\n";
  auto out = torch::empty({2, 2});
  torch::mul_out(out, x, x);
  std::cout << out << torch::allclose(x, x + 1e-9) << torch::equal(x, y) << torch::isnan(x).any().item<bool>() << "\n";
  std::cout << x.to(torch::kLong) << x.to(torch::kDouble).dtype() << x.toType(torch::kInt).scalar_type()
            << x.to(torch::dtype(torch::kHalf)).dtype() << x.type_as(out).dtype() << "\n";
  std::cout << torch::zeros({2}) << torch::eye(2) << torch::linspace(0, 1, 3) << torch::arange(1, 7, 2)
            << torch::full_like(x, 4) << torch::ones_like(x, torch::kLong) << torch::zeros({1}, torch::kInt).dtype()
            << "\n";
  float memory[] = {1, 2, 3};
  auto blob = torch::from_blob(memory, {3});
  blob.mul_(2);
  std::cout << memory[2] << blob << "\n";
  torch::manual_seed(0);
  std::cout << torch::rand({2, 2}).sizes() << torch::randn({3}).dtype() << "\n";
  const auto rows = torch::tensor({2, 1, 2, 1, 1, 3}).view({3, 2});
  const auto [distinct, inverse, counts] = torch::unique_dim(torch::cat({rows, rows}), 0, true, true, true);
  std::cout << distinct << inverse << counts << std::get<0>(torch::_unique2(rows)) << std::get<2>(torch::unique_consecutive(rows, false, true))
            << torch::bucketize(rows, torch::tensor({1, 2})) << torch::searchsorted(torch::tensor({1, 2, 3}), 2) << torch::isin(rows, distinct[0])
            << torch::bincount(rows.flatten()) << torch::histc(x, 2, 0, 4) << "\n";
  std::cout << x.median() << std::get<1>(x.kthvalue(2, 1)) << x.quantile(0.5, 0) << x.nansum() << x.clip(1, 2) << torch::cdist(x, x + 1, 1)
            << torch::addmv(x[0], x, x[1]) << torch::baddbmm(x, x.expand({1, 2, 2}), x.expand({1, 2, 2}))
            << x.scatter_reduce(0, torch::zeros({1, 2}, torch::kLong), x, "prod") << x.repeat_interleave(2, 1) << "\n";
  std::cout << torch::constant_pad_nd(x, {1, 0}, 7) << torch::reflection_pad2d(x.view({1, 1, 2, 2}), {1, 1, 0, 1}) << torch::result_type(x, rows)
            << torch::promote_types(torch::kHalf, torch::kBFloat16) << torch::can_cast(torch::kFloat, torch::kLong) << x.index_put({torch::tensor({0})}, torch::zeros({2}))
            << torch::fft::irfft(torch::fft::rfft(x), 2) << torch::meshgrid({x[0], x[1]}, "ij")[1] << "\n";
  const auto narrow = x.to(torch::kBFloat16);
  std::cout << narrow.dtype() << (narrow + 1).sum() << narrow.data_ptr<c10::BFloat16>()[1] << "\n";
  {
    torch::autograd::DetectAnomalyGuard guard;
    std::cout << torch::autograd::AnomalyMode::is_enabled();
  }
  std::cout << torch::autograd::AnomalyMode::is_enabled() << "\n";
  const auto z = torch::view_as_complex(torch::ones({2, 2}));
  std::cout << z.is_complex() << torch::view_as_real(z).sizes() << "\n";
}
