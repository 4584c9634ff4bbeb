"""The ops, by subject. Importing this package registers them all, and completes Tensor.

Whoever hands out tensors imports it, so that there is no tensor without its methods. It is named after PyTorch's own
library of ops, since `torch.ops` is something else: the namespace of ops that programs define.
"""

from ..autograd import tensor_methods  # noqa: F401
from ..core import storage, tensor_printing  # noqa: F401
from ..core.function_table import FUNCTIONS
from ..core.supported_names import mark_unsupported
from ..core.tensor import Tensor
from . import (  # noqa: F401
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
    parts,
    pickling,
    powers,
    random_numbers,
    reductions,
    several_views,
    sorting,
    spread,
    strided,
    tensor_operators,
    transposes,
    views,
)

from . import out_forms  # noqa: F401  isort: skip  (likewise)

mark_unsupported()

__all__ = ["FUNCTIONS", "Tensor"]
