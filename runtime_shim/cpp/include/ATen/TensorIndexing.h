// Indices as in t.index({0, Slice(1, 3), "...", None, mask}); they come with the tensor.
#pragma once

#include <ATen/core/Tensor.h>
