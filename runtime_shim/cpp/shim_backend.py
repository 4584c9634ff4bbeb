"""The shim behind the headers."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from guardfix.torch_ops.op_table import ops

from .. import _C
from ..aten.slicing_views import slice_
from ..core.function_table import AnyFunction
from ..core.gradient_modes import _leave as forget_guard
from ..core.tensor import Tensor
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND, tls
from ..core.tracing import Flags, Step, Trace, flags_of
from ..dispatch.op_description import EXPECTED_OUT
from ..dispatch.writing_layers import resize_output
from ..library import missing_autograd, op_library, script_classes
from ..library.custom_ops import CompiledKernel
from ..tape.history import CopySlices
from ..tape.nodes import node_class
from ..tape.saved_tensors import SavedNumber
from . import cpp_backend as base
from .cpp_backend import Backend
from .op_spellings import AnyTensor


class TracePrinter(Trace):
    """A trace whose steps are written to a stream when they are recorded; nothing is kept.

    c10::InferenceMode(true) {
      mul_        ADInplaceOrView CPU            -> float32[2, 3] normal version 1
    }
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream
        self._shown: dict[int, list[str]] = {}  # by thread state: the scopes that are open on paper

    def __enter__(self) -> TracePrinter:
        self._attach()
        return self

    def __exit__(self, *_: object) -> None:
        state = tls.state
        state.tracer = None

    def traced(self, function: Callable[..., object]) -> AnyFunction:
        """`function`, with its thread attached to this trace: a new thread starts without."""

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Any:
            self._attach()
            return function(*args, **kwargs)

        return call

    def _attach(self) -> None:
        state = tls.state
        if state.tracer is None:
            state.tracer = self

    def record(self, op: str, keys: int, result: object) -> None:
        super().record(op, keys, result)
        self._write_step(self.steps.pop())

    def guards_changed(self) -> None:
        """Write the ends and the beginnings of scopes since the last line of this thread."""
        state = tls.state
        shown, now = self._shown.setdefault(id(state), []), state.guards
        common = 0
        while common < min(len(shown), len(now)) and shown[common] == now[common]:
            common += 1
        while len(shown) > common:
            shown.pop()
            self._write("}")
        for name in now[common:]:
            self._write(f"{name} {{")
            shown.append(name)

    def enter_op(self, name: str, key: str) -> None:
        """A kernel of an op of the program's own begins."""
        self._attach()
        tls.state.guards.append(f"{name} [{key}]")
        self.guards_changed()

    def leave_op(self, name: str, key: str, result: Tensor | None) -> None:
        guards = tls.state.guards
        while guards and guards.pop() != f"{name} [{key}]":
            pass
        self.guards_changed()
        if result is not None:
            self._write_line(name, (key,), (flags_of(result),))

    def _write_step(self, step: Step) -> None:
        self.guards_changed()
        self._write_line(step.op, step.kernels, step.results)

    def _write_line(self, op: str, kernels: tuple[str, ...], results: tuple[Flags, ...]) -> None:
        shown = "; ".join(_in_words(flags) for flags in results)
        self._write(f"{op:<12} {' '.join(kernels):<28} -> {shown}".rstrip())

    def _write(self, line: str) -> None:
        depth = len(self._shown.setdefault(id(tls.state), []))
        self.stream.write(f"{'  ' * depth}{line}\n")
        self.stream.flush()


def _in_words(flags: Flags) -> str:
    words = [f"{flags.dtype}{list(flags.shape)}", "inference" if flags.inference else "normal"]
    if flags.is_view:
        words.append("view")
    if flags.requires_grad:
        words.append("requires_grad")
    if flags.grad_fn is not None:
        words.append(flags.grad_fn)
    words.append("no version" if flags.version is None else f"version {flags.version}")
    return " ".join(words)


assert (BACKEND, AUTOGRAD, ADINPLACEORVIEW) == (base.CPU, base.AUTOGRAD, base.AD_INPLACE_OR_VIEW)


_SECOND_DERIVATIVES = {f"{op}{suffix}" for op in ("add", "sub", "mul", "div") for suffix in ("", "_")}
"""Ops whose overload for a number has its own node: MulBackward1 beside MulBackward0."""
#: The place of `out` among the arguments of an op's overload, where it isn't the third.
_OUT_PLACES = {"add": 3, "sub": 3} | dict.fromkeys("abs cos exp log neg sigmoid sin sqrt tanh".split(), 1)


def _node_of(t: AnyTensor) -> Any:
    """The node that is on record for `t`; unlike `grad_fn`, looking makes none."""
    return None if t._meta is None else t._meta.grad_fn


@dataclass(frozen=True, slots=True)
class _Guard:
    """A C++ guard in force: its name in a trace, and what ends it."""

    shown: str
    leave: Callable[[], None]


def _cpp(value: bool) -> str:
    return "true" if value else "false"


class ShimBackend(Backend):
    """The shim has a hook for each thing that C++ sees and Python hides."""

    printer: TracePrinter | None = None

    def op(self, name: str) -> AnyFunction:
        found = super().op(name)
        return found if self.printer is None else self.printer.traced(found)

    def function(self, name: str) -> AnyFunction:
        found = super().function(name)
        return found if self.printer is None else self.printer.traced(found)

    def out_form(self, name: str) -> AnyFunction:
        """The function `name` for a call with `out=`. C++ also has one where Python has none, which copies the result:
        in its dtype, and recorded as every copy is.
        """
        own, plain = getattr(self.torch, name, None), self.function(name)
        declared = any(op.writes for op in ops(name, "f"))

        def written(*args: Any, out: Any, **options: Any) -> Any:
            found = plain(*args, **options)
            given = zip(found, out, strict=True) if isinstance(out, list) else [(found, out)]
            for result, target in given:
                EXPECTED_OUT(name, result._array.dtype, target._array.dtype)
                resize_output(target, result._array.shape)
                target.copy_(result)
            return out

        def call(*args: object, **options: object) -> Any:
            if own is not None and declared:
                try:
                    return own(*args, **options)
                except TypeError as error:
                    if "unexpected keyword argument 'out'" not in str(error) and "missing 1" not in str(error):
                        raise
            return written(*args, **options)

        return call if self.printer is None else self.printer.traced(call)

    def functional(self, name: str) -> AnyFunction:
        found = super().functional(name)
        if name == "multi_head_attention_forward":
            found = functools.partial(found, _as_in_cpp=True)
        return found if self.printer is None else self.printer.traced(found)

    def scalar_op(self, name: str) -> AnyFunction:
        first, second = (
            f"{name.rstrip('_').capitalize()}Backward0",
            f"{name.rstrip('_').capitalize()}Backward1",
        )

        def call(t: AnyTensor, *args: object, **kwargs: object) -> Any:
            if name in _SECOND_DERIVATIVES and not t._keys & AUTOGRAD and not name.endswith("_"):
                return getattr(self.torch, name)(
                    t, *args, **kwargs
                )  # PyTorch makes a tensor of the number, which has the key
            base = t if t._meta is None or t._meta.base is None or not name.endswith("_") else t._meta.base
            before = _node_of(base)
            result = _C._scalar_overload(name, t, *args, **kwargs)
            node = _node_of(result if base is t else base)
            if name not in _SECOND_DERIVATIVES or node is before:
                return result
            if isinstance(node, CopySlices):  # PyTorch's has no place for an edge of a number, nor has what it is about
                del node.next_edges[1:]
                node = node.node
            if type(node).__name__ == first:
                node.of_self_alone = True
                node.__class__ = node_class(second, type(node).__mro__[1])
                # It saves the number itself, which backward doesn't free, where the other wraps it in a tensor.
                node.saved |= {key: value.value for key, value in node.saved.items() if type(value) is SavedNumber}
            return result

        return call if self.printer is None else self.printer.traced(call)

    def _op_slice(self, t: AnyTensor, dim: int, start: int | None, end: int | None, step: int) -> AnyTensor:
        return slice_(t, dim, start, end, step)  # indexing leaves out what takes the whole dimension

    def refuse_undefined_out(self, name: str, result: AnyTensor) -> None:
        """RuntimeError for an undefined tensor that an op is to write to: by autograd's kernel, or by the op's own."""
        if tls.state.excluded & AUTOGRAD:
            text = f"Expected out tensor to have dtype {result.dtype.short}, but got nullptr (uninitialized) instead"
            raise RuntimeError(text)
        place = _OUT_PLACES.get(name, 2)
        raise RuntimeError(
            f"Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #{place} 'out'"
        )

    # ---- tensors

    def sizes(self, t: AnyTensor) -> Sequence[int]:
        return t._array.shape

    def dtype_name(self, t: AnyTensor) -> str:
        return t.dtype.name

    def is_leaf(self, t: AnyTensor) -> bool:
        return _C._is_leaf(t)

    def bump_version(self, t: AnyTensor) -> None:
        _C._bump_version(t)

    def creation_meta(self, t: AnyTensor) -> int:
        return _C._creation_meta(t)

    def key_set(self, t: AnyTensor) -> int:
        return int(t._keys)

    def is_alias_of(self, t: AnyTensor, other: AnyTensor) -> bool:
        return t._storage is other._storage

    # ---- thread state

    def included(self) -> int:
        return tls.state.included

    def excluded(self) -> int:
        return tls.state.excluded

    def set_grad_enabled(self, enabled: bool) -> None:
        tls.state.grad_mode = enabled

    def enter_guard(self, name: str, argument: object) -> Any:
        state = tls.state
        shown, leave = self._put_in_force(name, argument)
        state.guards.append(shown)
        if self.printer is not None:
            self.printer.guards_changed()
        return _Guard(shown, leave)

    def leave_guard(self, guard: Any) -> None:
        state = tls.state
        guard.leave()
        forget_guard(state.guards, guard.shown)
        if self.printer is not None:
            self.printer.guards_changed()

    def _put_in_force(self, name: str, argument: Any) -> tuple[str, Callable[[], None]]:
        """What the guard is called in a trace, and how to end it: each restores what it changed, no more."""
        state = tls.state
        if name == "InferenceMode":
            saved = state.snapshot()
            state.set_inference_mode(argument)
            return f"c10::InferenceMode({_cpp(argument)})", lambda: state.restore(saved)
        if name == "AutoGradMode":
            before, state.grad_mode = state.grad_mode, argument
            return f"c10::AutoGradMode({_cpp(argument)})", lambda: setattr(state, "grad_mode", before)
        if name == "IncludeDispatchKeyGuard":
            added = argument & ~state.included
            state.included |= added
            return f"c10::impl::{name}", lambda: setattr(state, "included", state.included & ~added)
        hidden = self._hides(name, argument) & ~state.excluded
        state.excluded |= hidden
        shown = f"c10::impl::{name}" if name == "ExcludeDispatchKeyGuard" else f"at::{name}"
        return shown, lambda: setattr(state, "excluded", state.excluded & ~hidden)

    def _hides(self, name: str, argument: Any) -> int:
        if name == "ExcludeDispatchKeyGuard":
            return int(argument)
        if name == "AutoDispatchBelowAutograd" or (name == "AutoNonVariableTypeMode" and self.legacy_since19):
            return AUTOGRAD
        return AUTOGRAD | ADINPLACEORVIEW

    # ---- what a library registers

    def define_op(self, name: str, schema: str, place: str, called_from_python: Callable[[], None]) -> None:
        op_library.declare_op(name, schema, place, called_from_python)

    def implement_op(
        self, name: str, key: str, kernel: Callable[..., object] | None, called_from_python: Callable[[], None]
    ) -> None:
        op_library.implement(name, key, kernel, called_from_python)

    def registration_failed(self, message: str) -> None:
        script_classes.registration_failed(message)

    def node_without_derivative(self, op: str, inputs: list[AnyTensor], written: list[AnyTensor]) -> Any:
        """A node for a call of an op without a derivative; None if nothing is recorded."""
        return missing_autograd.node_without_derivative(op, inputs, written)

    def record_without_derivative(self, node: Any, outputs: list[AnyTensor], written: list[AnyTensor]) -> None:
        missing_autograd.record_without_derivative(node, outputs, written)

    def track_without_derivative(self, op: str, base: AnyTensor, views: list[AnyTensor], several: bool) -> None:
        missing_autograd.track_without_derivative(op, base, views, several)

    def define_class(self, namespace: str, name: str, doc: str) -> Any:
        return script_classes.define_class(namespace, name, doc)

    def define_method(
        self, owner: Any, kind: str, name: str, function: AnyFunction, doc: str, names: list[str],
        defaults: list[Any],
    ) -> None:  # fmt: skip
        script_classes.add_method(owner, kind, name, function, doc, names, defaults)

    def wrap_custom_object(self, owner: Any, pointer: object) -> Any:
        return script_classes.wrapped(owner, pointer)

    def unwrap_custom_object(self, value: object) -> object:
        return script_classes.unwrapped(value)

    def needs_input_grad(self, context: Any, index: int) -> bool:
        """In C++ a gradient that the running backward doesn't need is not wanted either; in Python it is."""
        wanted = super().needs_input_grad(context, index)
        nodes, edges = tls.state.backward_nodes, context.next_edges
        if not wanted or not nodes or index >= len(edges):
            return wanted
        edge = edges[index]
        return edge is not None and edge[0] in nodes

    # ---- TorchScript modules

    def jit_run_method(self, module: Any, name: str, arguments: list[Any]) -> Any:
        return module.run_method(name, *arguments)

    def jit_attr(self, module: Any, name: str) -> Any:
        return module.attr(name)

    def jit_type_name(self, module: Any) -> str:
        return str(module.script_class.qualified_name)

    def jit_hasattr(self, module: Any, name: str) -> bool:
        return bool(module.hasattr(name))

    # ---- the trace

    @contextlib.contextmanager
    def tracing(self, stream: TextIO) -> Iterator[None]:
        """Inside, guard scopes and ops are written to `stream` as they happen."""
        self.printer = TracePrinter(stream)
        CompiledKernel.printing = True
        try:
            with self.printer:
                yield
        finally:
            self.printer = None
            CompiledKernel.printing = False

    def enter_op(self, name: str, key: str) -> None:
        if self.printer is not None:
            self.printer.enter_op(name, key)

    def leave_op(self, name: str, key: str, result: AnyTensor | None) -> None:
        if self.printer is not None:
            self.printer.leave_op(name, key, result)
            return
        tracer = tls.state.tracer
        if tracer is not None and key == "CPU":
            tracer.record(name, BACKEND, () if result is None else result)
