// Linear algebra, special functions and rearrangements: of each result its shape, what its sizes add up to, and whether it requires grad.
#include <torch/torch.h>

namespace {

double sum_of(const at::Tensor& tensor) {
  return at::abs(tensor).to(at::kDouble).sum().item<double>();
}

void show(const char* name, const at::Tensor& result) {
  std::printf("%s %s %.4f", name, c10::str(result.sizes()).c_str(), sum_of(result));
  std::printf(result.requires_grad() ? " requires grad\n" : "\n");
}

template <class... Tensors>
void show(const char* name, const std::tuple<Tensors...>& results) {
  std::apply([&](const auto&... result) { (show(name, result), ...); }, results);
}

void show(const char* name, const std::vector<at::Tensor>& results) {
  for (const at::Tensor& result : results) show(name, result);
}

}  // namespace

#define SHOW(name, ...) show(#name, at::name(__VA_ARGS__))

int main() {
  const at::Tensor square =
      torch::tensor({{4.0, 1.0, 0.5}, {1.0, 3.0, 0.2}, {0.5, 0.2, 2.0}}, at::dtype(at::kDouble).requires_grad(true));
  const at::Tensor matrix = torch::tensor({{0.5, -0.25, 0.75}, {0.125, 0.6, -0.9}}, at::dtype(at::kDouble).requires_grad(true));
  const at::Tensor vector = torch::tensor({0.3, 0.1, 0.2}, at::kDouble), other = torch::tensor({1.0, 2.0, -1.0}, at::kDouble);

  SHOW(det, square);
  SHOW(logdet, square);
  SHOW(slogdet, square);
  SHOW(inverse, square);
  SHOW(vdot, vector, other);
  SHOW(cross, vector, other);
  SHOW(dist, vector, other, 1);
  SHOW(renorm, matrix, 2, 0, 0.5);
  SHOW(tensordot, matrix, square, {1}, {0});
  SHOW(linalg_inv, square);
  SHOW(linalg_eigh, square.detach());
  SHOW(linalg_svdvals, matrix);
  SHOW(linalg_qr, matrix.t());
  SHOW(linalg_solve, square, vector);
  SHOW(linalg_solve_triangular, square, matrix.t(), true);
  SHOW(linalg_norm, matrix);
  SHOW(linalg_norm, matrix, "nuc");
  SHOW(linalg_vector_norm, matrix, 3, at::IntArrayRef({1}));
  SHOW(linalg_matrix_norm, matrix);
  SHOW(linalg_pinv, matrix, 1e-10);

  SHOW(erfinv, vector);
  SHOW(erfc, matrix);
  SHOW(lgamma, vector);
  SHOW(digamma, vector);
  SHOW(polygamma, 1, vector);
  SHOW(logit, vector, 0.15);
  SHOW(sinc, matrix);
  SHOW(deg2rad, matrix);
  SHOW(arctanh, vector);
  SHOW(logaddexp, vector, other);
  SHOW(logcumsumexp, matrix, 1);
  SHOW(complex, vector, other);
  SHOW(polar, vector, other);
  SHOW(angle, other);

  SHOW(mode, other, 0);
  SHOW(cummax, matrix, 1);
  SHOW(cummin, matrix, 0);
  SHOW(diff, matrix);
  SHOW(rot90, matrix);
  SHOW(diagflat, vector);
  SHOW(argwhere, matrix > 0);
  SHOW(index_copy, matrix, 0, torch::tensor({1}), other.unsqueeze(0));

  SHOW(range, 1, 4, 1);
  SHOW(tril_indices, 3, 3);
  SHOW(triu_indices, 3, 4, 1);
  SHOW(hann_window, 8);
  SHOW(hamming_window, 8, false);
  SHOW(blackman_window, 6, true);
  SHOW(bartlett_window, 5);

  const auto gradient = torch::autograd::grad({at::logdet(square) + at::linalg_solve(square, vector).sum()}, {square});
  show("gradient", gradient);

  at::Context& context = at::globalContext();
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(true);
  context.setDeterministicAlgorithms(true, false);
  std::printf("switches %d %d %d %d\n", context.deterministicCuDNN(), context.benchmarkCuDNN(),
              context.deterministicAlgorithms(), context.userEnabledCuDNN());
}
