// torch::data::samplers: in which order the indices of a dataset come.
#pragma once

#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace torch::data::samplers {

/// The number of examples of a batch, for a dataset that knows no indices.
class BatchSize {
 public:
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept { return size_; }
  operator size_t() const noexcept { return size_; }

 private:
  size_t size_;
};

template <typename BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;
  virtual ~Sampler() = default;
  /// Begins anew; `new_size` is that of the dataset if it has changed.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next batch, or none at the end.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};
template <typename Request>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<Request>& sampler) {
  sampler.save(archive);
  return archive;
}
template <typename Request>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<Request>& sampler) {
  sampler.load(archive);
  return archive;
}

namespace detail {

inline void write_number(serialize::OutputArchive& archive, const char* key, size_t value) {
  archive.write(key, torch::tensor(static_cast<int64_t>(value), torch::kInt64), /*is_buffer=*/true);
}
inline size_t read_number(serialize::InputArchive& archive, const char* key) {
  Tensor number;
  archive.read(key, number, /*is_buffer=*/true);
  return static_cast<size_t>(number.item<int64_t>());
}

/// Indices in an order that is fixed by `reset`.
class IndexSampler : public Sampler<> {
 public:
  std::optional<std::vector<size_t>> next(size_t batch_size) override {
    const size_t left = indices_.size() - index_;
    if (left == 0) return std::nullopt;
    const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(index_);
    index_ += std::min(batch_size, left);
    return std::vector<size_t>(begin, indices_.begin() + static_cast<std::ptrdiff_t>(index_));
  }
  size_t index() const noexcept { return index_; }

 protected:
  std::vector<size_t> indices_;
  size_t index_ = 0;
};

inline std::vector<size_t> counted(size_t size) {
  std::vector<size_t> indices(size);
  for (size_t i = 0; i < size; ++i) indices[i] = i;
  return indices;
}
inline std::vector<size_t> shuffled(size_t size) {
  const Tensor order = torch::randperm(static_cast<int64_t>(size), torch::kInt64);
  const auto* begin = order.data_ptr<int64_t>();
  return std::vector<size_t>(begin, begin + size);
}

}  // namespace detail

class SequentialSampler : public detail::IndexSampler {
 public:
  explicit SequentialSampler(size_t size) { indices_ = detail::counted(size); }
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    if (new_size.has_value()) indices_ = detail::counted(*new_size);
    index_ = 0;
  }
  void save(serialize::OutputArchive& archive) const override { detail::write_number(archive, "index", index_); }
  void load(serialize::InputArchive& archive) override { index_ = detail::read_number(archive, "index"); }
};

class RandomSampler : public detail::IndexSampler {
 public:
  explicit RandomSampler(int64_t size, Dtype = torch::kInt64) { indices_ = detail::shuffled(static_cast<size_t>(size)); }
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    indices_ = detail::shuffled(new_size.value_or(indices_.size()));
    index_ = 0;
  }
  void save(serialize::OutputArchive& archive) const override {
    detail::write_number(archive, "index", index_);
    const std::vector<int64_t> indices(indices_.begin(), indices_.end());
    archive.write("indices", torch::tensor(indices, torch::kInt64), /*is_buffer=*/true);
  }
  void load(serialize::InputArchive& archive) override {
    index_ = detail::read_number(archive, "index");
    Tensor indices;
    archive.read("indices", indices, /*is_buffer=*/true);
    const auto* begin = indices.data_ptr<int64_t>();
    indices_.assign(begin, begin + indices.numel());
  }
};

/// As many batches of the wanted size as an epoch has, without indices.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    epoch_size_ = new_size.value_or(epoch_size_);
    examples_retrieved_so_far_ = 0;
  }
  std::optional<BatchSize> next(size_t batch_size) override {
    if (examples_retrieved_so_far_ == epoch_size_) return std::nullopt;
    const size_t size = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
    examples_retrieved_so_far_ += size;
    return BatchSize(size);
  }
  void save(serialize::OutputArchive& archive) const override {
    detail::write_number(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
  }
  void load(serialize::InputArchive& archive) override {
    examples_retrieved_so_far_ = detail::read_number(archive, "examples_retrieved_so_far");
  }

 private:
  size_t examples_retrieved_so_far_ = 0;
  size_t epoch_size_;
};

/// The share of one of several processes. With `allow_duplicates` all have the same number of indices.
template <typename BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {}
  /// Decides, with `reset`, on the order of an epoch.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_
                             : size_ / num_replicas_ + (rank_ < size_ % num_replicas_ ? 1 : 0);
  }
  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

namespace detail {

template <bool shuffles>
class DistributedIndexSampler : public DistributedSampler<> {
 public:
  DistributedIndexSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
    populate();
  }
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    populate();
    index_ = 0;
  }
  std::optional<std::vector<size_t>> next(size_t batch_size) override {
    if (index_ == own_.size()) return std::nullopt;
    const size_t end = std::min(index_ + batch_size, own_.size());
    std::vector<size_t> batch(own_.begin() + static_cast<std::ptrdiff_t>(index_),
                              own_.begin() + static_cast<std::ptrdiff_t>(end));
    index_ = end;
    return batch;
  }
  void save(serialize::OutputArchive& archive) const override {
    write_number(archive, "sample_index_", index_);
    write_number(archive, "epoch_", epoch_);
  }
  void load(serialize::InputArchive& archive) override {
    epoch_ = read_number(archive, "epoch_");
    populate();
    index_ = read_number(archive, "sample_index_");
  }
  size_t index() const noexcept { return rank_ * own_.size() + index_; }

 private:
  void populate() {
    const size_t count = local_sample_count();
    std::vector<size_t> all = counted(num_replicas_ == 1 ? size_ : count * num_replicas_);
    for (size_t i = size_; i < all.size(); ++i) all[i] %= size_;
    // The same in all processes: the epoch is the seed, whatever the program's generator does.
    if constexpr (shuffles) std::shuffle(all.begin(), all.end(), std::mt19937(static_cast<uint32_t>(epoch_)));
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank_ * count);
    own_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  std::vector<size_t> own_;
  size_t index_ = 0;
};

}  // namespace detail

using DistributedRandomSampler = detail::DistributedIndexSampler<true>;
using DistributedSequentialSampler = detail::DistributedIndexSampler<false>;

}  // namespace torch::data::samplers
