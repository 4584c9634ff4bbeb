// torch::optim::AdamW stands with Adam.
#pragma once

#include <torch/optim/adam.h>
