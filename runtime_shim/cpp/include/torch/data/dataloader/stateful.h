// Comes with the loaders.
#pragma once

#include <torch/data/dataloader.h>
