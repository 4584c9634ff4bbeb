// What a tensor's handles say after its array became another one: in place, by its storage, by data of another type.
#include <torch/torch.h>

#include <iostream>
#include <thread>

void tell(const at::Tensor& t) {
  std::cout << t.sizes() << " " << t.strides() << " " << t.scalar_type() << " " << t.dim() << " " << t.numel();
}

int main() {
  at::Tensor y = torch::arange(6, torch::kFloat).reshape({2, 3}).clone();
  const at::Tensor handle = y;
  const void* data = handle.data_ptr();
  const auto step = [&](const char* what) {
    std::cout << what << ": ";
    tell(handle);
    std::cout << (handle.data_ptr() == y.data_ptr() ? "" : " elsewhere")
              << (handle.data_ptr() == data ? ", where it was" : ", moved") << "\n";
  };
  step("made");
  y.t_();
  step("t_");
  y.unsqueeze_(0);
  step("unsqueeze_");
  y.squeeze_();
  step("squeeze_");
  y.transpose_(0, 1);
  step("transpose_");
  y.resize_({1, 2});
  step("resize_");
  y.set_data(torch::zeros({7}, torch::kDouble));
  step("set_data");
  y.zero_();
  step("zero_");
  std::thread([&] { y.unsqueeze_(1); }).join();
  step("in a thread");
  std::cout << handle.accessor<double, 2>()[6][0] << "\n";
  at::Tensor none;
  std::cout << none.sizes() << " " << none.scalar_type() << "\n";
  try {
    handle.data_ptr<float>();
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  }
}
