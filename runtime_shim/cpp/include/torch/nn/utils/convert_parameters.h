// torch::nn::utils::parameters_to_vector and back.
#pragma once

#include <torch/types.h>

namespace torch::nn::utils {

inline Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view(-1));
  return at::cat(flat);
}
/// Each parameter gets its part of the vector.
inline void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const int64_t count = parameter.numel();
    parameter.set_data(vec.slice(0, begin, begin + count).view_as(parameter).data());
    begin += count;
  }
}

}  // namespace torch::nn::utils
