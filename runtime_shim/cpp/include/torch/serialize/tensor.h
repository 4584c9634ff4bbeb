// Comes with both archives.
#pragma once

#include <torch/serialize/archive.h>
