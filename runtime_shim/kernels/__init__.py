"""The ops, by subject. Importing this package registers them all."""

from guardfix.runtime_shim.kernels import (  # noqa: F401
    activations,
    creation,
    elementwise,
    indexing,
    inplace,
    joining,
    linalg,
    reductions,
    views,
)

from guardfix.runtime_shim.kernels import dtype_support  # noqa: F401  isort: skip  (wraps what the others registered)
