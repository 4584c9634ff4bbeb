"""`torch.utils.checkpoint`: forward again in backward, in the place of keeping what it saved."""

from __future__ import annotations

import contextlib
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..aten.random_numbers import get_rng_state, set_rng_state
from ..autograd import backward as run_backward
from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..core.function_table import AnyFunction
from ..core.gradient_modes import enable_grad, no_grad
from ..core.supported_names import refuses_missing
from ..core.tensor import Tensor
from ..core.thread_state import tls

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]


_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.
"""


class CheckpointError(RuntimeError):
    """What recomputing found differs from what forward saved."""


class _StopRecomputation(Exception):
    pass


_early_stop = True


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether recomputing ends as soon as all that is needed was computed."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def detach_variable(inputs: tuple[object, ...]) -> tuple[object, ...]:
    """The inputs without their history, requiring grad as they do."""
    found = []
    for value in inputs:
        if isinstance(value, Tensor):
            made = value.detach()
            made.requires_grad = value.requires_grad
            value = made
        found.append(value)
    return tuple(found)


@contextlib.contextmanager
def _random_state(state: Tensor | None) -> Iterator[None]:
    """The random numbers as they were when forward began."""
    if state is None:
        yield
        return
    before = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(before)


def _no_context() -> tuple[object, object]:
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., object],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[object, object]] = _no_context,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function` and keep its inputs alone; backward calls it again for what it saves.

    `use_reentrant=True` runs a backward of its own inside the outer one, `False` packs the saved tensors.
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, "
            "calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but "
            "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
            "more details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not _no_context or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    return _checkpoint_by_hooks(
        function, args, kwargs, preserve, context_fn, determinism_check, early_stop and _early_stop
    )  # fmt: skip


class CheckpointFunction(Function):
    """The reentrant kind: a node whose backward runs forward again, and its own backward."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        if not any(isinstance(arg, Tensor) and arg.requires_grad for arg in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)
        ctx.run_function = run_function
        ctx.state = get_rng_state() if preserve_rng_state else None
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if tls.state.backward_inputs:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t
        with _random_state(ctx.state):
            detached = detach_variable(tuple(inputs))
            with enable_grad():
                outputs = ctx.run_function(*detached)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *(t.grad if isinstance(t, Tensor) else None for t in detached))


class _Holder:
    """Stands in the graph for a tensor that forward saved."""

    def __init__(self) -> None:
        self.handles: dict[Any, Any] = {}


class _Handle:
    pass


class _NoopSaveInputs(Function):
    """A node that keeps the inputs, so that hooks of an outer checkpoint see them."""

    @staticmethod
    def forward(ctx: object, *tensors: Tensor) -> Tensor:
        from ..core.function_table import FUNCTIONS

        return FUNCTIONS["empty"]((0,))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        places = [i for i, value in enumerate(inputs) if isinstance(value, Tensor)]
        order = {i: nr for nr, i in enumerate(places)}
        others = [None if isinstance(value, Tensor) else value for value in inputs]

        def get_args(tensors: tuple[object, ...]) -> list[object]:
            found = [tensors[order[i]] if i in order else value for i, value in enumerate(others)]
            return found[1:]

        ctx.get_args = get_args
        ctx.save_for_backward(*(inputs[i] for i in places))

    @staticmethod
    def backward(ctx: object, *grads: Any) -> Any:
        raise AssertionError("Did not expect to backward on this graph")


class _Frame:
    """One call of checkpoint: what was packed, and what each recomputation gave."""

    def __init__(self, recompute: Callable[..., None], early_stop: bool, metadata: bool) -> None:
        self.recompute = recompute
        self.input_saver: Any = None
        self.holders: list[weakref.ref[_Holder]] = []
        self.recomputed: dict[Any, dict[Any, Tensor]] = {}
        self.counts: dict[Any, int] = {}
        self.is_recomputed: dict[Any, bool] = {}
        self.early_stop = early_stop
        self.metadata: list[Any] | None = [] if metadata else None
        self.ignore_metadata = False
        self.forward_done = False

    def check(self, gid: object) -> None:
        """RuntimeError if recomputing saved something else than forward did."""
        if self.ignore_metadata or self.metadata is None:
            return
        if len(self.holders) != self.counts[gid]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\nNumber of tensors saved "
                f"during recomputation: {self.counts[gid]}.\n{_TIP}"
            )
        different = []
        for i, reference in enumerate(self.holders):
            holder = reference()
            if holder is None or gid not in holder.handles:
                continue
            recomputed = self.recomputed[gid].get(holder.handles[gid])
            if recomputed is not None and self.metadata[i] != _metadata(recomputed):
                different.append((i, self.metadata[i], _metadata(recomputed)))
        if different:
            shown = "".join(
                f"tensor at position {i}:\nsaved metadata: {saved}\nrecomputed metadata: {found}\n"
                for i, saved, found in different
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{shown}.\n{_TIP}"
            )


def _metadata(t: Tensor) -> dict[str, object]:
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


class _Recomputing(saved_tensors_hooks):
    """Collects what forward saves when it runs again."""

    def __init__(self, frame: weakref.ref[_Frame], gid: object) -> None:
        def pack(t: Tensor) -> Tensor:
            t = t.detach() if t.requires_grad else t
            target = frame()
            assert target is not None
            place = target.counts[gid]
            target.counts[gid] += 1
            if place >= len(target.holders):
                if target.forward_done:
                    raise CheckpointError(
                        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                        f"original forward pass.\n{_TIP}"
                    )
                target.ignore_metadata = True  # a backward within forward, which has not saved all yet
                return t
            holder = target.holders[place]()
            if holder is not None:
                handle = holder.handles.get(gid)
                if handle is None:
                    handle = holder.handles[gid] = _Handle()
                target.recomputed.setdefault(gid, {})[handle] = t
            if target.early_stop and target.counts[gid] == len(target.holders):
                raise _StopRecomputation
            return t

        super().__init__(pack, lambda t: t)


class _Packing(saved_tensors_hooks):
    """Packs what forward saves, and unpacks it by running forward again."""

    def __init__(self, frame: _Frame) -> None:
        def pack(t: Tensor) -> _Holder:
            holder = _Holder()
            frame.holders.append(weakref.ref(holder))
            if frame.metadata is not None:
                frame.metadata.append(_metadata(t))
            return holder

        def unpack(holder: _Holder) -> Tensor:
            gid: Any = tls.state.backward_id or uuid.uuid4()
            if not frame.is_recomputed.get(gid):
                args = frame.input_saver.grad_fn
                given = args.get_args(args.saved_tensors)
                frame.counts[gid] = 0
                frame.recomputed.setdefault(gid, {})
                try:
                    with _Recomputing(weakref.ref(frame), gid), enable_grad():
                        frame.recompute(*given)
                except _StopRecomputation:
                    pass
                frame.is_recomputed[gid] = True
                frame.check(gid)
            handle = holder.handles.get(gid)
            if handle is None:
                raise CheckpointError(
                    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was either never recomputed, "
                    "or already unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do so "
                    "only once. Otherwise please open an issue with details on your use case."
                )
            found = frame.recomputed[gid].pop(handle, None)
            if found is None:
                raise CheckpointError(
                    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If "
                    "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please "
                    "open an issue with details on your use case."
                )
            holder.handles[gid] = handle
            return found

        super().__init__(pack, unpack)


def _checkpoint_by_hooks(
    function: AnyFunction,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve: bool,
    context_fn: Callable[[], tuple[Any, Any]],
    determinism_check: str,
    early_stop: bool,
) -> Any:
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    state = get_rng_state() if preserve else None

    def recompute(*inputs: Tensor) -> None:
        given, *positional = inputs
        with _random_state(state), recompute_context:
            function(*positional, **given)

    frame = _Frame(recompute, early_stop, determinism_check == "default")
    from ..core.function_table import FUNCTIONS

    placeholder = FUNCTIONS["empty"]((0,), requires_grad=True)
    frame.input_saver = _NoopSaveInputs.apply(placeholder, kwargs, *args)
    if frame.input_saver.grad_fn is None:  # nothing will be recorded
        return function(*args, **kwargs)
    with _Packing(frame), forward_context:
        found = function(*args, **kwargs)
    frame.forward_done = True
    return found


def checkpoint_sequential(
    functions: Any, segments: int, input: Tensor, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run a Sequential in segments, each of them but the last a checkpoint."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint_sequential without use_reentrant will raise an exception.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(value: object) -> Any:
            for part in parts[start : end + 1]:
                value = part(value)
            return value

        return forward

    size = len(parts) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end + 1, len(parts) - 1)(input)


def get_device_states(*args: object) -> tuple[list[int], list[Tensor]]:
    """The devices of the arguments other than the CPU, and their random states: none."""
    return [], []


def set_device_states(devices: object, states: object, *, device_type: str | None = None) -> None:
    """Does nothing: the CPU is the shim's only device."""


__getattr__ = refuses_missing("torch.utils.checkpoint")
