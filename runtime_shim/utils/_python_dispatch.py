"""`torch.utils._python_dispatch`: modes that see every op below autograd, and may answer in its place.

    class Logging(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)
            return func(*args, **(kwargs or {}))

An op calls its mode where its kernel would run, with autograd and view tracking off and the mode itself off. A mode
sees ops that are given tensors, custom ops, and the most common ways to create tensors. Without a mode, ops know
nothing of them: entering the first replaces the functions that ops go through, leaving the last puts them back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, cast

from ..core.late_modules import late_module
from ..core.tensor import Tensor
from ..core.thread_state import ASKING, BACKEND, PYTHON, ThreadState, tls
from ..dispatch import functional_layers, view_layers, writing_layers
from ..dispatch.op_description import Op
from ..dispatch.op_node import arguments_of
from ..library.custom_ops import COMPOSITE, OpOverload
from .torch_dispatch import share_memory

__all__ = ["TorchDispatchMode", "return_and_correct_aliasing"]


class TorchDispatchMode:
    """Inside, ops of this thread call `__torch_dispatch__(func, types, args, kwargs)`, whose result is theirs."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    @classmethod
    def is_infra_mode(cls) -> bool:
        return False

    def __enter__(self) -> Any:
        _MODES.push(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _MODES.pop()


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    modes = tls.state.dispatch_modes
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    return list(tls.state.dispatch_modes)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether there is a mode, or one that isn't infrastructure."""
    modes = tls.state.dispatch_modes
    return any(include_infra_modes or not mode.is_infra_mode() for mode in modes)


_VIEWS = frozenset(
    "alias as_strided detach diagonal expand narrow permute select slice split split_with_sizes squeeze t transpose "
    "unbind unfold unsqueeze view view_as_complex view_as_real".split()
)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """What a wrapper's `__torch_dispatch__` returns of an op that it ran on what it wraps: an argument that the op
    writes to, or the results, which lie in the memory of the argument that they are views of.
    """
    if (kwargs or {}).get("out") is not None:
        return kwargs["out"]
    name = func._opname
    if name.endswith("_") and not name.endswith("__"):
        return args[0]
    if isinstance(func, OpOverload):
        assert func._schema is not None
        written = list(func._schema.written_returns)
        return args[0] if len(written) == 1 else out
    if name in _VIEWS:
        for view in out if isinstance(out, (list, tuple)) else (out,):
            if isinstance(view, Tensor):
                share_memory(view, args[0])
    return out


# -- the functions that ops go through


def _functional(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Any:
    if not state.dispatch_modes:
        return _ORIGINAL[functional_layers, "functional"](op, state, args)
    tensors, keys = arguments_of(op, args)
    return ASKING.functional(op, state, args, tensors, (keys | state.included) & ~state.excluded)


def _write_through_layers(
    op: Op,
    state: ThreadState,
    self: Tensor,
    args: tuple[Any, ...],
    tensors: list[Tensor],
    keys: int,
    kernel: Callable[[], None],
) -> Tensor:
    if state.dispatch_modes and not keys & PYTHON:
        kernel = ASKING.write(op, state, args)
    found: Tensor = _ORIGINAL[writing_layers, "write_through_layers"](op, state, self, args, tensors, keys, kernel)
    return found


def _make_view(op: Op, self: Tensor, array: Any, args: tuple[Any, ...], multi: bool = False) -> Tensor:
    state = tls.state
    if not state.dispatch_modes:
        return cast(Tensor, _ORIGINAL[view_layers, "make_view"](op, self, array, args, multi))
    return cast(Tensor, ASKING.view(op, state, self, args, (self._keys | state.included) & ~state.excluded, multi))


def _make_views(op: Op, self: Tensor, found: Sequence[Any], args: tuple[Any, ...]) -> list[Tensor]:
    state = tls.state
    if not state.dispatch_modes:
        return cast("list[Tensor]", _ORIGINAL[view_layers, "make_views"](op, self, found, args))
    return cast("list[Tensor]", ASKING.views(op, state, self, args, (self._keys | state.included) & ~state.excluded))


def _call_custom(
    op: OpOverload, kernel: Any, bit: int, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    state = tls.state
    if state.dispatch_modes and not keys & PYTHON and bit == BACKEND and kernel not in op.kernels.get(COMPOSITE, ()):
        return ASKING.ask(op, args, kwargs)
    return _ORIGINAL[OpOverload, "_call"](op, kernel, bit, keys, args, kwargs)


_REPLACEMENTS: dict[tuple[Any, str], Callable[..., Any]] = {
    (functional_layers, "functional"): _functional,
    (writing_layers, "write_through_layers"): _write_through_layers,
    (view_layers, "make_view"): _make_view,
    (view_layers, "make_views"): _make_views,
    (OpOverload, "_call"): _call_custom,
}
_ORIGINAL = {place: getattr(*place) for place in _REPLACEMENTS}
#: Modules that have imported one of the functions by its name.
_IMPORTED_BY = (
    "dispatch.registration",
    "dispatch.functional_layers",
    "dispatch.writing_layers",
    "dispatch.view_layers",
    "aten.ufunc_makers",
    "aten.slicing_views",
    "aten.indexing",
    "aten.inplace",
    "aten.bit_views",
    "aten.views",
)


class _Modes:
    """The modes of all threads: as long as there is one, the replacements are in place."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0

    def push(self, mode: TorchDispatchMode) -> None:
        with self.lock:
            self.count += 1
            if self.count == 1:
                self.put(_REPLACEMENTS)
        tls.state.dispatch_modes.append(mode)

    def pop(self) -> None:
        tls.state.dispatch_modes.pop()
        with self.lock:
            self.count -= 1
            if not self.count:
                self.put(_ORIGINAL)

    def put(self, functions: dict[tuple[Any, str], Callable[..., Any]]) -> None:
        modules: list[ModuleType] = [late_module(name) for name in _IMPORTED_BY]
        for (home, name), function in functions.items():
            if home is OpOverload:
                setattr(OpOverload, name, function)
                continue
            for module in modules:
                if name in vars(module):
                    setattr(module, name, function)


_MODES = _Modes()
