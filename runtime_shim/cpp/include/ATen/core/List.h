// c10::List<T>: a list with reference semantics, as TorchScript has it: copies share the elements.
#pragma once

#include <ATen/core/ivalue.h>
