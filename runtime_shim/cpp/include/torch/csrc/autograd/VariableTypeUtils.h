// For kernels of the program's own under Autograd or ADInplaceOrView.
#pragma once

#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

/// Counts one more change of `t`, as the ADInplaceOrView kernel of an in-place op does.
inline void increment_version(const at::Tensor& t) { impl::bump_version(t); }

}  // namespace torch::autograd
