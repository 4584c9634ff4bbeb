// at::Reduction comes with the functions.
#pragma once

#include <ATen/Functions.h>
