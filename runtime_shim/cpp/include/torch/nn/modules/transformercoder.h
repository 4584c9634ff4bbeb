// Comes with the transformer.
#pragma once

#include <torch/nn/modules/transformer.h>
