// The types of TorchScript come with its values.
#pragma once

#include <ATen/core/ivalue.h>
