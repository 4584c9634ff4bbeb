// at::detail::getDefaultCPUGenerator and the like come with the functions.
#pragma once

#include <ATen/Functions.h>

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
