// c10::Dict<K, V>: a dictionary with reference semantics that keeps the order of insertion, as TorchScript has it.
#pragma once

#include <ATen/core/ivalue.h>
