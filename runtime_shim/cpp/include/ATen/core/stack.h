// torch::jit::Stack comes with the values.
#pragma once

#include <ATen/core/ivalue.h>
