// Comes with the optimizers.
#pragma once

#include <torch/optim/optimizer.h>
