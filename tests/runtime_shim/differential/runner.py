"""Runs a program on a torch-like module, statement by statement, and observes every variable after each.

Each program runs in a thread of its own: modes are per thread, so a guard that is not restored spoils one
program only.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from .observe import Plain, first_sentence, of_gradient, plain, see
from .prelude import define
from .program import Program, depth_of

Modes = tuple[bool, bool]
NORMAL: Modes = (True, False)


@dataclass(frozen=True)
class Step:
    """After one statement: `outcome` is "ok" or the error's type and first sentence; `modes` whether
    gradients and whether inference mode are enabled.
    """

    outcome: str
    value: Plain = None
    variables: dict[str, Plain] = field(default_factory=dict)
    modes: Modes = NORMAL


@lru_cache(maxsize=4096)
def _compiled(source: str) -> tuple[CodeType, bool]:
    try:
        return compile(source, "<statement>", "eval"), True
    except SyntaxError:
        return compile(source, "<statement>", "exec"), False


def run(
    program: Program, torch: ModuleType, *, watch: str = "every", inside: AbstractContextManager[Any] | None = None
) -> tuple[Step, ...]:
    """One Step for each line, all run inside a context of their thread if one is given. `watch="end"` observes the variables only after the last line: reading a view's
    history brings it up to date, so a program that is watched less is a different test.
    """
    steps: list[Step] = []
    failed: list[BaseException] = []

    def run_in_thread() -> None:
        try:
            with inside or nullcontext():
                _run(program, torch, watch, steps)
        except BaseException as error:
            failed.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread = threading.Thread(target=run_in_thread)
        thread.start()
        thread.join()
    if failed:
        raise failed[0]
    return tuple(steps)


def _run(program: Program, torch: ModuleType, watch: str, steps: list[Step]) -> None:
    names: dict[str, Any] = define(torch)
    given = {*names}
    guards: list[Any] = []
    last = len(program.lines) - 1
    gradients: list[weakref.ref[Any]] = []
    details = program.profile == "long"
    for number, line in enumerate(program.lines):
        trouble = _leave(guards, depth_of(line))
        before = {id(value) for value in names.values()}
        outcome, value = _execute(line.strip(), names, guards, torch, details)
        if details and "autograd.grad(" in line:
            gradients += [weakref.ref(v) for v in names.values() if isinstance(v, torch.Tensor) and id(v) not in before]
        if number == last:
            trouble = trouble or _leave(guards, 0)
        variables = {
            name: value
            for name, value in names.items()
            if name not in given and not name.startswith("__")  # what `exec` and `warnings` leave there
        }
        seen: dict[str, Plain] = {}
        if watch == "every" or number == last:
            tensors = {name: value for name, value in variables.items() if isinstance(value, torch.Tensor)}
            for name, content in variables.items():
                seen[name] = see(content, tensors, details=details) if name in tensors else plain(content, torch)
                if name in tensors and any(gradient() is content for gradient in gradients):
                    seen[name] = of_gradient(seen[name])
            if names["seen"]:
                seen["seen"] = plain(names["seen"], torch)
        modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        steps.append(Step(trouble or outcome, value, seen, modes))
    for library in names["libraries"]:
        library._destroy()
    names.clear()  # functions refer to it in turn: generators that stand in a guard are to be closed in this thread


def _execute(
    source: str, names: dict[str, Any], guards: list[Any], torch: ModuleType, details: bool
) -> tuple[str, Plain]:
    opens = source.startswith("with ")
    try:
        code, is_expression = _compiled(source.removeprefix("with ").removesuffix(":") if opens else source)
        value: Any = None
        if is_expression:
            value = eval(code, names)
        else:
            exec(code, names)
        if opens:
            value.__enter__()
            guards.append(value)
            return "ok", None
        return "ok", plain(value, torch, details=details)
    except Exception as error:
        if opens:
            guards.append(None)
        return first_sentence(error), None


def _leave(guards: list[Any], depth: int) -> str:
    """Leaves guards until `depth` are left; gives the error that one raised, or nothing."""
    trouble = ""
    while len(guards) > depth:
        guard = guards.pop()
        try:
            if guard is not None:
                guard.__exit__(None, None, None)
        except Exception as error:
            trouble = f"leaving a block: {first_sentence(error)}"
        del guard  # the last reference: guards of torch._C may act when they are destroyed
    return trouble


def failing_lines(steps: Sequence[Step]) -> frozenset[int]:
    return frozenset(number for number, step in enumerate(steps) if step.outcome != "ok")
