"""View ops whose result is a copy: `t_copy`, `split_copy` and the like, and the diagonal of a matrix.

The view's kernel, checks and gradients are used as they are; the node is one of the copy's own, named after the view's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..core.dtypes import Array
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.op_description import ANY_DTYPE, RESIZED, Op
from ..dispatch.op_node import OpNode, make_node
from ..dispatch.registration import composite, op
from ..tape.history import set_history
from .absent_gradients import no_autograd_kernel
from .copies import clone
from .parts import slice_

#: By the op of a view: what its copy is recorded as.
_COPIED: dict[Op, Op] = {}

#: PyTorch has no derivative of these copies for complex numbers.
_REAL_ALONE = frozenset(("select_copy", "slice_copy", "view_as_complex_copy"))


def _node_of(view: Tensor) -> OpNode | None:
    """The node for the copies of `view` and of the other views that were made with it."""
    made = None if view._meta is None else view._meta.grad_fn
    if not isinstance(made, OpNode):
        return None
    described = _COPIED.get(made.op)
    if described is None:
        described = _COPIED[made.op] = dataclasses.replace(made.op, node_name=f"{made.op.node_name}_copy")
    return make_node(described, made.next_edges, made.saved)


def _copied(name: str, found: Any) -> Any:
    """A copy of the view, or of each of the views, that `found` is."""
    views = [found] if isinstance(found, Tensor) else list(found)
    node = _node_of(views[0]) if views else None
    if node is not None and name in _REAL_ALONE and views[0].is_complex():
        raise RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype.")
    state = tls.state
    grad_mode, state.grad_mode = state.grad_mode, False
    try:
        copies = [clone(view, memory_format="contiguous") for view in views]
    finally:
        state.grad_mode = grad_mode
    if node is not None:
        for nr, made in enumerate(copies):
            set_history(made, node, nr)
    return copies[0] if isinstance(found, Tensor) else tuple(copies)


def _register(name: str, view: Callable[..., Any] | None = None) -> None:
    def copy(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        taken = view or vars(Tensor).get(name) or FUNCTIONS[name]
        return _copied(f"{name}_copy", taken(self, *args, **kwargs))

    composite(f"{name}_copy", method=False, out=RESIZED)(copy)


_VIEWS = "view diagonal transpose permute select squeeze unsqueeze expand unbind split t alias unfold as_strided"
_VIEWS += " view_as_real view_as_complex split_with_sizes"
for _name in _VIEWS.split():
    _register(_name)
_register("slice", slice_)


@op(
    "detach_copy",
    computes=ANY_DTYPE,
    out=RESIZED,
    node="NotImplemented",
    method=False,
    leak=1,
    self=no_autograd_kernel("detach_copy"),
)
def detach_copy(self: Any) -> Array:
    found: Array = self.copy(order="C")
    return found


def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    made: Tensor = FUNCTIONS["diagonal_copy"](self, offset, dim1, dim2)
    return made
