"""The ops, by subject. Importing this package registers them all, and completes Tensor.

Whoever hands out tensors imports it, so that there is no tensor without its methods.
"""

from guardfix.runtime_shim._tensor import Tensor
from guardfix.runtime_shim.kernels import (  # noqa: F401
    activations,
    choosing,
    complex_views,
    copies,
    creation,
    elementwise,
    gathering,
    indexing,
    inplace,
    joining,
    linalg,
    masks,
    operators,
    parts,
    random,
    reductions,
    several_views,
    sorting,
    spread,
    strided,
    views,
)
from guardfix.runtime_shim.names import mark_unsupported
from guardfix.runtime_shim.operation import FUNCTIONS

from guardfix.runtime_shim.kernels import dtype_support  # noqa: F401  isort: skip  (wraps what the others registered)

from guardfix.runtime_shim.kernels import out_dtypes  # noqa: F401  isort: skip  (what the others registered)

from guardfix.runtime_shim.kernels import out_forms  # noqa: F401  isort: skip  (likewise)

mark_unsupported()

__all__ = ["FUNCTIONS", "Tensor"]
