#pragma once

#include <ATen/WrapDimUtils.h>
