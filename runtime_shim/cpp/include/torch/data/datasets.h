// torch::data::datasets: examples by their indices, or as a stream; transformed, shared, in memory, and MNIST.
#pragma once

#include <torch/data/example.h>
#include <torch/data/samplers.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace torch::data::datasets {

template <typename S, typename T>
class MapDataset;
template <typename D, typename T>
MapDataset<D, T> map(D dataset, T transform);

namespace detail {
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace detail

template <typename Self, typename Batch, typename BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  constexpr static bool is_stateful = detail::IsOptional<BatchType>::value;
  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  virtual std::optional<size_t> size() const = 0;
  /// This dataset with a transform of its batches after it.
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

template <typename Self, typename SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;
  virtual ExampleType get(size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices) batch.push_back(get(index));
    return batch;
  }
};

template <typename Self, typename Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, /*BatchRequest=*/size_t>;

/// A dataset with a state of its own: it is not asked for indices, and says itself when it ends.
template <typename Self, typename Batch = std::vector<Example<>>, typename BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};
template <typename... Parts>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const StatefulDataset<Parts...>& dataset) {
  dataset.save(archive);
  return archive;
}
template <typename... Parts>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, StatefulDataset<Parts...>& dataset) {
  dataset.load(archive);
  return archive;
}

namespace detail {
template <bool is_optional, typename Batch>
struct OptionalBatch {
  using type = Batch;
};
template <typename Batch>
struct OptionalBatch<true, Batch> {
  using type = std::optional<Batch>;
};
}  // namespace detail

template <typename SourceDataset, typename AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          typename detail::OptionalBatch<SourceDataset::is_stateful,
                                                         typename AppliedTransform::OutputBatchType>::type,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType =
      typename detail::OptionalBatch<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>::type;
  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}
  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      if (!batch.has_value()) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(indices)));
    }
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  void reset() { dataset_.reset(); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <typename DatasetType, typename TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  static_assert(std::is_same_v<std::conditional_t<DatasetType::is_stateful,
                                                  std::optional<typename TransformType::InputBatchType>,
                                                  typename TransformType::InputBatchType>,
                               typename DatasetType::BatchType>,
                "BatchType type of dataset does not match input type of transform");
  return {std::move(dataset), std::move(transform)};
}

/// One dataset for all workers.
template <typename UnderlyingDataset>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<UnderlyingDataset>, typename UnderlyingDataset::BatchType,
                          typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;
  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> shared_dataset) : dataset_(std::move(shared_dataset)) {}
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  std::optional<size_t> size() const override { return dataset_->size(); }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};
template <typename UnderlyingDataset, typename... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

/// The rows of a tensor.
struct TensorDataset : public Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(torch::stack(tensors)) {}
  explicit TensorDataset(Tensor tensor_) : tensor(std::move(tensor_)) {}
  TensorExample get(size_t index) override { return tensor[static_cast<int64_t>(index)]; }
  std::optional<size_t> size() const override { return static_cast<size_t>(tensor.size(0)); }
  Tensor tensor;
};

/// The digits, from the four files of the set in a folder.
class MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain) : is_train_(mode == Mode::kTrain) {
    const std::string prefix = root + (is_train_ ? "/train" : "/t10k");
    images_ = read(prefix + "-images-idx3-ubyte", 2051).to(torch::kFloat32).div_(255).unsqueeze(1);
    targets_ = read(prefix + "-labels-idx1-ubyte", 2049).to(torch::kInt64);
  }
  Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {images_[i], targets_[i]};
  }
  std::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }
  bool is_train() const noexcept { return is_train_; }
  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }

 private:
  /// The bytes of a file after its header: a magic number and the sizes, each of four bytes, the greatest first.
  static Tensor read(const std::string& path, uint32_t magic) {
    std::ifstream file(path, std::ios::binary);
    TORCH_CHECK(file, "Error opening ", path.find("images") != std::string::npos ? "images" : "targets", " file at ",
                path);
    const auto number = [&] {
      unsigned char bytes[4] = {};
      file.read(reinterpret_cast<char*>(bytes), 4);
      return (uint32_t(bytes[0]) << 24) | (uint32_t(bytes[1]) << 16) | (uint32_t(bytes[2]) << 8) | bytes[3];
    };
    TORCH_CHECK(number() == magic, "Expected to read number ", magic, " from the file ", path);
    std::vector<int64_t> sizes;
    for (uint32_t i = 0; i < magic % 256; ++i) sizes.push_back(number());
    const Tensor tensor = torch::empty(sizes, torch::kByte);
    file.read(reinterpret_cast<char*>(tensor.data_ptr<uint8_t>()), static_cast<std::streamsize>(tensor.numel()));
    TORCH_CHECK(file.gcount() == tensor.numel(), path, " is shorter than its header says");
    return tensor;
  }
  Tensor images_, targets_;
  bool is_train_;
};

}  // namespace torch::data::datasets
