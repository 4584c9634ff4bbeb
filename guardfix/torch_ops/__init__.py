"""What PyTorch's ops do: what they make, write and save for backward, as seen on PyTorch 2.13.

The rows are in torch_ops.tsv, which `bench/torch_ops_table/write_torch_ops.py` writes where PyTorch is installed. This
package imports nothing of guardfix, and reads the file when somebody first asks.
"""

from __future__ import annotations

from .op_lookup import (
    TENSOR_PROPERTIES,
    cpp,
    cpp_method,
    function,
    layer,
    method,
    modules_have,
    only_tensors_have,
    operator,
)
from .op_table import ArgumentOfOp as Argument
from .op_table import Layer, Op

__all__ = [
    "TENSOR_PROPERTIES",
    "Argument",
    "Layer",
    "Op",
    "cpp",
    "cpp_method",
    "function",
    "layer",
    "method",
    "modules_have",
    "only_tensors_have",
    "operator",
]
