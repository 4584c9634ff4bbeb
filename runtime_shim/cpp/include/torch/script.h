// What a program includes to run TorchScript modules.
#pragma once

#include <c10/util/standard_library.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/jit.h>
#include <torch/types.h>
