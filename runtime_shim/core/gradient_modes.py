"""Grad mode and inference mode, as context managers, decorators and functions.

Guards change the calling thread's ThreadState and restore it; nothing else. Source:
torch/autograd/grad_mode.py, torch/utils/_contextlib.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from .thread_state import ADINPLACEORVIEW, AUTOGRAD, Snapshot, tls

F = TypeVar("F", bound=Callable[..., Any])


class _Guard:
    """A context manager that also decorates functions and generator functions."""

    def clone(self) -> _Guard:
        return type(self)()

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def __call__(self, function: F) -> F:
        return context_decorator(self.clone, function)


def context_decorator(make: Callable[[], Any], function: F) -> F:
    """`function` with a fresh guard around each call; around each step of a generator."""
    import inspect

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: object, **kwargs: object) -> Generator[Any, Any, Any]:
            with make():
                steps = function(*args, **kwargs)
            with make():
                try:
                    value = steps.send(None)
                except StopIteration as stop:
                    return stop.value
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    with make():
                        steps.close()
                    raise
                except BaseException as error:
                    with make():
                        try:
                            value = steps.throw(error)
                        except StopIteration as stop:
                            return stop.value
                else:
                    with make():
                        try:
                            value = steps.send(sent)
                        except StopIteration as stop:
                            return stop.value

        return generator  # type: ignore[return-value]

    if inspect.isclass(function):
        import warnings

        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
            "the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        made = function
        function = lambda *args, **kwargs: made(*args, **kwargs)  # type: ignore[assignment]  # noqa: E731

    @functools.wraps(function)
    def decorate_context(*args: object, **kwargs: object) -> Any:
        with make():
            return function(*args, **kwargs)

    return decorate_context  # type: ignore[return-value]


class _GradMode(_Guard):
    """Sets grad mode on entering, restores it on leaving."""

    enabled = True

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is not None:  # `@torch.no_grad` without parentheses
            return context_decorator(cls, orig_func)
        return object.__new__(cls)

    def __init__(self) -> None:
        self.prev = False  # one, not a stack: entered again before it is left, the guard forgets the first mode

    def __enter__(self) -> None:
        state = tls.state
        self.prev = state.grad_mode
        state.grad_mode = self.enabled
        state.guards.append(type(self).__name__)

    def __exit__(self, *exc: object) -> None:
        state = tls.state
        state.grad_mode = self.prev
        _leave(state.guards, type(self).__name__)


def _leave(guards: list[str], name: str) -> None:
    for i in range(len(guards) - 1, -1, -1):
        if guards[i] == name:
            del guards[i]
            return


class no_grad(_GradMode):
    """Operations are not recorded; in-place writes and views are still tracked."""

    enabled = False


class enable_grad(_GradMode):
    """Operations are recorded again. Inside inference mode they still are not."""

    enabled = True


class set_grad_enabled(_Guard):
    """Sets grad mode at once; as a context manager restores it on leaving."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            kind = type(mode).__name__
            raise TypeError(f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {kind}")
        self.mode = mode
        self.prev = tls.state.grad_mode
        tls.state.grad_mode = mode

    def __enter__(self) -> None:
        state = tls.state
        state.grad_mode = self.mode
        state.guards.append("set_grad_enabled")

    def __exit__(self, *exc: object) -> None:
        state = tls.state
        state.grad_mode = self.prev
        _leave(state.guards, "set_grad_enabled")

    def __call__(self, function: F) -> F:
        tls.state.grad_mode = self.prev
        return context_decorator(self.clone, function)

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__


class inference_mode(_Guard):
    """Inference mode on, or with False off: `inference_mode(False)` also turns grad mode on."""

    def __new__(cls, mode: Any = True) -> Any:
        if not isinstance(mode, bool):  # `@torch.inference_mode` without parentheses
            return context_decorator(cls, mode)
        return object.__new__(cls)

    #: What `c10::InferenceMode` found; made on entering, gone on leaving.
    _inference_mode_context: Snapshot | None

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        state = tls.state
        found = state.snapshot()
        state.set_inference_mode(self.mode)
        state.guards.append("inference_mode" if self.mode else "inference_mode(False)")
        if getattr(self, "_inference_mode_context", None) is not None:
            self.__exit__()  # entered again: the new C++ guard replaces the first, whose destructor restores
        self._inference_mode_context = found

    def __exit__(self, *exc: object) -> None:
        found = self._inference_mode_context
        if found is not None:
            self._inference_mode_context = None
            state = tls.state
            state.restore(found)
            _leave(state.guards, "inference_mode" if self.mode else "inference_mode(False)")

    def __del__(self) -> None:
        if getattr(self, "_inference_mode_context", None) is not None:
            self.__exit__()

    def clone(self) -> inference_mode:
        return type(self)(self.mode)


def is_grad_enabled() -> bool:
    return tls.state.grad_mode


def is_inference_mode_enabled() -> bool:
    return tls.state.inference_mode


class AutoNonVariableTypeMode:
    """The C++ guard of that name, active from construction until `__exit__` or destruction.

    With `legacy_pre19` it means what it did before PyTorch 1.9: neither recording nor version counting nor view
    tracking. Without, what the class that PyTorch 1.9 to 2.13 ship under that name does: it hides autograd only, and
    warns once per process. PyTorch has no Python name for it. RuntimeError if `enabled` is false.
    """

    _warned = False

    def __init__(self, enabled: bool = True, *, legacy_pre19: bool = True) -> None:
        self.before: int | None = None
        if not enabled:
            raise RuntimeError("enabled INTERNAL ASSERT FAILED: AutoNonVariableTypeMode takes no argument but true")
        if not legacy_pre19 and not AutoNonVariableTypeMode._warned:
            import warnings

            AutoNonVariableTypeMode._warned = True
            warnings.warn(
                "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. For kernel "
                "implementations please use AutoDispatchBelowADInplaceOrView instead, If you are looking for a user "
                "facing API to enable running your inference-only workload, please use c10::InferenceMode. Using "
                "AutoDispatchBelowADInplaceOrView in user code is under risk of producing silent wrong result in some "
                "edge cases. See Note [AutoDispatchBelowAutograd] for more details.",
                UserWarning,
                stacklevel=2,
            )
        self.before = exclude(AUTOGRAD | ADINPLACEORVIEW if legacy_pre19 else AUTOGRAD, "AutoNonVariableTypeMode")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        if self.before is not None:
            leave_excluded(self.before, "AutoNonVariableTypeMode")
            self.before = None

    def __del__(self) -> None:
        self.__exit__()


def exclude(keys: int, name: str) -> int:
    """Exclude dispatch keys on this thread; returns those that were excluded before."""
    state = tls.state
    before = state.excluded
    state.excluded |= keys
    state.guards.append(name)
    return before


def leave_excluded(before: int, name: str) -> None:
    """The end of `exclude`: what was excluded when it began is excluded again, whatever other guards did since."""
    state = tls.state
    state.excluded = before
    _leave(state.guards, name)
