// PyTorch's own forwarding header.
#pragma once

#include <c10/core/ScalarType.h>
