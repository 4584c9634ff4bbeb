// Comes with the nodes.
#pragma once

#include <torch/csrc/autograd/function.h>
