"""The tracer that writes a recording while a program runs on the shim.

Two sources meet here. The calls that the program makes are seen from outside: each public function and method of
the shim is wrapped. The layers themselves report what they do inside, as to any tracer. From both the
recorder knows what no program can see: that a tensor which autograd saved has been written to although its
version says that it has not.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import guardfix.runtime_shim as shim

from ..core.function_table import AnyFunction
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, tls
from ..core.tracing import Trace, flags_of
from ..cpp.op_spellings import AnyTensor
from ..cpp.shim_backend import ShimBackend
from .call_sites import CallSites
from .guard_table import GuardTable
from .trace_events import SHOWN_ELEMENTS, TensorIdentities, Writer, data_digest, plain

UNSEEN = frozenset(
    # nothing that a program does depends on how often it asks for these
    "shape size stride dim ndim ndimension numel nelement dtype device layout itemsize element_size nbytes "
    "is_contiguous storage_offset data_ptr untyped_storage storage is_floating_point is_complex is_signed is_set_to "
    "get_device is_tensor is_cpu is_cuda names output_nr retain_grad register_hook numpy "
    # Python's own protocol
    "__class__ __new__ __init__ __init_subclass__ __getattribute__ __getattr__ __setattr__ __delattr__ __hash__ "
    "__del__ __dict__ __weakref__ __slots__ __doc__ __module__ __repr__ __str__ __format__ __len__ __iter__ __reduce__ "
    "__reduce_ex__ __sizeof__ __dir__ __array__ __array_priority__ __deepcopy__ __copy__ __subclasshook__ __dlpack__ "
    "__contains__ __getstate__ __setstate__ __getnewargs__ __array_ufunc__ __torch_function__".split()
)
UNINITIALISED = frozenset({"empty", "empty_like", "empty_strided", "new_empty"})


class _Thread(threading.local):
    """What the recorder knows of a thread."""

    def __init__(self) -> None:
        self.number = -1
        self.depth = 0
        """How many of the shim's functions are running, one inside the other; the outermost is the program's."""
        self.kernels: tuple[str, ...] = ()
        self.hidden_in_backward = False
        self.raised: BaseException | None = None
        self.repeating = False
        """The steps are those written already, with other numbers: gradcheck's differences, by the thousand."""


class Recorder(Trace):
    """Writes each step of the program to `writer`; `source` is the program's file when it is Python's.

    With a `table` the ops below each guard are counted there; with `detailed`, tensors have numbers, and the autograd
    graph is written as it grows.
    """

    def __init__(
        self, writer: Writer, source: str | None = None, table: GuardTable | None = None, *, detailed: bool = False
    ) -> None:
        super().__init__()
        self.table = table
        self.identities = TensorIdentities() if detailed else None
        self.source = source
        self.writer = writer
        self.call_sites: CallSites | None = None
        """Of a C++ program, where its steps come from."""
        self.thread = _Thread()
        self.threads = 0
        self._starting = threading.Lock()
        # By id, as long as the object lives: views that a guard kept autograd from tracking, and the memory
        # that was then written to through one of them where autograd would have recorded it.
        self._lost_views: dict[int, weakref.ref[Tensor]] = {}
        self._lost_writes: dict[int, weakref.ref[Any]] = {}
        self._reported: set[tuple[str, int]] = set()

    def start_over(self) -> None:
        """What comes now is another program: nothing that was said of the last one counts."""
        self._lost_views.clear()
        self._lost_writes.clear()
        self._reported.clear()
        self.thread.raised = None
        self.thread.hidden_in_backward = False

    # ---- calls of the program

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """This thread is recorded inside."""
        self._attach()
        try:
            yield
        finally:
            state = tls.state
            state.tracer = None

    def _attach(self) -> None:
        state = tls.state
        if state.tracer is None:
            state.tracer = self
        if self.thread.number < 0:
            with self._starting:
                self.thread.number = self.threads
                self.threads += 1

    def watched(self, name: str, function: Callable[..., object]) -> AnyFunction:
        """`function`, each call of which by the program is a step."""
        thread = self.thread
        shown = name.strip("_") if name.startswith("__") else name
        uninitialised = name in UNINITIALISED

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Any:
            if thread.depth or (thread.repeating and not uninitialised):
                return function(*args, **kwargs)
            self._attach()
            thread.kernels = ()
            guards = tuple(tls.state.guards)
            place = self._place()
            thread.depth = 1
            try:
                result = function(*args, **kwargs)
                if uninitialised and isinstance(result, Tensor):
                    result._array.fill(0)  # the same garbage in every run
                self._step(shown, guards, place, result)
            except Exception as error:
                self._raised(shown, error, place)
                raise
            finally:
                thread.depth = 0
            return result

        table = self.table
        if table is None:
            return call

        @functools.wraps(function)
        def counted_call(*args: object, **kwargs: object) -> Any:
            return table.run_op(call, args, kwargs)

        return counted_call

    def applied(self, apply: Callable[..., object]) -> AnyFunction:
        """`Function.apply`, which calls back into the program: what happens in forward are the program's own steps."""
        thread = self.thread

        @functools.wraps(apply)
        def call(function: type, *args: object, **kwargs: object) -> Any:
            if thread.repeating:
                return apply(function, *args, **kwargs)
            self._attach()
            guards = tuple(tls.state.guards)
            place = self._place()
            depth, thread.depth = thread.depth, 0
            try:
                result = apply(function, *args, **kwargs)
                thread.depth = 1
                thread.kernels = ()
                self._step(function.__name__, guards, place, result)
            except Exception as error:
                self._raised(function.__name__, error, place)
                raise
            finally:
                thread.depth = depth
            return result

        return call

    def _step(self, op: str, guards: tuple[str, ...], place: dict[str, object], result: object) -> None:
        if self.thread.repeating:
            return
        kernels = () if op in ("backward", "grad") else self.thread.kernels
        number = self.thread.number
        results = self._detailed_results(result) if self.identities is not None else _results(result)
        self.writer.write("step", thread=number, op=op, **place, kernels=kernels, guards=guards, results=results)

    def _detailed_results(self, result: object) -> list[object]:
        """The results with their numbers; the nodes that they bring are written first."""
        identities = self.identities
        if identities is None or self.writer.is_long(self.thread.number):
            return _results(result)
        found = _results(result, identities.of)
        nodes = identities.take_new_nodes()
        if nodes:
            self.writer.write("graph", thread=self.thread.number, nodes=nodes)
        return found

    def _raised(self, op: str, error: Exception, place: dict[str, object]) -> None:
        if self.thread.raised is error or isinstance(error, StopIteration):
            return  # on its way out, seen before
        self.thread.raised = error
        self.writer.write(
            "raised",
            thread=self.thread.number,
            op=op,
            **place,
            error=type(error).__name__,
            message=str(error)[:2000],
            guards=tuple(tls.state.guards),
        )

    def _place(self) -> dict[str, Any]:
        """The line of the Python program that is running, or where in the C++ program we are."""
        if self.call_sites is not None:
            return {"at": self.call_sites.here()}
        if self.source is None:
            return {}
        frame: Any = sys._getframe()
        while frame is not None and frame.f_code.co_filename != self.source:
            frame = frame.f_back
        return {} if frame is None else {"line": int(frame.f_lineno)}

    @contextlib.contextmanager
    def unseen(self) -> Iterator[None]:
        """Calls inside are not the program's."""
        depth, self.thread.depth = self.thread.depth, self.thread.depth + 1
        try:
            yield
        finally:
            self.thread.depth = depth

    @contextlib.contextmanager
    def repeating(self) -> Iterator[None]:
        before, self.thread.repeating = self.thread.repeating, True
        try:
            yield
        finally:
            self.thread.repeating = before

    # ---- what the layers tell

    def record(self, op: str, keys: int, result: object) -> None:
        state = tls.state
        kernels = ["CPU"]
        if keys & ADINPLACEORVIEW:
            kernels.insert(0, "ADInplaceOrView")
        if keys & AUTOGRAD:
            kernels.insert(0, "Autograd")
        self.thread.kernels = tuple(kernels)
        if state.excluded & AUTOGRAD and not state.inference_mode:
            self.thread.hidden_in_backward = True
        if not isinstance(result, Tensor):
            return
        storage = result._storage
        if op.endswith("_"):
            if id(result) in self._lost_views and keys & AUTOGRAD and state.grad_mode:
                _remember(self._lost_writes, storage[1])
        elif (
            not keys & ADINPLACEORVIEW
            and state.excluded & ADINPLACEORVIEW
            and result._array.base is not None
            and result._array is not storage[1]
            and result._keys & AUTOGRAD
        ):
            _remember(self._lost_views, result)

    def saved(self, t: Tensor) -> Any:
        return t._storage[0], _data(t)

    def unpacked(self, t: Tensor, seen: Any, node: Any) -> None:
        writes, data = seen
        if _data(t) != data:
            self._silent("saved", node.name(), t, writes_when_saved=writes, writes_when_used=t._storage[0])

    def reads(self, op: str, args: tuple[object, ...]) -> None:
        if not self._lost_writes:
            return
        for value in args:
            if isinstance(value, Tensor) and id(value._storage[1]) in self._lost_writes and requires_grad(value):
                self._silent("view", op, value, writes_when_used=value._storage[0])

    def apply(self, node: Any, grads: list[Any]) -> list[Any]:
        from ..autograd.function import _Context

        thread = self.thread
        state = tls.state
        depth = thread.depth
        hidden, thread.hidden_in_backward = thread.hidden_in_backward, False
        is_custom = isinstance(node, _Context)
        if is_custom:
            thread.depth = 0  # backward of a custom Function is the program's
        try:
            found: list[Any] = node.apply(grads)
        finally:
            thread.depth = depth
            cut, thread.hidden_in_backward = thread.hidden_in_backward, hidden
        if is_custom and cut and state.grad_mode:
            for t in found:
                if isinstance(t, Tensor) and not requires_grad(t):
                    self._silent("gradient", node.name(), t)
                    break
        return found

    def accumulated(self, variable: Tensor, grad: object) -> None:
        if isinstance(grad, Tensor) and not self.thread.repeating:
            leaf = {} if self.identities is None else {"leaf": self.identities.of(variable)["tensor"]}
            self.writer.write("gradient", thread=self.thread.number, **self._place(), **leaf, results=_results(grad))

    def _silent(self, kind: str, op: str, t: Tensor, **fields: object) -> None:
        key = (kind, id(t))
        if key in self._reported:
            return
        self._reported.add(key)
        flags = flags_of(t)
        self.writer.write(
            "silent",
            thread=self.thread.number,
            kind=kind,
            op=op,
            shape=flags.shape,
            dtype=flags.dtype,
            version=flags.version,
            **fields,
        )


def _remember(table: dict[int, weakref.ref[Any]], thing: object) -> None:
    key = id(thing)
    table[key] = weakref.ref(thing, lambda _: table.pop(key, None))


def _data(t: Tensor) -> str:
    return data_digest(np.ascontiguousarray(t._array).tobytes())


def _results(result: object, more: Callable[[Tensor], dict[str, object]] | None = None) -> list[object]:
    if isinstance(result, Tensor):
        flags = flags_of(result)
        return [
            {
                "shape": flags.shape,
                "dtype": flags.dtype,
                "requires_grad": flags.requires_grad,
                "grad_fn": flags.grad_fn,
                "inference": flags.inference,
                "view": flags.is_view,
                "version": flags.version,
                "data": _data(result),
                "first": [str(x) for x in result._array.reshape(-1)[:SHOWN_ELEMENTS].tolist()],
                **({} if more is None else more(result)),
            }
        ]
    if isinstance(result, list | tuple) and any(isinstance(item, Tensor) for item in result):
        return [found for item in result for found in _results(item, more)]
    return [plain(result)]


@contextlib.contextmanager
def watching(recorder: Recorder) -> Iterator[None]:
    """Inside, what the program calls of the shim is recorded."""
    import guardfix.runtime_shim as shim

    from .. import _C, autograd
    from ..aten import FUNCTIONS
    from ..autograd.function import Function
    from ..nn import functional

    undo: list[Callable[[], None]] = []
    wrapped: dict[int, object] = {}

    def watch(name: str, function: Callable[..., object]) -> Any:
        if id(function) not in wrapped:
            wrapped[id(function)] = recorder.watched(name, function)
        return wrapped[id(function)]

    def put(holder: object, name: str, value: object) -> None:
        before = vars(holder)[name]
        undo.append(lambda: setattr(holder, name, before))
        setattr(holder, name, value)

    for name, value in list(vars(Tensor).items()):
        if name in UNSEEN:
            continue
        if isinstance(value, property):
            fget, fset = (None if f is None else watch(name, f) for f in (value.fget, value.fset))
            put(Tensor, name, property(fget, fset, value.fdel, value.__doc__))
        elif callable(value) and not isinstance(value, type):
            put(Tensor, name, watch(name, value))
    functions = dict(FUNCTIONS)
    undo.append(lambda: FUNCTIONS.update(functions))
    for name, value in functions.items():
        if name not in UNSEEN:
            FUNCTIONS[name] = watch(name, value)
            if vars(shim).get(name) is value:
                put(shim, name, FUNCTIONS[name])
    modules: tuple[ModuleType, ...] = (functional,)
    for module in modules:
        for name, value in list(vars(module).items()):
            if callable(value) and not isinstance(value, type) and not name.startswith("_"):
                put(module, name, watch(name, value))
    for holder, names in ((autograd, ("backward", "grad")), (_C, ("_bump_version", "_scalar_overload"))):
        for name in names:
            put(holder, name, watch(name.strip("_"), getattr(holder, name)))
    apply = vars(Function)["apply"].__func__
    put(Function, "apply", classmethod(recorder.applied(apply)))
    try:
        with recorder.attached():
            yield
    finally:
        for step in reversed(undo):
            step()


class RecordingBackend(ShimBackend):
    """Everything that a C++ program asks for goes through the shim's public names, which are watched."""

    def __init__(
        self, *, legacy_since19: bool = False, guard_table: GuardTable | None = None, detailed: bool = False
    ) -> None:
        super().__init__(shim, legacy_since19=legacy_since19)
        self.detailed = detailed
        self.guard_table = guard_table
        self.recorder: Recorder | None = None

    @contextlib.contextmanager
    def recording(self, writer: Writer, program: Path) -> Iterator[None]:
        """Inside, what the compiled program does is written to `writer`."""
        self.recorder = Recorder(writer, table=self.guard_table, detailed=self.detailed)
        self.recorder.call_sites = CallSites(program)
        with watching(self.recorder):
            yield

    def values(self, t: AnyTensor) -> list[float]:
        # Printing is not a step of the program: its output is compared anyway.
        with self.recorder.unseen() if self.recorder is not None else contextlib.nullcontext():
            return super().values(t)

    def bump_version(self, t: AnyTensor) -> None:
        shim._C._bump_version(t)

    def scalar_op(self, name: str) -> Any:
        call = super().scalar_op(name)
        recorder = self.recorder
        return call if recorder is None else recorder.watched(name, call)
