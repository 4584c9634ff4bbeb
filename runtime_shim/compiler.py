"""`torch.compiler`: nothing is compiled, so functions that are not to be stay what they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .core.error_texts import UnsupportedError
from .core.function_table import AnyFunction

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "reset"]


def disable(fn: object = None, recursive: bool = True, *, reason: str | None = None) -> object:
    """The function itself; usable as a decorator with and without arguments."""
    return (lambda function: function) if fn is None else fn


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
) -> Any:
    """`torch.compile`: a function that calls `model`, or a module that has it within; nothing is compiled.

    Without a model, a decorator. RuntimeError if both `mode` and `options` are given, NotImplementedError for a backend
    that is a function: it would be given a graph.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if callable(backend):
        raise UnsupportedError(f"the shim compiles nothing: the backend {backend!r} would get no graph")
    if model is None:
        return compile
    from .nn.module import Module

    if isinstance(model, Module):
        from .nn.containers import OptimizedModule

        return OptimizedModule(model)

    @functools.wraps(model)
    def call(*args: Any, **kwargs: Any) -> Any:
        return model(*args, **kwargs)

    call._torchdynamo_orig_callable = model  # type: ignore[attr-defined]
    return call


def allow_in_graph(fn: Callable[..., object]) -> AnyFunction:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    return False


is_dynamo_compiling = is_compiling


def reset() -> None:
    """Forget what was compiled."""
