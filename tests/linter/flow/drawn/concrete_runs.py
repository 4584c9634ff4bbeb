"""Runs programs on whatever `torch` stands for, and says which lines each reached and what stopped it.

Only the standard library is imported here, so that an interpreter which has PyTorch and nothing else can do it:
`python concrete_runs.py` reads programs from standard input, one JSON string a line, and answers in the same way.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

FILE = "<drawn program>"


class Run(NamedTuple):
    """What a program did."""

    reached: tuple[int, ...]
    """The lines that it came to."""
    line: int = 0
    """Where it was stopped: the innermost line of its own. 0: it came to its end."""
    error: str = ""
    """By what: the exception's class and message."""
    raised: tuple[tuple[int, str], ...] = ()
    """All exceptions that came to its lines, and where they did so first, whether or not something caught them."""
    unfinished: tuple[int, ...] = ()
    """The lines that called what was stopped, outermost first."""


def run(text: str, name: str = "__main__") -> Run:
    """Run a program in a thread of its own, whose modes nobody has set."""
    found: list[Run] = []
    thread = threading.Thread(target=lambda: found.append(_run_here(text, name)))
    thread.start()
    thread.join()
    return found[0]


def _run_here(text: str, name: str) -> Run:
    reached: set[int] = set()
    raised: dict[int, tuple[int, str]] = {}
    kept: list[object] = []  # so that no other exception gets the identity of one that is gone
    try:
        code = compile(text, FILE, "exec")
    except SyntaxError as error:
        return Run((), error.lineno or 1, f"SyntaxError: {error.msg}")

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != FILE:
            return None
        if event == "line":
            reached.add(frame.f_lineno)
        elif event == "exception" and id(argument[1]) not in raised:
            kept.append(argument[1])
            raised[id(argument[1])] = frame.f_lineno, _in_words(argument[1])
        return trace

    line, said = 0, ""
    unfinished: tuple[int, ...] = ()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        sys.settrace(trace)
        try:
            _execute(code, name)
        except (Exception, SystemExit) as error:
            sys.settrace(None)
            own = [row for frame, row in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILE]
            line, said, unfinished = own[-1] if own else 1, _in_words(error), tuple(own)
        finally:
            sys.settrace(None)
    return Run(tuple(sorted(reached)), line, said, tuple(raised.values()), unfinished)


def _in_words(error: object) -> str:
    return f"{type(error).__name__}: {error}"


def _execute(code: CodeType, name: str) -> None:
    exec(code, {"__name__": name, "unguarded": _NoGuard})


class _NoGuard(contextlib.ContextDecorator):
    """In the place of a guard, it does nothing: see `agreement.without_guards`."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        return given[0] if given and callable(given[0]) else super().__new__(cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def main() -> None:
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
