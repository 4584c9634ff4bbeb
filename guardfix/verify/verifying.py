"""Programs -> verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.recording.run_specification import Specification

from .program_migration import Migration
from .program_runs import Limits, Process, ProgramRun, environment
from .programs import Program
from .scratch import SIBLINGS_LIMIT, TREE_LIMIT, copy_tree, scratch_folder, write_texts
from .verdicts import Judgement, Verdict, differs, judge, judge_alone, not_deterministic


@dataclass(frozen=True)
class Settings:
    """How programs are compiled and run."""

    backend: str = "shim"
    legacy_since19: bool = False
    limits: Limits = field(default_factory=Limits)
    arguments: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    compiler: str | None = None


@dataclass(frozen=True)
class Result:
    """What was found out about one program."""

    program: Program
    judgement: Judgement
    before: ProgramRun | None = None
    after: ProgramRun | None = None
    left_out: int = 0
    """Files beside the program that were too large to be copied."""
    against: str = ""
    migration: Migration = field(default_factory=Migration)
    """The part of the migration that may matter to the program."""


def verify(programs: Sequence[Program], migration: Migration, settings: Settings) -> Iterator[Result]:
    """One result for each program, in their order.

    A program that the migration changes is run before and after; one in which it leaves a guard as it is, once.
    Raises `VerificationFailed` when nothing can be run, OSError when a copy can't be made.
    """
    for (root, named), group in groupby(programs, key=lambda program: (program.root, program.named)):
        members = [(program, migration.of(program)) for program in group]
        with ExitStack() as stack:
            pair: _Pair | None = None
            for program, part in members:
                if not part.texts and not part.leaves_guards:
                    yield Result(program, Judgement(Verdict.SAME, part.why_nothing(program)), migration=part)
                    continue
                if pair is None:
                    pair = stack.enter_context(_Pair(root, root, settings))
                limit = SIBLINGS_LIMIT if named else TREE_LIMIT
                pair.fill(limit, program.path if named else None, migration.texts)
                result = pair.run(program, program) if part.texts else pair.run_alone(program, part)
                yield replace(result, migration=part)


def verify_against(first: Path, second: Path, settings: Settings) -> Result:
    """Compare two given programs."""
    program, other = (Program(path, path.parent, named=True) for path in (first, second))
    with _Pair(program.root, other.root, settings) as pair:
        pair.fill(SIBLINGS_LIMIT, first, {}, other=second)
        result = pair.run(program, other)
    return Result(program, result.judgement, result.before, result.after, result.left_out, str(second))


class _Pair:
    """Two scratch copies: one that stays as it is, and one that is migrated. Each run starts in fresh copies."""

    def __init__(self, first: Path, second: Path, settings: Settings) -> None:
        self.roots = (first.resolve(), second.resolve())
        self.settings = settings
        self.stack = ExitStack()
        self.left_out = 0

    def __enter__(self) -> _Pair:
        parent = cache_folder().parent / "verify"
        self.folder = self.stack.enter_context(scratch_folder(parent, "\0".join(map(str, self.roots))))
        self.copies = (self.folder / "before", self.folder / "after")
        self.filled: tuple[object, ...] = ()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stack.close()

    def fill(self, limit: int, first: Path | None, texts: Mapping[Path, bytes], *, other: Path | None = None) -> None:
        """Make the copies anew: a program may have written into them."""
        from .scratch import _empty

        _empty(self.folder)
        for root, copy, path in zip(self.roots, self.copies, (first, other or first), strict=True):
            copy.mkdir()
            left_out = copy_tree(root, copy, limit=limit, first=path and path.resolve())
            self.left_out = max(self.left_out, len(left_out))
        write_texts(self.roots[1], self.copies[1], texts)

    def run(self, program: Program, other: Program) -> Result:
        settings = self.settings
        places = {str(copy): str(given.root) for copy, given in zip(self.copies, (program, other), strict=True)}
        runs: list[ProgramRun] = []
        with ExitStack() as stack:
            processes = []
            for index, which in enumerate((program, other)):
                process = self._start(which, index, f"run{index}", settings, program)
                stack.callback(process.stop)
                processes.append(process)
            runs = [process.finish() for process in processes]
        before, after = runs
        judgement = judge(before, after, places, uncovered=self._uncovered(program))
        if judgement.verdict in (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED) and differs(
            before, self._again(program, "again"), places
        ):
            judgement = not_deterministic()
        return Result(program, judgement, before, after, self.left_out)

    def run_alone(self, program: Program, part: Migration) -> Result:
        """Run a program that stays as it is: the question is whether it is right."""
        places = {str(self.copies[0]): str(program.root)}
        run = self._again(program, "run0")
        judgement = judge_alone(run, places, part.why_nothing(program), part.advice, uncovered=self._uncovered(program))
        return Result(program, judgement, run, None, self.left_out)

    def _uncovered(self, program: Program) -> ProgramRun | None:
        """A run in which no guard hides anything, where the runs themselves can't tell what was hidden."""
        if self.settings.backend != "torch" or self.settings.legacy_since19:
            return None
        return self._again(program, "uncovered", uncovered=True)

    def _again(self, program: Program, name: str, *, uncovered: bool = False) -> ProgramRun:
        process = self._start(program, 0, name, self.settings, program, uncovered=uncovered)
        try:
            return process.finish()
        finally:
            process.stop()

    def _start(
        self, which: Program, index: int, name: str, settings: Settings, shown: Program, *, uncovered: bool = False
    ) -> Process:
        root, copy = self.roots[index], self.copies[index]
        source = copy / which.path.resolve().relative_to(root)
        specification = Specification(
            source=str(source),
            shown=str(shown.path),
            recording="",
            arguments=settings.arguments,
            backend=settings.backend,
            legacy_since19=settings.legacy_since19,
            uncovered=uncovered,
            include=tuple(self._in_copy(folder, root, copy) for folder in settings.include),
            quoted_include=(str(which.path.resolve().parent),) if self.left_out else (),
            define=settings.define,
            link=settings.link,
            standard=settings.standard,
            compiler=settings.compiler,
        )
        return Process(
            specification, self.folder / name, self._where(root, copy, source), settings.limits, environment()
        )

    def _in_copy(self, folder: str, root: Path, copy: Path) -> str:
        """Where the headers of a folder lie: in the copy, if the folder was copied, for they may be migrated."""
        real = Path(folder).resolve()
        return str(copy / real.relative_to(root)) if real.is_relative_to(root) else str(real)

    def _where(self, root: Path, copy: Path, source: Path) -> Path:
        """The current folder of the program: the place of ours in the copy if it has one, else the program's."""
        here = Path.cwd()
        place = copy / here.relative_to(root) if here.is_relative_to(root) else source.parent
        return place if place.is_dir() else source.parent
