#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>
