"""Programs -> verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from guardfix.linter.guards import LEGACY
from guardfix.runtime_shim.cpp import CompilerOptions, ProgramError, cache_folder
from guardfix.runtime_shim.cpp.compiler_processes import wait_until_let_go
from guardfix.runtime_shim.cpp.cpp_compilation import precompile_for
from guardfix.runtime_shim.cpp.header_precompilation import Precompilation
from guardfix.runtime_shim.cpp.linked_program import SourceUnit
from guardfix.runtime_shim.recording.run_specification import Specification, preloaded_library

from .guard_meanings import BEFORE_19, SINCE_19, by_both_meanings
from .guard_outcomes import GuardReach, ProgramReach, reached, with_reach
from .guard_sites import count_guards_of, linkless_path
from .program_migration import Migration
from .program_runs import Limits, Process, ProgramRun, about_made_up_files, environment
from .programs import Program
from .run_starts import RunStarter, StartedRun, start_run
from .scratch import empty_folder, scratch_folder
from .synthetic_models import MadeUpModel, provide_model
from .tree_copies import SIBLINGS, TREE, TreeCopy
from .verdicts import Judgement, Verdict, differs, judge, judge_alone, not_deterministic
from .wanted_repairs import WantedRepair


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
class Result:
    """What was found out about one program, or about a file that no program compiles."""

    program: Program
    judgement: Judgement
    before: ProgramRun | None = None
    after: ProgramRun | None = None
    judged: tuple[ProgramRun, ProgramRun | None] | None = None
    """The runs that the judgement is about, where those are the ones with the old guard's other meaning."""
    left_out: str = ""
    """The files beside the program that were not copied, in words."""
    against: str = ""
    migration: Migration = field(default_factory=Migration)
    """The part of the migration that may matter to the program."""
    guards: tuple[GuardReach, ...] = ()
    """The guards that were counted: those of the migration's part, or those of the two programs compared."""
    files: frozenset[str] = frozenset()
    """The real paths of the files that were compiled into the program, or imported by it."""
    notes: tuple[str, ...] = ()
    """What has to be known about the runs."""
    is_program: bool = True
    """False for a file that has fixes and belongs to no program."""

    @property
    def name(self) -> str:
        return str(self.program.path)

    @property
    def judged_runs(self) -> tuple[ProgramRun | None, ProgramRun | None]:
        """Before and after, as the judgement saw them; None for what was not run."""
        return self.judged or (self.before, self.after)

    @property
    def reach(self) -> ProgramReach:
        """What the result says about guards."""
        failed = self.before is not None and self.before.status != 0
        return ProgramReach(self.name, self.judgement.verdict, self.judgement.reason, self.guards, self.files, failed)


def verify(programs: Sequence[Program], migration: Migration, settings: Settings) -> Iterator[Result]:
    """One result for each program, in their order; behind them one for each file with fixes that no program compiles.

    A program that the migration changes is run before and after; one in which it leaves a guard as it is, once.
    Raises `VerificationFailed` when nothing can be run, OSError when a copy can't be made.
    """
    files: set[str] = set()
    for result in _programs(programs, migration, settings):
        files |= result.files
        yield result
    yield from _uncompiled(migration, files)


def needs_running(program: Program, migration: Migration) -> bool:
    """Whether verifying runs the program: the migration changes it, or leaves a guard in it."""
    part = migration.of(program)
    return bool(part.texts) or part.leaves_guards


def _programs(programs: Sequence[Program], migration: Migration, settings: Settings) -> Iterator[Result]:
    for (root, _), group in groupby(programs, key=lambda program: (program.root, program.named)):
        members = [(program, migration.of(program)) for program in group]
        with ExitStack() as stack:
            pair: _Pair | None = None
            for program, part in members:
                own = frozenset({str(linkless_path(program.path))})
                if not part.texts and not part.leaves_guards:
                    judgement = Judgement(Verdict.NOTHING, part.why_nothing_at_length, headline=part.why_nothing)
                    yield Result(program, judgement, migration=part, files=own)
                    continue
                if pair is None:
                    pair = stack.enter_context(_Pair(root, root, settings))
                copies = _Copies(migration, program)
                result = pair.run(program, part, copies) if part.texts else pair.run_alone(program, part, copies)
                yield replace(result, migration=part, files=result.files | own)


def _uncompiled(migration: Migration, files: Set[str]) -> Iterator[Result]:
    """The files with fixes that no program compiles: nothing was found out about them."""
    for path in sorted(migration.texts):
        if str(path) in files:
            continue
        part = migration.about(path)
        shown = Path(next(fix.place.path for fix in part.applied))
        what = "imports" if shown.suffix == ".py" else "compiles"
        fixes = f"{len(part.applied)} fix{'' if len(part.applied) == 1 else 'es'}"
        judgement = Judgement(
            Verdict.NOT_REACHED,
            f"no program {what} this file, so nothing is known about its {fixes}",
            "name a program that uses it"
            if what == "imports"
            else "name its sources with `--source`, or a build "
            "directory with `--build`, so it becomes part of a program",
        )
        yield Result(Program(shown, shown.parent, named=False), judgement, migration=part, is_program=False)


def verify_against(first: Path, second: Path, settings: Settings, wanted: tuple[WantedRepair, ...] = ()) -> Result:
    """Compare two given programs, of which the second one is meant to repair what is `wanted`."""
    program, other = (Program(path, path.parent, named=True) for path in (first, second))
    sites, (before, after) = count_guards_of((first, second))
    counted = {linkless_path(first): (before, before), linkless_path(second): (after, after)}
    if len(counted) == 1:  # a program against itself: its guards have one number in each copy
        counted = {linkless_path(first): (before, after)}
    migration = Migration(sites=sites, counted=counted)
    with _Pair(program.root, other.root, settings) as pair:
        result = pair.run(program, migration, _Copies(migration, program, other), other, wanted)
    return replace(result, against=str(second))


def run_once(program: Program, settings: Settings) -> ProgramRun:
    """Run a program as it is, in a copy. Raises OSError when that can't be made."""
    with _Pair(program.root, program.root, settings) as pair:
        pair.fill(_Copies(Migration(), program), counted=False)
        return pair._again(program, "run0")


@dataclass(frozen=True)
class _Copies:
    """What the copies of a program hold."""

    migration: Migration
    program: Program
    other: Program | None = None
    """The second copy's, where that is another one."""

    @property
    def programs(self) -> tuple[Path, Path]:
        return self.program.path, (self.other or self.program).path

    @property
    def sources(self) -> list[Path]:
        """The programs' files, and the headers that are beside them."""
        found = sorted({*self.program.sources, *(self.other or self.program).sources})
        beside = {path for source in found for path in source.parent.glob("*.h*")}
        return [*found, *sorted(beside)]


_RUNS = ("run0", "run1", "again", "uncovered", "other0", "other1")
"""The folders of the runs, in which HOME and TMPDIR are."""


class _Pair:
    """Two scratch copies: one that stays as it is, and one that is migrated. Each run starts in fresh copies."""

    def __init__(self, first: Path, second: Path, settings: Settings) -> None:
        self.roots = (first.resolve(), second.resolve())
        self.settings = settings
        self.stack = ExitStack()
        self.trees: tuple[TreeCopy, ...] = ()
        self.precompiling: Precompilation | None = None
        self.starter: RunStarter | None = None

    def __enter__(self) -> _Pair:
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

    def _precompile(self, program: Program) -> None:
        """Begins with the large header that the program includes, for those that are compiled behind it."""
        settings = self.settings
        if self.precompiling is None and settings.backend == "shim" and not program.is_python:
            options = CompilerOptions(
                define=(*settings.define, *program.build.define),
                standard=program.build.standard or settings.standard,
                compiler=settings.compiler,
            )
            with contextlib.suppress(ProgramError, OSError):  # running it says so
                self.precompiling = precompile_for(program.path, options)

    def fill(self, copies: _Copies, *, counted: bool) -> None:
        """Make the copies again: a program may have written into them. With `counted` guards have counters."""
        empty_folder(self.folder, but=self.copies)
        if not self.trees:
            limits = SIBLINGS if copies.program.named else TREE
            self.trees = tuple(TreeCopy(root, copy, limits) for root, copy in zip(self.roots, self.copies, strict=True))
        migration = copies.migration
        for index, tree in enumerate(self.trees):
            texts = dict(migration.texts) if index else {}
            if counted:
                texts |= {path: both[index] for path, both in migration.counted.items()}
            tree.restore(texts, copies.programs[index].resolve())
        self.model = MadeUpModel(self.settings.arguments)
        if self.settings.model:
            sources = [path for path in copies.sources if path.is_file()]
            texts_of = [path.read_text(encoding="utf-8", errors="replace") for path in sources]
            folders = [
                self._where(root, copy, copy / path.resolve().relative_to(root))
                for root, copy, path in zip(self.roots, self.copies, copies.programs, strict=True)
            ]
            self.model = provide_model(texts_of, self.settings.model, self.settings.arguments, folders)

    def run(
        self,
        program: Program,
        part: Migration,
        copies: _Copies,
        other: Program | None = None,
        repairs: tuple[WantedRepair, ...] = (),
    ) -> Result:
        """Run a program before and after the migration, or two programs, and compare."""
        repairs = part.wanted if other is None else repairs
        self._precompile(program)
        counted = bool(part.sites)
        self.fill(copies, counted=counted)
        before, after = self._both(program, other or program, part)
        if counted and any(map(_fails_by_a_counter, (before, after))):
            counted = False
            self.fill(copies, counted=False)
            before, after = self._both(program, other or program, part)
        places = self._places(program, other or program)
        judgement = judge(before, after, places, uncovered=self._uncovered(program), wanted=repairs)
        others = self._with_other_meaning(program, other, part, [before, after], counted=counted)
        if others:
            judged = {
                self.settings.meanings[0]: judgement,
                self.settings.meanings[1]: judge(others[0], others[1], places, wanted=repairs),
            }
            judgement = by_both_meanings(judged)
        if judgement.verdict in (Verdict.CHANGED, Verdict.STRICTER, Verdict.REPAIRED) and differs(
            before, self._again(program, "again"), places
        ):
            judgement = not_deterministic()
        guards = reached(part.sites, *((before.counts, after.counts) if counted else ((), ())))
        files = self._files(before, after)
        # A Python program that is stopped can't say what it has imported.
        known = files or {str(linkless_path(program.path))} if program.is_python else files
        if other is None and known:
            # A header's guard that the program does not include is none of its guards.
            guards = tuple(
                reach for reach in guards if reach.is_entered or str(linkless_path(reach.site.place.path)) in known
            )
        wanted = [reach for reach in guards if reach.site.changed or other is not None]
        if wanted:
            judgement = with_reach(judgement, before, wanted)
        elif judgement.verdict is Verdict.SAME or (judgement.verdict is Verdict.NOT_RUN and other is None):
            why = "the migration changes none of its guards" if other is None else "neither program has a guard"
            judgement = judgement.saying(
                Verdict.NOTHING, f"{why}; {judgement.reason}", judgement.advice, _nothing(judgement)
            )
        seen = (others[0], others[1]) if others and judgement.meaning == self.settings.meanings[1] else None
        left_out, notes = self._left_out(), self._notes(before, after)
        return Result(program, judgement, before, after, seen, left_out, guards=guards, files=files, notes=notes)

    def _both(self, program: Program, other: Program, part: Migration) -> list[ProgramRun]:
        return list(self._together({0: program, 1: other}, "run", program, part).values())

    def _together(
        self, programs: Mapping[int, Program], name: str, shown: Program, part: Migration, meaning: str = ""
    ) -> dict[int, ProgramRun]:
        """The runs, by the number of the copy, of programs that are run at the same time."""
        with ExitStack() as stack:
            processes = {}
            for index, which in programs.items():
                process = self._start(which, index, f"{name}{index}", shown, guards=part.highest_site, meaning=meaning)
                stack.callback(process.stop)
                processes[index] = process
            return {index: process.finish() for index, process in processes.items()}

    def _with_other_meaning(
        self, program: Program, other: Program | None, part: Migration, runs: Sequence[ProgramRun], *, counted: bool
    ) -> list[ProgramRun]:
        """The runs again, with the old guard's other meaning; none where that makes no difference.

        A run that entered no old guard is what it was.
        """
        if len(self.settings.meanings) == 1 or self.settings.backend != "shim" or not counted:
            return []
        if any(run.failed is not None or run.timed_out for run in runs):
            return []
        old = [site.number for site in part.sites if site.guard == LEGACY]
        entered = [any(n < len(run.counts) and run.counts[n].entered for n in old) for run in runs]
        if not any(entered):
            return []
        both = (program, other or program)
        again = {index: both[index] for index in range(len(runs)) if entered[index]}
        made = self._together(again, "other", program, part, self.settings.meanings[1])
        return [made.get(index, run) for index, run in enumerate(runs)]

    def run_alone(self, program: Program, part: Migration, copies: _Copies) -> Result:
        """Run a program that stays as it is: the question is whether it is right."""
        self._precompile(program)
        counted = bool(part.sites)
        self.fill(copies, counted=counted)
        run = self._again(program, "run0", guards=part.highest_site)
        if counted and _fails_by_a_counter(run):
            counted = False
            self.fill(copies, counted=False)
            run = self._again(program, "run0")
        places = self._places(program, program)
        why = part.why_nothing_at_length, part.why_nothing
        judgement = judge_alone(run, places, why, part.advice, uncovered=self._uncovered(program))
        others = self._with_other_meaning(program, None, part, [run], counted=counted)
        if others:
            second = judge_alone(others[0], places, why, part.advice)
            judgement = by_both_meanings(dict(zip(self.settings.meanings, (judgement, second), strict=True)))
        guards = reached(part.sites, run.counts if counted else (), ())
        if run.failed is None:
            judgement = with_reach(judgement, run, [reach for reach in guards if reach.is_entered])
        seen = (others[0], None) if others and judgement.meaning == self.settings.meanings[1] else None
        left_out, notes = self._left_out(), self._notes(run)
        return Result(program, judgement, run, None, seen, left_out, guards=guards, files=self._files(run), notes=notes)

    def _left_out(self) -> str:
        """What the copies lack, in words; empty where they are whole."""
        count = max((tree.left_out for tree in self.trees), default=0)
        if any(tree.stopped for tree in self.trees):
            return f"at least {count:,} files" if count else "some of the files"
        return "" if not count else f"{count:,} file{'' if count == 1 else 's'}"

    def _notes(self, *runs: ProgramRun) -> tuple[str, ...]:
        return tuple(filter(None, (self.model.note, about_made_up_files(runs))))

    def _places(self, program: Program, other: Program) -> dict[str, str]:
        """What the copies are called in output."""
        copies = {str(copy): str(given.root) for copy, given in zip(self.copies, (program, other), strict=True)}
        return copies | {str(self.folder / name): "run" for name in _RUNS}

    def _files(self, *runs: ProgramRun) -> frozenset[str]:
        """The real paths of what went into the runs, each from its copy."""
        found = set()
        for run, root, copy in zip(runs, self.roots, self.copies, strict=False):
            for path in map(Path, run.files):
                found.add(str(root / path.relative_to(copy) if path.is_relative_to(copy) else path))
        return frozenset(found)

    def _uncovered(self, program: Program) -> ProgramRun | None:
        """A run in which no guard hides anything, where the runs themselves can't tell what was hidden."""
        if self.settings.backend != "torch" or self.settings.meanings[0] == SINCE_19:
            return None
        return self._again(program, "uncovered", uncovered=True)

    def _again(self, program: Program, name: str, *, uncovered: bool = False, guards: int = 0) -> ProgramRun:
        process = self._start(program, 0, name, program, uncovered=uncovered, guards=guards)
        try:
            return process.finish()
        finally:
            process.stop()

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
            quoted_include=(str(which.path.resolve().parent),) if self._left_out() else (),
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


def _nothing(judgement: Judgement) -> str:
    """The headline of a program that runs, and whose guards stay as they are."""
    if judgement.silent_before:
        return f"it is silently wrong: {judgement.silent_before[0].brief}"
    return judgement.reason if judgement.verdict is Verdict.NOT_RUN else ""


def _fails_by_a_counter(run: ProgramRun) -> bool:
    """Whether the program does not compile because of a counter beside one of its guards."""
    failure = run.failed
    return failure is not None and failure["kind"] == "compile" and "guardfix::" in failure["message"]
