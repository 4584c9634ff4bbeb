"""A project's own tests, before and after migration, on the shim."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from guardfix.module_command import module_command
from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.extension.torch_distribution import (
    installation_variables,
    version_for,
    write_torch_distribution,
)
from guardfix.runtime_shim.recording.guard_table import VARIABLE as GUARD_TABLE_VARIABLE
from guardfix.runtime_shim.recording.guard_table import GuardCount, make_table, read_table
from guardfix.runtime_shim.recording.run_specification import read_events

from .guard_outcomes import GuardOutcome, GuardReach, ProgramReach, guard_outcomes
from .guard_sites import GuardSite, linkless_path
from .lacking import missing_of_torch, missing_package
from .program_migration import Migration
from .program_runs import OUTPUT_LIMIT, ProgramRun, comparable, environment
from .scratch import scratch_folder
from .tree_copies import TREE, TreeCopy
from .verdicts import Judgement, Verdict, VerificationFailed, judge, status_in_words
from .wanted_repairs import WantedRepair

_PLUGIN = "guardfix.runtime_shim.recording.recorded_tests"
_UNITTESTS = "guardfix.runtime_shim.recording.recorded_unittests"
_CONTAINED = "guardfix.runtime_shim.recording.contained_command"
_RECORDINGS = "GUARDFIX_RECORDING_FOLDER"

TEST_SECONDS = 600.0
"""Time limit of the command that runs a project's tests, unless another is given."""

_NO_TESTS = 5
"""The exit status of pytest and unittest where there is no test, or only files that are skipped."""

_GROUPS = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "unfinished": "failed",
    "skipped": "skipped",
    "xfailed": "xfailed",
    "not started": "not started",
}
"""Outcomes, and what they are counted as."""

_STRONGER = ("not started", "unfinished", "skipped", "xfailed", "passed", "xpassed", "error", "failed")
"""Outcomes; of several that a test has, such as those of its parts and of its tear-down, the last one here counts."""


@dataclass
class TestRun:
    """One test, run once."""

    __test__ = False

    outcome: str
    """passed, failed, error, skipped, xfailed, xpassed; `unfinished` if the process ended within it; `not started`."""
    message: str = ""
    events: list[dict[str, Any]] = field(default_factory=list, repr=False)
    counts: dict[int, GuardCount] = field(default_factory=dict)
    """The guards that it entered, by their numbers; row 0 has all its ops."""
    began: float | None = None
    """When, by the system's monotonic clock."""
    cut_off: str = ""
    """How the time limit ended it, in words; empty where it didn't."""

    @property
    def group(self) -> str:
        """passed, failed, skipped, xfailed, not started."""
        return _GROUPS[self.outcome]

    @property
    def as_program(self) -> ProgramRun:
        """The test as a program that fails where the test does, and says why."""
        status = 1 if self.group in ("failed", "not started") else 0
        return ProgramRun(status, "", f"{self.outcome} {self.message}".strip(), self.events)

    @property
    def missing(self) -> str | None:
        """The first name that the shim lacks, when that is why the test did not pass."""
        return None if self.group == "passed" else missing_of_torch(self.message)

    @property
    def said(self) -> str:
        """The first line of its message; where it has none, the outcome."""
        return self.message.strip().partition("\n")[0] or self.outcome

    def ends(self, outcome: str, message: str) -> None:
        if _STRONGER.index(outcome) > _STRONGER.index(self.outcome):
            self.outcome, self.message = outcome, message


@dataclass
class Round:
    """All tests of the project, once: built, and run by the command."""

    status: int | None
    """The exit status of the command; None when it was stopped, or never started because building failed."""
    output: str
    tests: dict[str, TestRun]
    failed_build: str | None = None
    """What building said when it failed."""
    stopped_after: float | None = None
    """The command's time limit in seconds, if it was stopped for it."""


@dataclass(frozen=True)
class ComparedTest:
    """A test before and after; None where it did not run."""

    name: str
    before: TestRun | None
    after: TestRun | None
    is_known: bool = False
    """It is known to fail on PyTorch."""
    wanted: tuple[WantedRepair, ...] = ()
    """What the migration is meant to change."""

    @property
    def missing(self) -> str | None:
        return next((run.missing for run in (self.before, self.after) if run is not None and run.missing), None)

    @property
    def is_cut_off(self) -> bool:
        return any(run is not None and run.cut_off for run in (self.before, self.after))

    @cached_property
    def judgement(self) -> Judgement:
        """What the two runs of the test say about the migration."""
        before, after = self.before, self.after
        missing = self.missing
        if missing is not None:
            return self._without_proof(Verdict.UNSUPPORTED, f"the shim lacks {missing}", "")
        if self.is_cut_off:
            advice = "raise `--timeout`, or let `--test` run fewer tests"
            return Judgement(Verdict.UNSUPPORTED, _cut_off(before, after), advice)
        if before is None or after is None:
            return Judgement(Verdict.CHANGED, f"before: {_told(before)}; after: {_told(after)}")
        found = judge(before.as_program, after.as_program, {}, wanted=self.wanted)
        if found.verdict is Verdict.NOT_RUN:
            package = missing_package(before.message)
            advice = package[1] if package is not None else _KNOWN
            return self._without_proof(Verdict.NOT_RUN, f"before and after: {_told(before)}", advice)
        if found.verdict is Verdict.SAME and before.group != "passed":
            return found.saying(Verdict.SKIPPED, _told(before), "")
        parting = found.comparison.parting if found.comparison is not None else None
        if found.verdict is Verdict.CHANGED and parting is None:
            return found.saying(Verdict.CHANGED, f"before: {_told(before)}; after: {_told(after)}", found.advice)
        return found

    def _without_proof(self, verdict: Verdict, reason: str, advice: str) -> Judgement:
        if self.is_known:
            return Judgement(Verdict.SKIPPED, f"it is known to fail on PyTorch; {reason}")
        return Judgement(verdict, reason, advice)

    def reach(self, sites: Sequence[GuardSite]) -> ProgramReach:
        """What the test says about guards."""
        found = []
        for site in sites:
            before, after = (
                None if run is None or not counted else run.counts.get(site.number, GuardCount())
                for run, counted in zip((self.before, self.after), site.counted, strict=True)
            )
            found.append(GuardReach(site, before, after))
        judgement = self.judgement
        files = frozenset(str(linkless_path(site.place.path)) for site in sites)
        failed = self.before is not None and self.before.as_program.status != 0
        ended_early = judgement.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)
        return ProgramReach(
            self.name, judgement.verdict, judgement.reason, tuple(found), files, failed, ended_early=ended_early
        )


_KNOWN = "let it pass on the shim first; if it fails on PyTorch, too, say so with `--known-failures`"


def _told(run: TestRun | None) -> str:
    if run is None:
        return "did not run"
    return run.outcome if run.group == "passed" or not run.message.strip() else f"{run.outcome} ({run.said})"


def _cut_off(before: TestRun | None, after: TestRun | None) -> str:
    """On which side of the migration the time limit ended a test, and what became of the other side."""
    one, two = (run.cut_off if run is not None else "" for run in (before, after))
    if one and two:
        return f"the time limit cut it off both times: before the migration, {one}; after it, {two}"
    if one:
        return f"the time limit cut it off before the migration only: {one}; after it: {_told(after)}"
    return f"the time limit cut it off after the migration only: {two}; before it: {_told(before)}"


@dataclass(frozen=True)
class ProjectTests:
    """A project's tests, compared."""

    before: Round
    after: Round
    tests: tuple[ComparedTest, ...]
    sites: tuple[GuardSite, ...] = ()
    """The guards that were counted."""
    migration: Migration = field(default_factory=Migration)

    @property
    def reaches(self) -> list[ProgramReach]:
        return [test.reach(self.sites) for test in self.tests]

    @property
    def outcomes(self) -> list[GuardOutcome]:
        """What is known about each guard that the migration changes."""
        return guard_outcomes(self.sites, self.reaches)

    @property
    def missing(self) -> Counter[str]:
        """What the shim lacks, by how many tests stop at it."""
        return Counter(test.missing for test in self.tests if test.missing is not None)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many tests ended how, before and after the migration."""
        groups = tuple(dict.fromkeys(_GROUPS.values()))
        found = {when: dict.fromkeys(groups, 0) for when in ("before", "after")}
        for test in self.tests:
            for when, run in (("before", test.before), ("after", test.after)):
                found[when]["not started" if run is None else run.group] += 1
        return found


@dataclass(frozen=True)
class TestSettings:
    """How a project is built and tested."""

    __test__ = False

    command: str
    """What runs the tests, as in a shell without its operators: `pytest tests/`."""
    build: str | None = None
    """What builds the project; by default `setup.py build_ext --inplace` when its setup.py builds extensions."""
    seconds: float = TEST_SECONDS
    """Time limit of the command; of building, if it is more than the default."""
    known_failures: frozenset[str] = frozenset()
    """The names of tests that fail on PyTorch, without the migration."""


def verify_project_tests(project: Path, migration: Migration, settings: TestSettings) -> ProjectTests:
    """Runs the project's tests in a copy, as it is and migrated, with counters beside the guards.

    Both rounds have the same folder, one after the other, so that paths are alike and only what the migration changed
    is compiled again. Raises VerificationFailed when no test ran in either round.
    """
    root = Path(os.path.realpath(project))
    with scratch_folder(cache_folder().with_name("verify"), f"tests {root}") as scratch:
        copy = scratch / root.name
        tree = TreeCopy(root, copy, TREE)
        tree.restore({})
        rounds = []
        counted = bool(migration.sites)
        for index, name in enumerate(("before", "after")):
            texts = dict(migration.texts) if index else {}
            tree.write(texts | ({path: both[index] for path, both in migration.counted.items()} if counted else {}))
            made = build_and_test(copy, scratch / name, settings, guards=migration.highest_site)
            if counted and made.failed_build is not None and "guardfix::" in made.failed_build:
                counted = False  # a counter does not compile there
                tree.write({path: path.read_bytes() for path in migration.counted} | texts)
                made = build_and_test(copy, scratch / f"{name} uncounted", settings)
            rounds.append(made)
    before, after = rounds
    if not any(run.outcome != "not started" for made in rounds for run in made.tests.values()):
        if before.failed_build:
            raise VerificationFailed(f"no test of {project} ran: {_end_of(before.failed_build)}")
        raise VerificationFailed(
            f"no test of {project} ran with pytest or unittest under `{settings.command}`: "
            f"{_end_of(before.output) or 'it printed nothing'}"
        )
    sites = tuple(site if counted else replace(site, counted=(False, False)) for site in migration.sites)
    return ProjectTests(
        before, after, tuple(compared(before, after, settings.known_failures, migration.wanted)), sites, migration
    )


def _end_of(output: str) -> str:
    """The last lines of what a command printed, the long ones cut."""
    lines = [line if len(line) <= 300 else f"{line[:300]} …" for line in output.strip().splitlines()[-30:]]
    return "\n".join(lines)


def compared(
    before: Round, after: Round, known_failures: Collection[str] = (), wanted: tuple[WantedRepair, ...] = ()
) -> Iterable[ComparedTest]:
    """The tests of two rounds, side by side, in the order of the first."""
    for name in dict.fromkeys([*before.tests, *after.tests]):
        one, two = (made.tests.get(name) or _never_begun(made) for made in (before, after))
        yield ComparedTest(name, one, two, name in known_failures, wanted)


def _never_begun(made: Round) -> TestRun | None:
    """A test that is not in a round, where that is because building failed or the round was stopped."""
    if made.failed_build is not None:
        lines = made.failed_build.strip().splitlines()
        error = next((line for line in lines if "error:" in line), lines[-1] if lines else "it printed nothing")
        return TestRun("not started", f"building failed: {error.strip()[:300]}")
    if made.stopped_after is not None:
        return TestRun("not started", cut_off=_before_it_began(made.stopped_after))
    if not made.tests and made.output:
        return TestRun("not started", f"no test ran: {_end_of(made.output).splitlines()[-1]}")
    return None


def _before_it_began(seconds: float) -> str:
    return f"the command was stopped after {seconds:g} s, before it began"


def build_and_test(copy: Path, folder: Path, settings: TestSettings, *, guards: int = 0) -> Round:
    """Builds a copy of a project on the shim and runs its tests.

    `folder`, which must not exist, is for what both write; `guards` is the highest number of the guards counted there.
    """
    recordings = folder / "recordings"
    recordings.mkdir(parents=True)
    torch = write_torch_distribution(folder / "torch", version_for(copy), also=_UNITTESTS)
    variables = project_environment(copy, torch, folder)
    build = shlex.split(settings.build) if settings.build is not None else build_command(copy)
    if build:
        seconds = max(settings.seconds, TEST_SECONDS)
        status, output = run_in_copy(build, copy, folder / "build.log", variables, seconds)
        if status is None:
            output += f"\nbuilding was stopped after {seconds:g} s; `--timeout` raises that"
        if status != 0:
            return Round(None, "", {}, failed_build=output)
    table = folder / "guard_table"
    make_table(table, guards)
    variables |= {"PYTEST_PLUGINS": _PLUGIN, _RECORDINGS: str(recordings), GUARD_TABLE_VARIABLE: str(table)}
    status, output = run_in_copy(shlex.split(settings.command), copy, folder / "output", variables, settings.seconds)
    ended = time.monotonic()
    tests: dict[str, TestRun] = {}
    for path in sorted(recordings.glob("*.jsonl")):
        for name, run in recorded_tests(read_events(path), read_table(path.with_suffix(".table"))).items():
            tests[name] = _of_processes(tests[name], run) if name in tests else run
    places = {str(copy): copy.name, str(folder): ""}
    stopped_after = settings.seconds if status is None else None
    for run in tests.values():
        run.message = comparable(run.message, places)
        if run.outcome in ("unfinished", "not started"):
            _say_why(run, status, stopped_after, ended)
    groups = {run.group for run in tests.values()}
    only_skipped = status == _NO_TESTS and "passed" not in groups
    if (
        status != 0
        and stopped_after is None
        and groups - {"not started"}
        and "failed" not in groups
        and not only_skipped
    ):
        # It may be a process that came to none of its tests.
        last = (output.strip().splitlines() or [""])[-1].strip()[:300]
        tests[settings.command] = TestRun(
            "failed", comparable(f"{status_in_words(status)}, and no test failed: {last}", places)
        )
    return Round(status, comparable(output, places), tests, stopped_after=stopped_after)


def _of_processes(one: TestRun, two: TestRun) -> TestRun:
    """A test in the recordings of two processes, of which one may only have collected it, or told how it ended."""
    kept, other = (two, one) if two.began is not None or one.began is None else (one, two)
    kept.ends(other.outcome, other.message)
    return kept


def _say_why(run: TestRun, status: int | None, stopped_after: float | None, ended: float) -> None:
    """Put into words why a test has no outcome."""
    if stopped_after is None:
        end = status_in_words(status)
        run.message = f"the command ended ({end}) {'within it' if run.outcome == 'unfinished' else 'before it began'}"
    elif run.began is None:
        run.cut_off = _before_it_began(stopped_after)
    else:
        ran = max(0.0, ended - run.began)
        run.cut_off = f"it had run for {ran:.0f} s when the command was stopped after {stopped_after:g} s"


def project_environment(copy: Path, torch: Path, folder: Path) -> dict[str, str]:
    """The environment of building and testing: the shim is `torch`, and our Python and its programs come first."""
    temporary, home = folder / "tmp", folder / "home"
    temporary.mkdir()
    home.mkdir()
    cache = cache_folder().with_name("contained")  # apart from what is compiled by us
    cache.mkdir(parents=True, exist_ok=True)
    sources = [copy, *([copy / "src"] if (copy / "src").is_dir() else [])]
    found = environment()
    search = [str(torch), *map(str, sources), *filter(None, [found.get("PYTHONPATH")])]
    programs = [str(Path(sys.executable).parent), str(torch / "installed" / "bin"), *filter(None, [found.get("PATH")])]
    return (
        found
        | installation_variables(torch)
        | {
            "PYTHONPATH": os.pathsep.join(search),
            "PATH": os.pathsep.join(programs),
            "TMPDIR": str(temporary),
            "HOME": str(home),
            "GUARDFIX_CACHE_DIR": str(cache),
        }
    )


def build_command(copy: Path) -> list[str]:
    """What builds the extensions of a project in place; nothing when it has none."""
    setup = copy / "setup.py"
    text = setup.read_text(encoding="utf-8", errors="replace") if setup.is_file() else ""
    if not any(word in text for word in ("cpp_extension", "ext_modules")):
        return []
    # --force: setuptools knows of no header. What did not change comes from the cache of objects.
    return [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]


def run_in_copy(
    command: Sequence[str], where: Path, log: Path, variables: Mapping[str, str], seconds: float
) -> tuple[int | None, str]:
    """Runs a command and all that it starts within a time; its status, None when it was stopped, and its output."""
    with open(log, "wb") as output:
        try:
            if shutil.which(command[0], path=variables.get("PATH")) is None:
                raise VerificationFailed(f"{command[0]}: No such file or directory")
            folders = json.dumps([variables["TMPDIR"], str(where), str(log.parent), variables["GUARDFIX_CACHE_DIR"]])
            process = subprocess.Popen(
                [*module_command(_CONTAINED), folders, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=where,
                env=dict(variables),
                start_new_session=True,
            )
        except OSError as error:
            raise VerificationFailed(f"{command[0]}: {error.strerror or error}") from None
        status: int | None = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = process.wait(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with open(log, "rb") as written:
        return status, written.read(OUTPUT_LIMIT).decode("utf-8", "replace")


def recorded_tests(events: Iterable[dict[str, Any]], counts: Sequence[GuardCount] = ()) -> dict[str, TestRun]:
    """The tests of one recording, by name; `counts` is the table of guards that its process left."""
    found: dict[str, TestRun] = {}
    current: TestRun | None = None
    begun: dict[int, GuardCount] | None = None
    """What was counted before the test that is running."""
    for event in events:
        if event["event"] == "collected":
            for name in event["names"]:
                found.setdefault(name, TestRun("not started"))
        elif event["event"] == "test":
            current = found.setdefault(event["name"], TestRun("unfinished"))
            current.ends("unfinished", "")
            current.began = event.get("began")
            begun = _counts(event.get("guards", {}))
        elif event["event"] == "outcome":
            found.setdefault(event["name"], TestRun("unfinished")).ends(event["outcome"], event["message"])
        elif event["event"] == "reached":
            run = found.setdefault(event["name"], TestRun("unfinished"))
            run.counts = _counts(event["guards"])
        elif current is not None:
            current.events.append(event)
    if current is not None and current.outcome == "unfinished" and begun is not None:
        # Its process ended within it, and could not say what it had reached.
        for number, (entered, ops) in enumerate(counts):
            earlier = begun.get(number, GuardCount())
            if (entered, ops) != earlier:
                current.counts[number] = GuardCount(entered - earlier.entered, ops - earlier.ops)
    return found


def _counts(written: Mapping[str, Sequence[int]]) -> dict[int, GuardCount]:
    return {int(number): GuardCount(*count) for number, count in written.items()}
