"""Running a program in its own process, within limits, and what came of it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import site
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.cpp.compiler_processes import wait_until_let_go
from guardfix.runtime_shim.recording.call_sites import with_lines
from guardfix.runtime_shim.recording.containment import ASPECTS, not_contained
from guardfix.runtime_shim.recording.guard_table import GuardCount, make_table, read_table
from guardfix.runtime_shim.recording.run_specification import Specification, made_up_in, read_events

from .run_starts import StartRun, end_session, start_run

COMPILE_SECONDS = 300.0
"""How long a program may take to become ready: to compile, and to import what it runs on."""

OUTPUT_LIMIT = 4 << 20
"""Bytes of output that are kept for comparing, from the beginning."""

ENDLESS_OUTPUT = 16 * OUTPUT_LIMIT
"""Bytes of output after which a program counts as printing endlessly."""


@dataclass(frozen=True)
class Limits:
    """What a program may take."""

    seconds: float = 60.0
    memory: int = 2 << 30
    """Bytes, on top of what the shim takes by itself."""


@dataclass
class ProgramRun:
    """One program, run once."""

    status: int | None
    """The exit status; minus the signal that ended it; None when it was stopped."""
    output: str
    errors: str
    events: list[dict[str, Any]] = field(repr=False)
    timed_out: bool = False
    endless_output: bool = False
    counts: list[GuardCount] = field(default_factory=list, repr=False)
    """How often each guard was entered, by its number, and the ops below; row 0 has the program's ops."""
    made_up: tuple[tuple[str, str], ...] = ()
    """The files of data that were made up: the kind of each, and its path as the program asked for it."""
    seconds: float = 0.0
    """For how long it ran, without what was compiled before."""

    @property
    def ops(self) -> int:
        """Steps of torch that the program took; of a program that nothing looks into, what was counted."""
        steps = sum(event["event"] in ("step", "raised") for event in self.events)
        return max(steps, self.counts[0].ops if self.counts else 0)

    @property
    def files(self) -> frozenset[str]:
        """The files that were compiled into the program, or imported by it, as far as it came."""
        compiled = self.first("compiled")
        return frozenset() if compiled is None else frozenset(compiled["files"])

    def first(self, event: str) -> dict[str, Any] | None:
        return next((e for e in self.events if e["event"] == event), None)

    def all(self, event: str) -> list[dict[str, Any]]:
        return [e for e in self.events if e["event"] == event]

    @property
    def last_error(self) -> dict[str, Any] | None:
        """The last call of torch that raised, where its line is known: for most programs, what ended them."""
        return next((e for e in reversed(self.events) if e["event"] == "raised" and e.get("line")), None)

    @property
    def contained(self) -> frozenset[str] | None:
        """What of the program was contained; None where it did not come so far."""
        event = self.first("contained")
        return None if event is None else frozenset(event["aspects"])

    @property
    def failed(self) -> dict[str, Any] | None:
        """Why the program could not be run at all."""
        return self.first("failed")

    @property
    def out_of_memory(self) -> bool:
        ended = self.first("ended")
        raised = self.all("raised")[-1:]
        names = [event.get("error") for event in [*raised, ended or {}]]
        return any(name in ("MemoryError", "_ArrayMemoryError") for name in names) or (
            self.status not in (0, None) and "std::bad_alloc" in self.errors
        )


def about_made_up_files(runs: Iterable[ProgramRun]) -> str:
    """The files of data that were made up for some of the runs, in words; empty if there were none."""
    kinds: dict[str, dict[str, None]] = {}
    for kind, path in (file for run in runs for file in run.made_up):
        kinds.setdefault(kind, {})[path] = None
    shown = [
        f"{kind} ({next(iter(paths)) if len(paths) == 1 else f'{len(paths)} of them'})" for kind, paths in kinds.items()
    ]
    return f"missing files were generated: {', '.join(shown)}" if shown else ""


def free_to(runs: Iterable[ProgramRun]) -> list[str]:
    """What some of the runs were not kept from, in words."""
    known = [run.contained for run in runs if run.contained is not None]
    return not_contained(frozenset(ASPECTS).intersection(*known))


class Process:
    """A program that runs. `finish` waits for it; it and what it started are gone afterwards, whatever happens."""

    def __init__(
        self,
        specification: Specification,
        folder: Path,
        where: Path,
        limits: Limits,
        environment: Mapping[str, str],
        *,
        guards: int = 0,
        start: StartRun = start_run,
        provided: Mapping[Path, bytes] | None = None,
    ) -> None:
        """With `provided`, files of data that are missing are made up; what it holds is found at its paths."""
        self.limits = limits
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.recording = folder / "recording"
        self.table = table = folder / "guard_table"
        self.made_up = folder / "made_up"
        make_table(table, guards)
        temporary, home = folder / "tmp", folder / "home"
        temporary.mkdir()
        home.mkdir()
        environment = {**environment, "TMPDIR": str(temporary), "HOME": str(home)}
        writable = (*specification.writable, str(folder))
        if specification.source.endswith(".py"):
            # What such a program compiles is kept for the next run of it, and apart from what others compile.
            cache = cache_folder().parent / "contained"
            cache.mkdir(parents=True, exist_ok=True)
            environment["GUARDFIX_CACHE_DIR"] = str(cache)
            writable = (*writable, str(cache))
        specification = replace(
            specification,
            recording=str(self.recording),
            # With the folder goes what a compiler had begun when it was stopped.
            workplace=str(folder / "compiling"),
            guard_table=str(table),
            writable=writable,
            temporary=str(temporary),
            memory=limits.memory,
            seconds=limits.seconds,
            made_up=str(self.made_up) if provided is not None else "",
        )
        for path, data in (provided or {}).items():
            place = Path(f"{self.made_up}{path}")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        specification.write(folder / "specification.json")
        read, write = os.pipe()
        self.alive = read
        """Becomes readable when the program is ready, and at its end."""
        try:
            with open(folder / "output", "wb") as output, open(folder / "errors", "wb") as errors:
                written = folder / "specification.json"
                self.process = start(written, where, environment, output.fileno(), errors.fileno(), write)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)

    def finish(self) -> ProgramRun:
        timed_out = endless = False
        began = time.monotonic()
        try:
            if self._ready():
                began = time.monotonic()
                timed_out, endless = self._wait(self.limits.seconds)
            else:
                timed_out = self.process.poll() is None
        finally:
            seconds = time.monotonic() - began
            self.stop()
        status = self.process.returncode
        # A program that prints fast meets the limit on files first, within the second between two looks.
        endless = endless or (not timed_out and self._printed() > ENDLESS_OUTPUT)
        return ProgramRun(
            None if timed_out or endless else status,
            self._text("output"),
            self._text("errors"),
            with_lines(list(read_events(self.recording))),
            timed_out,
            endless,
            read_table(self.table),
            made_up_in(self.made_up),
            seconds,
        )

    def _ready(self) -> bool:
        readable, _, _ = select.select([self.alive], [], [], COMPILE_SECONDS)
        return bool(readable)

    def _wait(self, seconds: float) -> tuple[bool, bool]:
        """Whether the program had to be stopped: for its time, for its output."""
        deadline = time.monotonic() + seconds
        while True:
            remaining = deadline - time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(max(0.0, min(remaining, 0.2)))
                return False, False
            if remaining <= 0:
                return True, False
            if self._printed() > ENDLESS_OUTPUT:
                return False, True

    def _printed(self) -> int:
        return sum((self.folder / name).stat().st_size for name in ("output", "errors"))

    def stop(self) -> None:
        """Ends the program and all that it started, and waits for it."""
        end_session(self.process)
        for unfinished in (self.folder / "compiling").glob("compiling-*"):
            wait_until_let_go(unfinished)
        if self.alive >= 0:
            os.close(self.alive)
            self.alive = -1

    def _text(self, name: str) -> str:
        with open(self.folder / name, "rb") as file:
            return file.read(OUTPUT_LIMIT).decode("utf-8", "replace")


_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # the same order of sets, before and after
    "OMP_NUM_THREADS": "1",  # sums in the same order; and no stacks of idle threads in the memory limit
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",  # what was printed before a crash is also compared
    "NO_COLOR": "1",
}


def environment(preloaded: Path | None = None) -> dict[str, str]:
    """The environment of the programs: of ours what is passed, what makes runs alike, and a library that is preloaded.

    Their HOME is another one; the caches, and the packages that a user has installed, stay where they are.
    """
    places = {"GUARDFIX_CACHE_DIR": str(cache_folder().parent), "PYTHONUSERBASE": site.getuserbase()}
    libraries = " ".join(filter(None, (str(preloaded or ""), os.environ.get("LD_PRELOAD"))))
    own = {name: value for name, value in os.environ.items() if is_passed(name)}
    return {**own, **_ENVIRONMENT, **places, **({"LD_PRELOAD": libraries} if libraries else {})}


_PASSED = re.compile(
    # Where things are, and in which language; what Python, compilers, linkers and builds read; numbers of threads.
    r"PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|USER|LOGNAME|SHELL|PWD|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_PREFIX"
    r"|PYTHON(?:PATH|HOME|PLATLIBDIR|NOUSERSITE|SAFEPATH|OPTIMIZE|WARNINGS|UTF8|IOENCODING|FAULTHANDLER|DEVMODE|MALLOC)"
    r"|C[CX]{1,2}|C(?:PP|XX)?FLAGS|LDFLAGS|LDSHARED|AR|CPATH|C(?:PLUS)?_INCLUDE_PATH|LIBRARY_PATH"
    r"|CMAKE_(?:PREFIX|LIBRARY|INCLUDE|PROGRAM|MODULE)_PATH|PKG_CONFIG_PATH|MAX_JOBS|CUDA_(?:HOME|PATH)"
    r"|(?:OMP|MKL|OPENBLAS|NUMEXPR)_(?:NUM|MAX)_THREADS|OMP_(?:DYNAMIC|PROC_BIND|PLACES)|MKL_THREADING_LAYER"
    r"|GUARDFIX_(?:CACHE_DIR|NO_CACHE|TRACEBACK|KEEP_BUILDING)|COVERAGE_PROCESS_(?:START|CONFIG)"
)
"""Each name is one of those that are meant: under any other, people may keep a token."""
_passed_too: set[str] = set()


def is_passed(name: str) -> bool:
    """Whether programs get a variable of ours."""
    return name in _passed_too or _PASSED.fullmatch(name) is not None


def pass_variables(names: Iterable[str]) -> None:
    """Programs get these variables too, from here on (`--env`)."""
    _passed_too.update(names)


# What the C++ old guard prints once, wherever it is: the migrated program does not use it any more.
_DEPRECATION = re.compile(r"^.*AutoNonVariableTypeMode is deprecated.*\n?", re.MULTILINE)
# `[W file.cpp:29]` and `File "x.py", line 3`: rewriting moves lines.
_PLACES = re.compile(r'(\[W[^\]\n]*?:)\d+(?= ?\]|\])|(File "[^"\n]*", line )\d+|(\.(?:cpp|cc|cxx|h|hpp|py):)\d+')
_ADDRESSES = re.compile(r"\b0x[0-9a-f]{6,}\b")
_TORCH_TIME = re.compile(r"\[W\d+ [\d:.]+ ", re.MULTILINE)


def comparable(text: str, places: Mapping[str, str]) -> str:
    """Output without what differs although nothing differs: scratch folders, lines, addresses, the deprecation."""
    for scratch, shown in places.items():
        text = text.replace(scratch, shown)
    text = _DEPRECATION.sub("", text)
    text = _TORCH_TIME.sub("[W ", text)
    text = _PLACES.sub(lambda match: f"{match[1] or match[2] or match[3]}N", text)
    return _ADDRESSES.sub("0x…", text)
