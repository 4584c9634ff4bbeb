// Elements, rows, slices and masks; reading and writing.
#include <torch/torch.h>

#include <iostream>

using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;

int main() {
  auto t = torch::arange(12).view({3, 4});
  std::cout << t[1] << t[1][2].item<int64_t>() << t[-1][torch::tensor(0)].item<int64_t>() << "\n";
  std::cout << t.index({Slice(1, None), Slice(None, None, 2)}) << t.index({"...", 0}) << t.index({Ellipsis, -1})
            << t.index({None, 0}).sizes() << t.index({t > 8}) << t.index({torch::tensor({2, 0})}) << "\n";
  t[0] = 7;                                   // writes the row
  t[1] = torch::full({4}, 5, torch::kLong);   // so does this
  torch::Tensor row = t[2];
  row = torch::zeros({4});                    // this names another tensor
  t.index_put_({Slice(), 3}, -1);
  t.index_put_({t == 5}, torch::tensor(50));
  std::cout << t << "\n";
  auto cells = t.accessor<int64_t, 2>();
  int64_t trace = 0;
  for (int64_t i = 0; i < t.size(0); ++i) trace += cells[i][i];
  cells[2][0] = 100;
  std::cout << trace << " " << t[2][0].item<int>() << " " << t.data_ptr<int64_t>()[11] << "\n";
  std::cout << t.select(1, 0) << t.narrow(0, 1, 2) << t.slice(1, 1, 3) << t.unbind(0).size() << "\n";
  std::cout << t.size(-1) << t.stride(0) << t.storage_offset() << t[1].storage_offset() << t.is_contiguous()
            << t.t().is_contiguous() << t.numel() << t.dim() << "\n";
}
