"""The layers of view ops: an alias of the memory, its history, its record as a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.dtypes import Array
from ..core.error_texts import wrong_type
from ..core.function_table import FUNCTIONS
from ..core.tensor import (
    DEFAULT,
    INFERENCE_MODE,
    MULTI_OUTPUT_NODE,
    NO_GRAD_MODE,
    AutogradMeta,
    Tensor,
    alias,
    current_version,
    requires_grad,
)
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, tls
from ..tape.history import gradient_edge, set_history
from .functional_layers import recorded_node
from .op_description import ANY_DTYPE, OPS, Op, describe, said
from .op_node import OpNode
from .registration import publish
from .writing_layers import COUNTS


def propagate_creation_meta(previous: int, new: int) -> int:
    if new == DEFAULT:
        return previous
    return previous if previous == INFERENCE_MODE else new


def track(view: Tensor, base: Tensor, creation_meta: int) -> None:
    """Make `view` a tracked view of `base`'s root: it shares the counter, and history by way of the base."""
    meta = base._meta
    if meta is not None and meta.base is not None:
        root = meta.base
        creation_meta = propagate_creation_meta(meta.creation_meta, creation_meta)
    else:
        root = base
    made = AutogradMeta()
    made.base = root
    made.creation_meta = creation_meta
    view._version_counter = root._version_counter
    made.attr_version = current_version(root)
    previous = None if meta is None else meta.view_fn
    if previous is not None or view._array.dtype != base._array.dtype:
        if base is not root and previous is None:
            previous = _windowed(root, base, lambda t: t)
        made.view_fn = _replay(view, base, previous)
    view._meta = made
    COUNTS["view_records"] += 1


def _replay(view: Tensor, base: Tensor, previous: Callable[[Tensor], Tensor] | None) -> Callable[[Tensor], Tensor]:
    """Replays a view of `base` on another tensor, after `previous`, which replays `base` itself.

    A window of strides onto the root base cannot tell of a view that changes the dtype.
    """
    if view._array.dtype != base._array.dtype:
        name: str = "view"
        args: tuple[object, ...] = (view.dtype,)
        if "c" in (view._array.dtype.kind, base._array.dtype.kind):
            name, args = "view_as_real" if base._array.dtype.kind == "c" else "view_as_complex", ()
        return lambda root: FUNCTIONS[name](previous(root) if previous else root, *args)
    assert previous is not None
    return _windowed(base, view, previous)


def _windowed(base: Tensor, view: Tensor, previous: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    shape, strides, shift = view._array.shape, view.stride(), view.storage_offset() - base.storage_offset()

    def replay(root: Tensor) -> Tensor:
        source = previous(root)
        return source.as_strided(shape, strides, source.storage_offset() + shift)

    return replay


def make_view(op: Op, self: Tensor, array: Array, args: tuple[object, ...], multi: bool = False) -> Tensor:
    """A view op's layers around `array`, an alias of `self`'s memory."""
    state = tls.state
    keys = (state.included | self._keys) & ~state.excluded
    inference = not self._keys & AUTOGRAD
    node: OpNode | None = None
    if keys & AUTOGRAD and state.grad_mode and op.differentiable and requires_grad(self):
        node, _ = recorded_node(op, (self, *args))
    view = alias(self, array, self._keys, None if inference else [0])
    if keys & ADINPLACEORVIEW and not inference:
        if state.inference_mode:
            creation_meta = INFERENCE_MODE
        elif not state.grad_mode:
            creation_meta = NO_GRAD_MODE
        else:
            creation_meta = MULTI_OUTPUT_NODE if multi else DEFAULT
        track(view, self, creation_meta)
    if node is not None:
        if array.dtype.kind not in "fcV":
            raise RuntimeError(f"Autograd not support dtype: {view.dtype.scalar_name}")
        set_history(view, node)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, view)
    return view


def check_history(self: Tensor) -> None:
    """RuntimeError if `self` is a view that mayn't be used any more, which PyTorch finds before a kernel runs."""
    if isinstance(self, Tensor) and self._keys & AUTOGRAD & ~tls.state.excluded and tls.state.grad_mode:
        gradient_edge(self)


def make_views(op: Op, self: Tensor, found: Sequence[Array], args: tuple[object, ...]) -> list[Tensor]:
    """Like make_view for an op that returns several views of which one node is the history."""
    state = tls.state
    keys = (state.included | self._keys) & ~state.excluded
    node: OpNode | None = None
    if keys & AUTOGRAD and state.grad_mode and op.differentiable and requires_grad(self):
        node, _ = recorded_node(op, (self, *args))
    views = []
    for nr, array in enumerate(found):
        inference = not self._keys & AUTOGRAD
        view = alias(self, array, self._keys, None if inference else [0])
        if keys & ADINPLACEORVIEW and not inference:
            if state.inference_mode:
                creation_meta = INFERENCE_MODE
            else:
                creation_meta = MULTI_OUTPUT_NODE if state.grad_mode else NO_GRAD_MODE
            track(view, self, creation_meta)
        if node is not None:
            set_history(view, node, nr)
        views.append(view)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, views)
    return views


def view_op(
    name: str,
    /,
    *,
    method: bool = True,
    function: bool = True,
    **facts: object,
) -> Callable[[Callable[..., Array]], Callable[..., Tensor]]:
    """Register a view op: the kernel returns an array that shares the memory of its first argument."""

    def register(kernel: Callable[..., Array]) -> Callable[..., Tensor]:
        made = OPS[name] = describe(
            name,
            kernel,
            tensor_params=(kernel.__code__.co_varnames[0],),
            computes=ANY_DTYPE,
            views=True,
            **said(facts),
        )

        def call(self: Tensor, *args: object, **kwargs: object) -> Tensor:
            if kwargs:
                args, kwargs = made.bind((self, *args), kwargs)[1:], {}
            try:
                array = kernel(self._array, *args, **kwargs)
            except (RuntimeError, IndexError):
                check_history(self)
                raise
            except AttributeError:
                if isinstance(self, Tensor):
                    raise
                raise wrong_type(name, "self", 1, self) from None
            if len(args) != count:
                args = made.bind((self, *args), kwargs)[1:]
            return make_view(made, self, array, args)

        count = len(made.params) - 1
        call.op = made  # type: ignore[attr-defined]
        publish(name, call, method, function)
        return call

    return register
