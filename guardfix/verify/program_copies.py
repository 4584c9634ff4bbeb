"""Scratch copies of a program's folder, and its runs in them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guardfix.regular_files import read_regular_text
from guardfix.runtime_shim.cpp import CompilerOptions, ProgramError, cache_folder
from guardfix.runtime_shim.cpp.compiler_processes import wait_until_let_go
from guardfix.runtime_shim.cpp.cpp_compilation import precompile_for
from guardfix.runtime_shim.cpp.header_precompilation import Precompilation
from guardfix.runtime_shim.cpp.linked_program import SourceUnit
from guardfix.runtime_shim.recording.run_specification import Specification, preloaded_library

from .judging.guard_meanings import BEFORE_19, SINCE_19
from .programs.program_discovery import Program
from .programs.program_migration import Migration
from .runs.program_runs import Limits, Process, ProgramRun, about_made_up_files, environment
from .runs.run_starts import RunStarter, StartedRun, start_run
from .runs.scratch import empty_folder, scratch_folder
from .runs.synthetic_models import MadeUpModel, provide_model
from .runs.tree_copies import SIBLINGS, TREE, TreeCopy


@dataclass(frozen=True)
class Settings:
    """How programs are compiled and run."""

    backend: str = "shim"
    meanings: tuple[str, ...] = (BEFORE_19, SINCE_19)
    """Those that the old guard may have; PyTorch itself takes the first."""
    limits: Limits = field(default_factory=Limits)
    arguments: tuple[str, ...] = ()
    model: str = ""
    """The file of a TorchScript archive for programs that load one; `auto` for one that is made up, as other files of
    data that are missing then are."""
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    compiler: str | None = None
    detailed: bool = False
    """Record which tensor is which, and the autograd graph: for a page that shows them."""


@dataclass(frozen=True)
class VerifiedProgram:
    """What is verified: a program and its migration, or a program and another one that is meant to replace it."""

    program: Program
    migration: Migration = field(default_factory=Migration)
    """What the copies hold; the programs of a project share them."""
    part: Migration = field(default_factory=Migration)
    """What may matter to this program."""
    other: Program | None = None

    @property
    def both(self) -> tuple[Program, Program]:
        return self.program, self.other or self.program

    @property
    def is_alone(self) -> bool:
        """Whether there is nothing to compare with: the migration leaves the program as it is."""
        return self.other is None and not self.part.texts

    @property
    def sources(self) -> list[Path]:
        """The programs' files, and the headers that are beside them."""
        found = sorted({source for program in self.both for source in program.sources})
        beside = {path for source in found for path in source.parent.glob("*.h*")}
        return [*found, *sorted(beside)]


_RUNS = ("run0", "run1", "again0", "uncovered0", "other0", "other1")
"""The folders of the runs, in which HOME and TMPDIR are."""


class ProgramCopies:
    """Two scratch copies: one that stays as it is, and one that is migrated. Each run starts in fresh copies."""

    def __init__(self, first: Path, second: Path, settings: Settings) -> None:
        self.roots = (first.resolve(), second.resolve())
        self.settings = settings
        self.stack = ExitStack()
        self.trees: tuple[TreeCopy, ...] = ()
        self.precompiling: Precompilation | None = None
        self.starter: RunStarter | None = None

    def __enter__(self) -> ProgramCopies:
        parent = cache_folder().parent / "verify"
        self.folder = self.stack.enter_context(scratch_folder(parent, "\0".join(map(str, self.roots))))
        self.copies = (self.folder / "before", self.folder / "after")
        self.preloaded = preloaded_library() if self.settings.model == "auto" else None
        if self.settings.backend == "shim" and RunStarter.is_possible():
            self.starter = RunStarter(environment(self.preloaded))
            self.stack.callback(self._close_starter)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.precompiling is not None and kind is not None:
            self.precompiling.stop()
        self.stack.close()

    def precompile(self, program: Program) -> None:
        """Begins with the large header that the program includes, for the programs that are compiled later."""
        settings = self.settings
        if self.precompiling is None and settings.backend == "shim" and not program.is_python:
            options = CompilerOptions(
                define=(*settings.define, *program.build.define),
                standard=program.build.standard or settings.standard,
                compiler=settings.compiler,
            )
            with contextlib.suppress(ProgramError, OSError):  # running it says so
                self.precompiling = precompile_for(program.path, options)

    def fill(self, subject: VerifiedProgram, *, counted: bool) -> None:
        """Make the copies again: a program may have written into them. With `counted` guards have counters."""
        empty_folder(self.folder, but=self.copies)
        if not self.trees:
            limits = SIBLINGS if subject.program.named else TREE
            self.trees = tuple(TreeCopy(root, copy, limits) for root, copy in zip(self.roots, self.copies, strict=True))
        migration = subject.migration
        for index, tree in enumerate(self.trees):
            texts = dict(migration.texts) if index else {}
            if counted:
                texts |= {path: both[index] for path, both in migration.counted.items()}
            tree.restore(texts, subject.both[index].path.resolve())
        self.model = MadeUpModel(self.settings.arguments)
        if self.settings.model:
            sources = [path for path in subject.sources if path.is_file()]
            texts_of = [read_regular_text(path, "replace") for path in sources]
            folders = [
                self._where(root, copy, copy / program.path.resolve().relative_to(root))
                for root, copy, program in zip(self.roots, self.copies, subject.both, strict=True)
            ]
            self.model = provide_model(texts_of, self.settings.model, self.settings.arguments, folders)

    def run(
        self,
        programs: Mapping[int, Program],
        name: str,
        shown: Program,
        *,
        guards: int = 0,
        meaning: str = "",
        uncovered: bool = False,
    ) -> list[ProgramRun]:
        """Run programs at the same time, each in the copy of its number; `shown` is what output calls them."""
        with ExitStack() as stack:
            processes = []
            for index, which in programs.items():
                process = self._start(
                    which, index, f"{name}{index}", shown, guards=guards, meaning=meaning, uncovered=uncovered
                )
                stack.callback(process.stop)
                processes.append(process)
            return [process.finish() for process in processes]

    def _start(
        self,
        which: Program,
        index: int,
        name: str,
        shown: Program,
        *,
        uncovered: bool = False,
        guards: int = 0,
        meaning: str = "",
    ) -> Process:
        settings = self.settings
        root, copy = self.roots[index], self.copies[index]
        source = copy / which.path.resolve().relative_to(root)
        build = which.build
        specification = Specification(
            source=str(source),
            shown=str(shown.path),
            recording="",
            arguments=self.model.arguments,
            backend=settings.backend,
            legacy_since19=(meaning or settings.meanings[0]) == SINCE_19,
            uncovered=uncovered,
            detailed=settings.detailed,
            include=tuple(
                self._in_copy(folder, root, copy) for folder in (*settings.include, *map(str, build.include))
            ),
            quoted_include=(str(which.path.resolve().parent),) if self.left_out() else (),
            units=tuple(self._unit(unit, root, copy) for unit in build.units),
            root=str(copy),
            define=(*settings.define, *build.define),
            link=(*settings.link, *build.link),
            standard=build.standard or settings.standard,
            compiler=settings.compiler,
            writable=(str(copy),),
        )
        return Process(
            specification,
            self.folder / name,
            self._where(root, copy, source),
            settings.limits,
            environment(self.preloaded),
            guards=guards,
            start=self._start_run,
            provided=self.model.elsewhere if self.preloaded else None,
        )

    def _close_starter(self) -> None:
        if self.starter is not None:
            self.starter.close()
        for unfinished in self.folder.glob("*/compiling/compiling-*"):  # of a run whose start was interrupted
            wait_until_let_go(unfinished)

    def _start_run(self, *given: Any) -> StartedRun:
        if self.starter is not None:
            with contextlib.suppress(OSError):  # it was killed
                return self.starter.start(*given)
            self.starter = None
        return start_run(*given)

    def _unit(self, unit: SourceUnit, root: Path, copy: Path) -> dict[str, Any]:
        return {
            "path": self._in_copy(unit.path, root, copy),
            "include": [self._in_copy(folder, root, copy) for folder in unit.include],
            "define": unit.define,
            "standard": unit.standard,
            "on_demand": unit.on_demand,
        }

    @staticmethod
    def _in_copy(folder: str | Path, root: Path, copy: Path) -> str:
        """Where the headers of a folder lie: in the copy, if the folder was copied, for they may be migrated."""
        real = Path(folder).resolve()
        return str(copy / real.relative_to(root)) if real.is_relative_to(root) else str(real)

    def _where(self, root: Path, copy: Path, source: Path) -> Path:
        """The current folder of the program: the place of ours in the copy if it has one, else the program's."""
        here = Path.cwd()
        place = copy / here.relative_to(root) if here.is_relative_to(root) else source.parent
        return place if place.is_dir() else source.parent

    def left_out(self) -> str:
        """What the copies lack, in words; empty where they are whole."""
        count = max((tree.left_out for tree in self.trees), default=0)
        if any(tree.stopped for tree in self.trees):
            return f"at least {count:,} files" if count else "some of the files"
        return "" if not count else f"{count:,} file{'' if count == 1 else 's'}"

    def notes(self, *runs: ProgramRun) -> tuple[str, ...]:
        return tuple(filter(None, (self.model.note, about_made_up_files(runs))))

    def places(self, subject: VerifiedProgram) -> dict[str, str]:
        """What the copies are called in output."""
        copies = {str(copy): str(given.root) for copy, given in zip(self.copies, subject.both, strict=True)}
        return copies | {str(self.folder / name): "run" for name in _RUNS}

    def files(self, *runs: ProgramRun) -> frozenset[str]:
        """The real paths of what went into the runs, each from its copy."""
        found = set()
        for run, root, copy in zip(runs, self.roots, self.copies, strict=False):
            for path in map(Path, run.files):
                found.add(str(root / path.relative_to(copy) if path.is_relative_to(copy) else path))
        return frozenset(found)
