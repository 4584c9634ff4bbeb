// What an extension module includes.
#pragma once

#include <torch/all.h>

#if defined(TORCH_EXTENSION_NAME) || defined(TORCH_API_INCLUDE_EXTENSION_H)  // a module is being built
#if !__has_include(<pybind11/pybind11.h>)
#error "pybind11 was not found: install it with `pip install 'guardfix[extensions]'`"
#endif
#include <torch/python.h>
#else
#include <guardfix/module_block.h>
#endif
