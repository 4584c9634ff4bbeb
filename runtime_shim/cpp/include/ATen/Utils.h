// at::detail::getDefaultCPUGenerator and the like come with the functions.
#pragma once

#include <ATen/Functions.h>
