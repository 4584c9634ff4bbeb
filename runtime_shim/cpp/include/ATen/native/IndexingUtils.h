#pragma once

#include <ATen/core/Tensor.h>

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
