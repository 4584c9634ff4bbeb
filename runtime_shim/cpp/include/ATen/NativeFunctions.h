#pragma once

#include <ATen/Functions.h>

namespace at::native {
using at::is_nonzero;
}
