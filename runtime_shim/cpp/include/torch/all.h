// Everything of torch::. `guardfix run` leaves out what a program cannot use: the C++ frontend, or modules of archives.
#pragma once

#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/fft.h>
#ifndef GUARDFIX_WITHOUT_MODULES
#include <torch/jit.h>
#endif
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
