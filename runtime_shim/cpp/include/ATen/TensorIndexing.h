// Indices as in t.index({0, Slice(1, 3), "...", None, mask}); they come with the tensor.
#pragma once

#include <ATen/core/Tensor.h>

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
