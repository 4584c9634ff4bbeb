// Everything of at::. `guardfix run` leaves out what a program cannot use.
#pragma once

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#ifndef GUARDFIX_WITHOUT_NATIVE
#include <ATen/NativeFunctions.h>
#include <ATen/TensorIterator.h>
#endif
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Formatting.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/qualified_name.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/CallOnce.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/accumulate.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/standard_library.h>
#include <torch/detail/TensorDataContainer.h>
