"""The layers of ops that write to their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.dtypes import Array
from ..core.python_key import ASKING
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, PYTHON, ThreadState
from ..tape.history import check_inplace, rebase_history, reshape_history
from ..tape.saved_tensors import Saved
from .functional_layers import recorded_node
from .layer_counts import COUNTS
from .memory_overlap import assert_no_overlap, may_share
from .op_description import Op
from .op_node import OpNode
from .tensor_arguments import _not_a_tensor, arguments_of, arrays


def bump(t: Tensor, state: ThreadState) -> None:
    """Count a write on `t`; RuntimeError on an inference tensor outside inference mode, after the write."""
    counter = t._version_counter
    if counter is not None:
        counter[0] += 1
        COUNTS["version_bumps"] += 1
    elif not state.inference_mode:
        raise RuntimeError(error_texts.INPLACE_ON_INFERENCE)


def inplace(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Tensor:
    """Run the in-place form of an op through the layers; `args[0]` is written to and returned."""
    self = args[0]
    if not isinstance(self, Tensor):
        _not_a_tensor(op, args)
    tensors, keys = arguments_of(op, args)
    forms = op.recorded_in_place
    recorded = op if forms is None else forms[isinstance(args[-1], Tensor)]
    return write_through_layers(recorded, state, self, args, tensors, keys, lambda: run_inplace_kernel(op, self, args))


def write_through_layers(
    op: Op,
    state: ThreadState,
    self: Tensor,
    args: tuple[Any, ...],
    tensors: list[Tensor],
    keys: int,
    kernel: Callable[[], None],
) -> Tensor:
    """The layers of an in-place op around `kernel`, which writes to `self`."""
    keys = (keys | state.included) & ~state.excluded
    if keys & PYTHON:
        kernel = ASKING.write(op, state, args)
    if state.before_write is not None:
        state.before_write(self)
    node: OpNode | None = None
    # Logic has no gradient at all: PyTorch does not even look whether its target requires one.
    recorded = (op.rebases_integers or self._array.dtype.kind in "fcV") and not op.name.startswith("logical_")
    if keys & AUTOGRAD and recorded and state.grad_mode and any(requires_grad(t) for t in tensors):
        check_inplace(self)
        if op.differentiable:
            node, _ = recorded_node(op, args, self)
            kernel()
        else:
            kernel()
    else:
        kernel()
    self._storage[0] += 1
    if keys & ADINPLACEORVIEW:
        bump(self, state)
    if node is not None:
        if op.reshapes:
            reshape_history(self, node)
        else:
            rebase_history(self, node)
        if op.saves_result:
            node.saved["result"] = Saved(self, True)
    if state.tracer is not None:
        state.tracer.record(op.name + "_", keys, self)
    return self


def run_inplace_kernel(op: Op, self: Tensor, args: tuple[Any, ...]) -> None:
    target = self._array
    if op.checks_overlap:
        assert_no_overlap(self, args)
    if op.out.apart and any(isinstance(a, Tensor) and may_share(self, a) for a in args[1:]):
        raise RuntimeError(error_texts.PARTIAL_OVERLAP)
    if op.inplace_kernel is not None:
        op.inplace_kernel(*arrays(args))
        return
    found = np.asarray(op.kernel(*arrays(args)))
    store(target, found)


def store(target: Array, found: Array) -> None:
    """Write a result into an existing array, with PyTorch's checks of shape and dtype."""
    if found.shape != target.shape:
        shape = dtypes.broadcast_shapes(target.shape, found.shape)
        if shape != target.shape:
            raise RuntimeError(
                f"output with shape {dtypes.sizes(target.shape)} doesn't match the broadcast shape "
                f"{dtypes.sizes(shape)}"
            )
    if not dtypes.can_cast(found.dtype, target.dtype):
        raise dtypes.cast_error(found.dtype, target.dtype)
    np.copyto(target, found, casting="unsafe")
