// torch::nn::Conv1d to Conv3d, ConvTranspose1d to ConvTranspose3d, Fold and Unfold.
#pragma once

#include <torch/nn/functional/conv.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>

#include <cmath>

namespace torch::nn {

/// What the convolutions have in common; Derived is the one of D dimensions.
template <size_t D, typename Derived, typename Options>
class ConvNdImplBase : public Cloneable<Derived> {
 public:
  void reset_parameters() {
    init::kaiming_uniform_(weight, std::sqrt(5));
    if (!bias.defined()) return;
    const double bound = 1 / std::sqrt(static_cast<double>(weight.numel() / weight.size(0)));
    init::uniform_(bias, -bound, bound);
  }

  Options options;
  Tensor weight;
  Tensor bias;

 protected:
  explicit ConvNdImplBase(Options options_) : options(std::move(options_)) {}
  void make_parameters(int64_t rows, int64_t columns) {
    TORCH_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
                "in_channels, groups and out_channels must be a positive integer.");
    TORCH_CHECK(options.in_channels() % options.groups() == 0, "in_channels must be divisible by groups");
    TORCH_CHECK(options.out_channels() % options.groups() == 0, "out_channels must be divisible by groups");
    std::vector<int64_t> sizes = {rows, columns};
    for (const int64_t size : *options.kernel_size()) sizes.push_back(size);
    weight = this->register_parameter("weight", torch::empty(sizes));
    bias = this->register_parameter("bias", options.bias() ? torch::empty(options.out_channels()) : Tensor(),
                                    options.bias());
    reset_parameters();
  }
  template <typename Padding>
  void print(std::ostream& stream, const char* name, const Padding& padding, bool is_padded) const {
    stream << "torch::nn::" << name << D << "d(" << options.in_channels() << ", " << options.out_channels()
           << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
    if (is_padded) stream << ", padding=" << padding;
    if (*options.dilation() != *ExpandingArray<D>(1)) stream << ", dilation=" << options.dilation();
  }
  void print_end(std::ostream& stream) const {
    if (options.groups() != 1) stream << ", groups=" << options.groups();
    if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
    if (!options.padding_mode().template is<enumtype::kZeros>())
      stream << ", padding_mode=" << options.padding_mode().name();
    stream << ')';
  }
};

template <size_t D, typename Derived>
class ConvNdImpl : public ConvNdImplBase<D, Derived, ConvOptions<D>> {
 public:
  explicit ConvNdImpl(ConvOptions<D> options_) : ConvNdImplBase<D, Derived, ConvOptions<D>>(std::move(options_)) {
    ConvNdImpl::reset();
  }
  void reset() override {
    const auto& options = this->options;
    if (options.padding().is_same())
      for (const int64_t stride : *options.stride())
        TORCH_CHECK(stride == 1, "padding='same' is not supported for strided convolutions");
    this->make_parameters(options.out_channels(), options.groups() == 0 ? 0 : options.in_channels() / options.groups());
  }
  void pretty_print(std::ostream& stream) const override {
    this->print(stream, "Conv", this->options.padding(), !this->options.padding().is_zero());
    this->print_end(stream);
  }

 protected:
  /// The input, padded as `padding_mode` asks, unless that is zeros: the convolution itself pads with those.
  Tensor padded(const Tensor& input) const {
    std::vector<int64_t> sides;
    const auto& options = this->options;
    const bool same = options.padding().is_same();
    for (size_t d = D; d-- > 0;) {
      const int64_t total = (*options.dilation())[d] * ((*options.kernel_size())[d] - 1);
      sides.push_back(same ? total / 2 : (*options.padding().sizes())[d]);
      sides.push_back(same ? total - total / 2 : (*options.padding().sizes())[d]);
    }
    return functional::detail::padded(input, sides, options.padding_mode().text(), 0);
  }
  bool pads_itself() const { return this->options.padding_mode().template is<enumtype::kZeros>(); }
  functional::ConvFuncOptions<D> func_options() const {
    const auto& options = this->options;
    return functional::ConvFuncOptions<D>()
        .bias(this->bias)
        .stride(options.stride())
        .padding(pads_itself() ? options.padding() : ConvPadding<D>(0))
        .dilation(options.dilation())
        .groups(options.groups());
  }
};

template <size_t D, typename Derived>
class ConvTransposeNdImpl : public ConvNdImplBase<D, Derived, ConvTransposeOptions<D>> {
 public:
  explicit ConvTransposeNdImpl(ConvTransposeOptions<D> options_)
      : ConvNdImplBase<D, Derived, ConvTransposeOptions<D>>(std::move(options_)) {
    ConvTransposeNdImpl::reset();
  }
  void reset() override {
    const auto& options = this->options;
    this->make_parameters(options.in_channels(), options.groups() == 0 ? 0 : options.out_channels() / options.groups());
  }
  void pretty_print(std::ostream& stream) const override {
    const auto& options = this->options;
    this->print(stream, "ConvTranspose", options.padding(), *options.padding() != *ExpandingArray<D>(0));
    if (*options.output_padding() != *ExpandingArray<D>(0)) stream << ", output_padding=" << options.output_padding();
    this->print_end(stream);
  }

 protected:
  /// With the padding of the output that makes it as large as `output_size`, if that is given.
  functional::ConvTransposeFuncOptions<D> func_options(const Tensor& input,
                                                       const std::optional<IntArrayRef>& output_size) const {
    const auto& options = this->options;
    TORCH_CHECK(options.padding_mode().template is<enumtype::kZeros>(),
                "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
    ExpandingArray<D> output_padding = options.output_padding();
    if (output_size.has_value()) {
      IntArrayRef size = *output_size;
      if (size.size() == D + 2) size = size.slice(2);
      TORCH_CHECK(size.size() == D, "output_size must have ", D, " or ", D + 2, " elements (got ", size.size(), ")");
      for (size_t d = 0; d < D; ++d) {
        const int64_t least = (input.size(static_cast<int64_t>(d) + 2) - 1) * (*options.stride())[d] -
                              2 * (*options.padding())[d] + (*options.kernel_size())[d],
                      most = least + (*options.stride())[d] - 1;
        TORCH_CHECK(size[d] >= least && size[d] <= most, "requested an output size of ", size,
                    ", but valid sizes range from ", least, " to ", most, " in dimension ", d);
        (*output_padding)[d] = size[d] - least;
      }
    }
    return functional::ConvTransposeFuncOptions<D>()
        .bias(this->bias)
        .stride(options.stride())
        .padding(options.padding())
        .output_padding(output_padding)
        .groups(options.groups())
        .dilation(options.dilation());
  }
};

#define TORCH_CONVOLUTION(D)                                                                                        \
  class Conv##D##dImpl : public ConvNdImpl<D, Conv##D##dImpl> {                                                     \
   public:                                                                                                          \
    Conv##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size)                  \
        : Conv##D##dImpl(Conv##D##dOptions(input_channels, output_channels, kernel_size)) {}                        \
    explicit Conv##D##dImpl(Conv##D##dOptions options_) : ConvNdImpl(std::move(options_)) {}                        \
    Tensor forward(const Tensor& input) {                                                                           \
      return functional::conv##D##d(pads_itself() ? input : padded(input), weight, func_options());                 \
    }                                                                                                               \
  };                                                                                                                \
  TORCH_MODULE(Conv##D##d);                                                                                         \
  class ConvTranspose##D##dImpl : public ConvTransposeNdImpl<D, ConvTranspose##D##dImpl> {                          \
   public:                                                                                                          \
    ConvTranspose##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size)         \
        : ConvTranspose##D##dImpl(ConvTranspose##D##dOptions(input_channels, output_channels, kernel_size)) {}      \
    explicit ConvTranspose##D##dImpl(ConvTranspose##D##dOptions options_)                                           \
        : ConvTransposeNdImpl(std::move(options_)) {}                                                               \
    Tensor forward(const Tensor& input, const std::optional<IntArrayRef>& output_size = std::nullopt) {             \
      return functional::conv_transpose##D##d(input, weight, func_options(input, output_size));                     \
    }                                                                                                               \
                                                                                                                    \
   protected:                                                                                                       \
    FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<IntArrayRef>())})                                           \
  };                                                                                                                \
  TORCH_MODULE(ConvTranspose##D##d)
TORCH_CONVOLUTION(1);
TORCH_CONVOLUTION(2);
TORCH_CONVOLUTION(3);
#undef TORCH_CONVOLUTION

TORCH_LAYER(Fold,
            "output_size=" << options.output_size() << ", kernel_size=" << options.kernel_size()
                           << ", dilation=" << options.dilation() << ", padding=" << options.padding()
                           << ", stride=" << options.stride(),
            (const Tensor& input), functional::fold(input, options));
TORCH_LAYER(Unfold,
            "kernel_size=" << options.kernel_size() << ", dilation=" << options.dilation()
                           << ", padding=" << options.padding() << ", stride=" << options.stride(),
            (const Tensor& input), functional::unfold(input, options));

}  // namespace torch::nn
