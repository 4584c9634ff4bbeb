// torch::jit::load comes with the module.
#pragma once

#include <torch/csrc/jit/api/module.h>
