#pragma once

#include <ATen/core/boxing/KernelFunction.h>
