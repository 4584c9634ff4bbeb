// RECORD_FUNCTION: marks for the profiler, which isn't there.
#pragma once

#include <c10/util/ArrayRef.h>

#define RECORD_FUNCTION(...) static_cast<void>(0)
#define RECORD_USER_SCOPE(...) static_cast<void>(0)
#define RECORD_FUNCTION_WITH_SCOPE(...) static_cast<void>(0)
#define RECORD_TORCHSCRIPT_FUNCTION(...) static_cast<void>(0)
