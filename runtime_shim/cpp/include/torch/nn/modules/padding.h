// Padding as layers, and layers that resample images.
#pragma once

#include <torch/nn/functional/conv.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

#define TORCH_PADDING(Name, mode, value, printed_value)                                  \
  TORCH_LAYER(Name, "padding=" << IntArrayRef(options.padding()) printed_value, (const Tensor& input), \
              functional::detail::padded(input, options.padding(), mode, value))
#define TORCH_PADDINGS(D)                                                                                    \
  TORCH_PADDING(ReflectionPad##D##d, "reflect", 0, );                                                        \
  TORCH_PADDING(ReplicationPad##D##d, "replicate", 0, );                                                     \
  TORCH_PADDING(ZeroPad##D##d, "constant", 0, );                                                             \
  TORCH_PADDING(ConstantPad##D##d, "constant", options.value(), << ", value=" << options.value())
TORCH_PADDINGS(1);
TORCH_PADDINGS(2);
TORCH_PADDINGS(3);
#undef TORCH_PADDINGS
#undef TORCH_PADDING

TORCH_LAYER(PixelShuffle, "upscale_factor=" << options.upscale_factor(), (const Tensor& input),
            functional::pixel_shuffle(input, options));
TORCH_LAYER(PixelUnshuffle, "downscale_factor=" << options.downscale_factor(), (const Tensor& input),
            functional::pixel_unshuffle(input, options));

class UpsampleImpl : public OptionsModule<UpsampleImpl, UpsampleOptions> {
 public:
  using OptionsModule::OptionsModule;
  UpsampleImpl() = default;
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Upsample(";
    if (options.scale_factor().has_value()) {
      stream << "scale_factor=" << ArrayRef<double>(*options.scale_factor());
    } else if (options.size().has_value()) {
      stream << "size=" << IntArrayRef(*options.size());
    }
    stream << ", mode=" << options.mode().name() << ')';
  }
  Tensor forward(const Tensor& input) {
    auto how = functional::InterpolateFuncOptions()
                   .size(options.size())
                   .scale_factor(options.scale_factor())
                   .align_corners(options.align_corners());
    const auto& mode = options.mode();
    if (mode.is<enumtype::kNearest>()) how.mode(torch::kNearest);
    if (mode.is<enumtype::kLinear>()) how.mode(torch::kLinear);
    if (mode.is<enumtype::kBilinear>()) how.mode(torch::kBilinear);
    if (mode.is<enumtype::kBicubic>()) how.mode(torch::kBicubic);
    if (mode.is<enumtype::kTrilinear>()) how.mode(torch::kTrilinear);
    return functional::interpolate(input, how);
  }
};
TORCH_MODULE(Upsample);

}  // namespace torch::nn
