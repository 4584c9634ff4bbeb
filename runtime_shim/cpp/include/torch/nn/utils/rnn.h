// torch::nn::utils::rnn: sequences of different lengths, packed step by step or padded to one length.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace torch::nn::utils::rnn {

inline Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  return torch::empty_like(permutation).scatter_(0, permutation, torch::arange(permutation.numel(), torch::kLong));
}

/// The rows of all sequences, first those of step 0, then of step 1, … The sequences are ordered by length.
class PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {})
      : data_(std::move(data)),
        batch_sizes_(std::move(batch_sizes)),
        sorted_indices_(std::move(sorted_indices)),
        unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                     : invert_permutation(sorted_indices_)) {
    TORCH_CHECK(batch_sizes_.device() == torch::kCPU, "batch_sizes should always be on CPU.");
  }
  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  PackedSequence to(TensorOptions options) const { return with(data_.to(options)); }
  PackedSequence cpu() const { return to(torch::kCPU); }
  PackedSequence cuda() const { return to(torch::kCUDA); }
  PackedSequence pin_memory() const { return *this; }
  bool is_cuda() const { return false; }
  bool is_pinned() const { return false; }

 private:
  PackedSequence with(Tensor data) const {
    return PackedSequence(std::move(data), batch_sizes_, sorted_indices_, unsorted_indices_);
  }
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

namespace detail {

inline std::vector<int64_t> numbers(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor[i].item<int64_t>());
  return values;
}

}  // namespace detail

/// Packs (time, batch, …); the lengths must fall unless `enforce_sorted` is false.
inline PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false,
                                           bool enforce_sorted = true) {
  lengths = lengths.to(torch::kLong);
  Tensor order;
  if (!enforce_sorted) {
    std::tie(lengths, order) = lengths.sort(-1, /*descending=*/true);
    input = input.index_select(batch_first ? 0 : 1, order);
  }
  const std::vector<int64_t> length = detail::numbers(lengths);
  TORCH_CHECK(!length.empty() && length.back() > 0,
              "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
  TORCH_CHECK(std::is_sorted(length.rbegin(), length.rend()),
              "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
              "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
              "do not need ONNX exportability.");
  if (batch_first) input = input.transpose(0, 1);
  TORCH_CHECK(static_cast<int64_t>(length.size()) == input.size(1),
              "Expected `len(lengths)` to be equal to batch_size, but got ", length.size(), " (batch_size=",
              input.size(1), ")");
  std::vector<Tensor> steps;
  std::vector<int64_t> sizes;
  for (int64_t step = 0; step < length[0]; ++step) {
    const int64_t longer = std::count_if(length.begin(), length.end(), [&](int64_t n) { return n > step; });
    steps.push_back(input[step].slice(0, 0, longer));
    sizes.push_back(longer);
  }
  return PackedSequence(at::cat(steps, 0), torch::tensor(sizes, torch::kLong), order);
}

/// Sequences (length, …) below each other in one tensor, the shorter ones filled up.
inline Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0,
                           std::string_view padding_side = "right") {
  int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.size(0));
  std::vector<Tensor> padded;
  for (const Tensor& sequence : sequences) {
    std::vector<int64_t> sizes = sequence.sizes().vec();
    sizes[0] = longest - sequence.size(0);
    const Tensor rest = torch::full(sizes, padding_value, sequence.options());
    padded.push_back(padding_side == "right" ? at::cat({sequence, rest}, 0) : at::cat({rest, sequence}, 0));
  }
  return at::stack(padded, batch_first ? 0 : 1);
}

inline PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true) {
  std::vector<int64_t> lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(pad_sequence(sequences), torch::tensor(lengths, torch::kLong), false, enforce_sorted);
}

/// The padded form of a packed sequence, and the lengths.
inline std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                      double padding_value = 0.0,
                                                      std::optional<int64_t> total_length = std::nullopt) {
  const std::vector<int64_t> sizes = detail::numbers(sequence.batch_sizes());
  const auto steps = static_cast<int64_t>(sizes.size());
  if (total_length.has_value())
    TORCH_CHECK(*total_length >= steps, "Expected total_length to be at least the length of the longest sequence in "
                "input, but got total_length=", *total_length, " and max sequence length being ", steps);
  std::vector<Tensor> rows;
  int64_t begin = 0;
  for (int64_t step = 0; step < total_length.value_or(steps); ++step) {
    const int64_t size = step < steps ? sizes[static_cast<size_t>(step)] : 0;
    std::vector<int64_t> rest = sequence.data().sizes().vec();
    rest[0] = sizes[0] - size;
    rows.push_back(at::cat({sequence.data().slice(0, begin, begin + size),
                            torch::full(rest, padding_value, sequence.data().options())}, 0));
    begin += size;
  }
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < sizes[0]; ++row)
    lengths.push_back(std::count_if(sizes.begin(), sizes.end(), [&](int64_t size) { return size > row; }));
  Tensor padded = at::stack(rows, 0), length = torch::tensor(lengths, torch::kLong);
  if (sequence.unsorted_indices().defined()) {
    padded = padded.index_select(1, sequence.unsorted_indices());
    length = length.index_select(0, sequence.unsorted_indices());
  }
  return {batch_first ? padded.transpose(0, 1) : padded, length};
}

}  // namespace torch::nn::utils::rnn
