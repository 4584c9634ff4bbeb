// Datasets, transforms, samplers and loaders, with worker threads and without.
#include <torch/torch.h>

#include <iostream>

namespace data = torch::data;

struct Squares : data::datasets::Dataset<Squares> {
  data::Example<> get(size_t index) override {
    TORCH_CHECK(index != 7, "seven is not here");
    const auto i = static_cast<int64_t>(index);
    return {torch::full({2}, static_cast<double>(i * i)), torch::tensor(i)};
  }
  std::optional<size_t> size() const override { return size_; }
  explicit Squares(size_t size) : size_(size) {}
  size_t size_;
};

// It counts down and ends by itself.
struct Countdown : data::datasets::StatefulDataset<Countdown, std::vector<int>> {
  int left = 3;
  std::optional<std::vector<int>> get_batch(size_t) override {
    if (left == 0) return std::nullopt;
    return std::vector<int>{left--};
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { left = 3; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
};

void print(const std::vector<size_t>& indices) {
  for (const size_t index : indices) std::cout << index << ' ';
  std::cout << '\n';
}

int main() {
  for (const size_t workers : {0, 2}) {
    auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
        Squares(5).map(data::transforms::TensorLambda<>([](torch::Tensor x) { return x + 1; }))
            .map(data::transforms::Stack<>()),
        data::DataLoaderOptions(2).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto& batch : *loader)
        std::cout << batch.data.sizes() << ' ' << batch.data.sum().item<float>() << ' ' << batch.target.view(-1)[0].item<int64_t>()
                  << '\n';
  }
  auto dropping = data::make_data_loader(Squares(5).map(data::transforms::Stack<>()),
                                         data::DataLoaderOptions().batch_size(2).drop_last(true));
  int64_t count = 0;
  for (auto& batch : *dropping) count += batch.data.size(0);
  std::cout << count << '\n';

  auto failing = data::make_data_loader<data::samplers::SequentialSampler>(Squares(8), data::DataLoaderOptions(8).workers(1));
  try {
    for (auto& batch : *failing) std::cout << batch.size() << '\n';
  } catch (const data::WorkerException& error) {
    std::cout << (std::string(error.what()).find("Original message: seven is not here") != std::string::npos) << '\n';
  }
  auto countdown = data::make_data_loader(Countdown());
  for (auto& batch : *countdown) std::cout << batch[0] << ' ';
  std::cout << '\n';

  data::datasets::TensorDataset rows(torch::eye(3));
  std::cout << rows.get(1).data << ' ' << rows.get_batch({0, 2}).size() << '\n';
  data::samplers::SequentialSampler sequential(5);
  print(*sequential.next(3));
  print(*sequential.next(3));
  std::cout << sequential.next(3).has_value() << '\n';
  data::samplers::RandomSampler random(6);
  std::vector<size_t> drawn = *random.next(6);
  std::sort(drawn.begin(), drawn.end());
  print(drawn);
  data::samplers::DistributedSequentialSampler first(5, 2, 0), second(5, 2, 1), strict(5, 2, 1, false);
  print(*first.next(9));
  print(*second.next(9));
  print(*strict.next(9));
  try {
    data::datasets::MNIST("/nowhere");
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}
