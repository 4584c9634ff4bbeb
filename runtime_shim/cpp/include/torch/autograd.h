#pragma once

#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/autograd.h>
#if !defined(GUARDFIX_PROGRAM) || defined(GUARDFIX_WITH_REGISTRATION)
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#endif
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/csrc/autograd/variable.h>
