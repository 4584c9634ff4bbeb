// torch::jit::parseSchema stands with what it makes.
#pragma once

#include <ATen/core/function_schema.h>
