// The guards and settings under their torch:: names.
#pragma once

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/types.h>

namespace torch {

using NoGradGuard = at::NoGradGuard;
using AutoGradMode = at::AutoGradMode;
using at::get_num_interop_threads;
using at::get_num_threads;
using at::init_num_threads;
using at::manual_seed;
using at::set_num_threads;

/// The dtype that factories give when none is asked for.
inline caffe2::TypeMeta get_default_dtype() {
  static const guardfix::Hook read{"default_dtype_name"};
  return caffe2::TypeMeta(at::detail::scalar_type_named(read({})));
}
inline void set_default_dtype(caffe2::TypeMeta type) {
  static const guardfix::Op op{"set_default_dtype"};
  op({type.toScalarType()});
}

/// True when both are undefined, or both are defined and equal.
inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return (!a.defined() && !b.defined()) || (a.defined() && b.defined() && at::equal(a, b));
}

}  // namespace torch
