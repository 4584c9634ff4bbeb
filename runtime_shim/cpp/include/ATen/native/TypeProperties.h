// The type that arithmetic on several tensors gives.
#pragma once

#include <ATen/Functions.h>

namespace at::native {

/// Tensors with dimensions go before those without, unless these are of a higher kind: bool, integer, real, complex.
inline ScalarType result_type(TensorList tensors) {
  const auto kind = [](ScalarType type) {
    return isComplexType(type) ? 3 : isFloatingType(type) ? 2 : isIntegralType(type, false) ? 1 : 0;
  };
  ScalarType with_dims = ScalarType::Undefined, without = ScalarType::Undefined;
  for (const Tensor& tensor : tensors) {
    ScalarType& type = tensor.dim() > 0 ? with_dims : without;
    type = type == ScalarType::Undefined ? tensor.scalar_type() : promote_types(type, tensor.scalar_type());
  }
  TORCH_CHECK(with_dims != ScalarType::Undefined || without != ScalarType::Undefined, "there is no tensor");
  if (with_dims == ScalarType::Undefined) return without;
  if (without == ScalarType::Undefined || kind(with_dims) >= kind(without)) return with_dims;
  return promote_types(with_dims, without);
}

}  // namespace at::native
