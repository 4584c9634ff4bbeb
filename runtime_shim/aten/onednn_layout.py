"""Tensors in oneDNN's layout: `to_mkldnn()`, `to_dense()`, and what lets an op take or make them.

Source of the behaviour: ATen/native/mkldnn/MKLDNNConversions.cpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.device import mkldnn
from ..core.dtypes import Array
from ..core.onednn_array import OneDnnArray, elements_of
from ..core.tensor import Tensor, new_tensor, requires_grad
from ..core.thread_state import AUTOGRAD, tls
from ..dispatch.functional_layers import recorded_node
from ..dispatch.op_description import Op
from ..dispatch.recorded_writes import describe_recording
from ..dispatch.registration import composite
from ..tape.history import set_history

#: The dtypes that oneDNN has.
_CHARS = "febBV"
_MOST_DIMENSIONS = 5


def as_dense(t: Tensor) -> Tensor:
    """The tensor itself, or what it is in numpy's layout."""
    return to_dense(t) if type(t._array) is OneDnnArray else t


def result_in_layout(op: Op, args: tuple[Any, ...], found: Array, opaque: bool) -> Tensor:
    """`found` as the result of an op that was computed on elements; recorded if an input requires grad."""
    state = tls.state
    tensors = [t for t in args if isinstance(t, Tensor)]
    keys = state.included
    for t in tensors:
        keys |= t._keys
    keys &= ~state.excluded
    node = None
    if keys & AUTOGRAD and state.grad_mode and any(requires_grad(t) for t in tensors):
        node, _ = recorded_node(op, args)
    made = new_tensor(found)
    if opaque:
        made._array = OneDnnArray(found)  # type: ignore[assignment]
        made._storage = [0, made._array]
    if node is not None:
        set_history(made, node)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, made)
    return made


_TO_MKLDNN = describe_recording("to_mkldnn", lambda self: self, {"self": lambda grad: as_dense(grad)})
_TO_DENSE = describe_recording(
    "to_dense", lambda self: self, {"self": lambda grad: grad if grad.layout is mkldnn else to_mkldnn(grad)}
)


@composite("to_mkldnn", function=False)
def to_mkldnn(self: Tensor, dtype: Any = None) -> Tensor:
    """A copy in oneDNN's layout. RuntimeError if it has that already, more than 5 dimensions, or another dtype than
    oneDNN's.
    """
    if self.layout is mkldnn:
        raise RuntimeError("dense_to_mkldnn expects dense CPU tensor input")
    source = self if dtype is None else self.to(dtype)
    if source._array.dtype.char not in _CHARS:
        raise RuntimeError("dense_to_mkldnn expects float, bfloat16, half, uint8, int8 tensor input")
    if source._array.ndim > _MOST_DIMENSIONS:
        raise RuntimeError(f"Can't convert cpu tensor with the number of dimensions > {_MOST_DIMENSIONS}")
    return result_in_layout(_TO_MKLDNN, (source,), np.array(source._array, order="C"), opaque=True)


@composite("to_dense", function=False)
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """A copy in numpy's layout of a tensor that has oneDNN's; any other tensor itself."""
    if self.layout is mkldnn:
        self = result_in_layout(_TO_DENSE, (self,), elements_of(self).copy(), opaque=False)
    return self if dtype is None else self.to(dtype)
