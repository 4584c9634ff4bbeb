"""How often each guard was entered, and how many ops ran below it: a table in a file.

Verification numbers the guards from 1 and puts a counter beside each in the copies that it runs. The table is a file of
64-bit integers, two a row: times entered, ops below. Row 0 is the program's: its ops. The file is mapped into every
process that counts, so that a crash loses nothing, and processes that a program starts count as well.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import mmap
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..core.function_table import AnyFunction
from .run_specification import Specification

VARIABLE = "GUARDFIX_GUARD_TABLE"
"""The environment variable that names the file."""

BUILTIN = "__guardfix_entered__"
"""What a guard of a Python copy is wrapped in."""

_ROW = struct.Struct("=qq")


class GuardCount(NamedTuple):
    """What a run did with one guard."""

    entered: int = 0
    ops: int = 0


def make_table(path: Path, guards: int) -> None:
    """An empty table for guards 1 to `guards`."""
    path.write_bytes(bytes(_ROW.size * (guards + 1)))


def read_table(path: Path) -> list[GuardCount]:
    """The rows of a table, the program's own first; none when there is no table."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    return [GuardCount(*row) for row in _ROW.iter_unpack(data[: len(data) // _ROW.size * _ROW.size])]


class _Counting(threading.local):
    """What a thread is doing."""

    def __init__(self) -> None:
        self.active: list[tuple[int, bool]] = []
        """The guards that the thread is in, each with whether an op was running when it was entered."""
        self.busy = False
        """An op is running: what it is made of does not count."""


class GuardTable:
    """The table of a running program."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.cells = memoryview(self.memory).cast("q")
        self.thread = _Counting()
        self.lock = threading.Lock()

    def _add(self, number: int, field: int) -> None:
        place = 2 * number + field
        if place < len(self.cells):
            with self.lock:
                self.cells[place] += 1

    def counts(self) -> list[GuardCount]:
        """The rows as they are now, the program's own first."""
        with self.lock:
            return [GuardCount(*row) for row in _ROW.iter_unpack(self.memory[:])]

    def enter(self, number: int) -> None:
        """The thread enters the guard."""
        self._add(number, 0)
        thread = self.thread
        thread.active.append((number, thread.busy))
        thread.busy = False  # inside a kernel: its ops are below the guard

    def leave(self, number: int) -> None:
        """The thread leaves the guard; guards may be left in any order."""
        thread = self.thread
        for position in range(len(thread.active) - 1, -1, -1):
            if thread.active[position][0] == number:
                thread.busy = thread.active.pop(position)[1]
                return

    def run_op(self, function: AnyFunction, args: Any, kwargs: Any) -> Any:
        """Calls an op, which counts unless it is a part of another."""
        thread = self.thread
        if thread.busy:
            return function(*args, **kwargs)
        active = thread.active
        self._add(0, 1)
        for number, _ in active:
            self._add(number, 1)
        thread.busy = True
        depth = len(active)
        try:
            return function(*args, **kwargs)
        finally:
            if len(active) == depth:
                thread.busy = False

    def counted(self, number: int, guard: object, lasting: bool = False) -> object:
        """`guard`, counted when it is entered; a `lasting` one is in force from where it is made, and is never left."""
        if lasting:
            self._add(number, 0)
            thread = self.thread
            if all(active != number for active, _ in thread.active):
                thread.active.append((number, thread.busy))
            return guard
        return _CountedGuard(self, number, guard)


def table_of(specification: Specification) -> GuardTable | None:
    """The table that a run counts in."""
    return None if specification.guard_table is None else GuardTable(specification.guard_table)


@contextmanager
def within_reach(table: GuardTable | None) -> Iterator[None]:
    """Inside, Python code finds what its guards are wrapped in, whether or not anything is counted."""

    def plain(number: int, guard: object, lasting: bool = False) -> Any:
        return guard

    before = vars(builtins).get(BUILTIN)
    setattr(builtins, BUILTIN, plain if table is None else table.counted)
    try:
        yield
    finally:
        if before is not None:
            setattr(builtins, BUILTIN, before)
        else:  # at the end of the process, it may be gone already
            vars(builtins).pop(BUILTIN, None)


class _CountedGuard:
    """A guard of Python's: a context manager, or a decorator."""

    def __init__(self, table: GuardTable, number: int, guard: Any) -> None:
        self._table = table
        self._number = number
        self._guard = guard

    def __enter__(self) -> Any:
        value = self._guard.__enter__()
        self._table.enter(self._number)
        return value

    def __exit__(self, *exception: Any) -> Any:
        self._table.leave(self._number)
        return self._guard.__exit__(*exception)

    def __getattr__(self, name: str) -> object:
        return getattr(self._guard, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._guard(*args, **kwargs)
        if not (len(args) == 1 and callable(args[0]) and callable(made)):
            return _CountedGuard(self._table, self._number, made)  # the class itself was named
        return made if isinstance(made, type) else self._around(made)

    def _around(self, function: Callable[..., object]) -> AnyFunction:
        """`function`, which holds the guard while it runs."""
        table, number = self._table, self._number
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def counted_generator(*args: object, **kwargs: object) -> object:
                table.enter(number)
                try:
                    return (yield from function(*args, **kwargs))
                finally:
                    table.leave(number)

            return counted_generator
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def counted_coroutine(*args: object, **kwargs: object) -> object:
                table.enter(number)
                try:
                    return await function(*args, **kwargs)
                finally:
                    table.leave(number)

            return counted_coroutine

        @functools.wraps(function)
        def counted_function(*args: object, **kwargs: object) -> object:
            table.enter(number)
            try:
                return function(*args, **kwargs)
            finally:
                table.leave(number)

        return counted_function
