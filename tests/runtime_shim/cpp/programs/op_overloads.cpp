// Overloads and options of ops that C++ alone has, or that are seldom written: generators, memory formats, synonyms.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::arange(6, torch::kFloat).reshape({2, 3});
  const at::Tensor none;

  // Generators
  auto first = at::make_generator<at::CPUGeneratorImpl>(7), second = at::make_generator<at::CPUGeneratorImpl>(7);
  {
    std::lock_guard<std::mutex> lock(first.mutex());
    std::cout << first.current_seed();
  }
  std::cout << torch::equal(torch::rand({3}, first), torch::rand({3}, second));
  second.set_current_seed(8);
  std::cout << torch::equal(x.clone().normal_(0, 1, first), x.clone().normal_(0, 1, second))
            << at::detail::getDefaultCPUGenerator().defined() << torch::normal(0., 1., {2}).sizes() << "\n";

  // Synonyms, numbers first, rounding modes
  std::cout << torch::absolute(-x) << x.greater_equal(3) << torch::exp2(x) << x.divide(2, "floor") << x.subtract(1, 2)
            << torch::rsub(x, 1, 2) << torch::xlogy(2, x + 1) << torch::copysign(x, -1.0) << x.round(1)
            << torch::fmax(x, x * 0 + 3) << torch::signbit(-x) << torch::float_power(2, x) << torch::bitwise_and(3, x.to(torch::kLong))
            << torch::remainder(7, x + 1) << x.logical_not().bitwise_left_shift(1).sum() << torch::real(x).sum() << "\n";

  // Choosing
  std::cout << torch::isin(x, 2) << torch::where(x > 2, 1, 0) << torch::where(x > 4)[1] << x.where(x > 2, -1)
            << x.scatter(1, torch::zeros({2, 1}, torch::kLong), 9., "add")
            << x.index_add(0, torch::tensor({0}), torch::ones({1, 3}), 2)
            << torch::take_along_dim(x, torch::tensor({{0}, {2}}), 1) << x.all(at::OptionalIntArrayRef({1})) << "\n";
  const auto [sorted, order] = torch::tensor({2., 1., 2.}).sort(true, 0, true);
  std::cout << sorted << order << torch::result_type(1.5, x) << torch::one_hot(torch::tensor({0, 2})) << "\n";

  // Shapes
  std::cout << x.mT() << torch::adjoint(x) << torch::hsplit(x.repeat({1, 2}), 2)[1] << x.tensor_split(at::IntArrayRef({1}), 1)[1]
            << torch::atleast_2d(torch::ones(2)) << torch::pad(x, {1, 1}) << x.squeeze(at::IntArrayRef({0})).sizes()
            << x.movedim({0, 1}, {1, 0}).sizes() << "\n";
  std::cout << torch::logspace(0, 2, 3) << torch::empty_strided({2, 3}, {1, 2}).strides()
            << torch::nanquantile(x, 0.5) << x.count_nonzero(at::IntArrayRef({0, 1})) << "\n";

  // Memory formats
  const auto image = torch::rand({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  std::cout << image.strides() << (image.suggest_memory_format() == at::MemoryFormat::ChannelsLast)
            << image.is_contiguous() << image.is_contiguous(at::MemoryFormat::ChannelsLast)
            << torch::empty_like(image, image.options(), at::MemoryFormat::Preserve).strides()
            << torch::empty({2, 3, 4, 5}, torch::TensorOptions(), at::MemoryFormat::ChannelsLast).strides()
            << image.clone(at::MemoryFormat::Contiguous).strides() << "\n";

  // Layers and losses
  const auto one = torch::arange(16.).view({1, 1, 4, 4});
  std::cout << torch::conv2d(one, torch::ones({1, 1, 3, 3}), {}, 1, "same") << torch::max_pool2d(one, 2)
            << std::get<1>(torch::max_pool2d_with_indices(one, 2)) << torch::avg_pool2d(one, 3, 2, 1, false, true, 3)
            << torch::conv_transpose2d(one, torch::ones({1, 1, 2, 2}), {}, 2).sum()
            << std::get<0>(torch::adaptive_max_pool2d(one, {2, 2})) << "\n";
  std::cout << torch::batch_norm(x, none, none, none, none, true, 0.1, 1e-5, true) << torch::rms_norm(x, {3})
            << torch::kl_div(x.log_softmax(1), x.softmax(0), at::Reduction::None)
            << torch::smooth_l1_loss(x, x * 2, at::Reduction::Mean, 0.5) << torch::huber_loss(x, x * 3)
            << torch::margin_ranking_loss(x, x * 2, torch::ones_like(x), 0.5) << "\n";
}
