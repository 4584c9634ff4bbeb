// Everything of torch::. `guardfix run` leaves the C++ frontend out where a program cannot use it.
#pragma once

#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/fft.h>
#include <torch/jit.h>
#include <torch/linalg.h>
#ifndef GUARDFIX_WITHOUT_FRONTEND
#ifndef GUARDFIX_WITHOUT_DATA
#include <torch/data.h>
#endif
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/serialize.h>
#endif
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

// Sources rely on the headers of the standard library that PyTorch's headers bring along.
#include <c10/util/standard_library.h>
