// Nodes of PyTorch's own are the shim's business; this brings what programs make themselves.
#pragma once

#include <torch/csrc/autograd/custom_function.h>
