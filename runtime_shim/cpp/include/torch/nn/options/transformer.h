// Comes with the options of the other modules.
#pragma once

#include <torch/nn/options.h>
