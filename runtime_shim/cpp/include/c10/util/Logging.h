// Marks for statistics of PyTorch's own, which mean nothing here.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#define C10_LOG_API_USAGE_ONCE(...) [[maybe_unused]] static const bool C10_ANONYMOUS_VARIABLE(used_once) = true;
#define C10_LOG_EVENT_SAMPLED(...)
