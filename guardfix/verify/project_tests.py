"""A project's own tests, before and after migration, on the shim: a result for each test."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.extension.torch_distribution import write_torch_distribution
from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.runtime_shim.recording.run_specification import read_events
from guardfix.runtime_shim.recording.recording_request import RecordingRequest

from .guard_outcomes import reached
from .program_migration import Migration
from .program_runs import OUTPUT_LIMIT, ProgramRun, environment
from .programs import Program
from .scratch import TREE_LIMIT, copy_tree, scratch_folder, write_texts
from .verdicts import Judgement, Verdict, VerificationFailed, judge, with_reach
from .verifying import Result, Settings

_PLUGIN = "guardfix.runtime_shim.recording.recorded_tests"

BUILD_SECONDS = 1800.0
"""How long building a project may take."""

_SKIPPED = "skipped\n"
_GOOD = frozenset({"passed", "skipped", "xfailed"})


@dataclass
class _Round:
    """All tests of the project, once: built, and run by the command."""

    tests: dict[str, ProgramRun] = field(default_factory=dict)
    output: str = ""
    failed_build: str | None = None
    """What building said when it failed."""


def verify_tests(
    project: Path, migration: Migration, command: str, settings: Settings, *, build: str | None = None
) -> Iterator[Result]:
    """Runs the project's tests in a copy, as it is and migrated: one result for each test, in the order of the first.

    `command` runs the tests, as in a shell without its operators (`pytest tests/`); `build` builds the project, by
    default `setup.py build_ext --inplace` where its setup.py builds extensions. Both rounds have the same folder, one
    after the other, so that paths are alike and only what the migration changed is compiled again. Raises
    VerificationFailed when the project can't be built as it is, or no test ran.
    """
    if settings.backend != "shim":
        raise VerificationFailed("tests are run on the shim: leave out `--backend`")
    root = Path(os.path.realpath(project))
    before, after = _rounds(root, migration, command, settings, build, counted=bool(migration.sites))
    if any("guardfix::" in (found.failed_build or "") for found in (before, after)):
        before, after = _rounds(root, migration, command, settings, build, counted=False)
    if before.failed_build is not None:
        raise VerificationFailed(f"{project} could not be built as it is:\n{before.failed_build.strip()[-2000:]}")
    if not before.tests and not after.tests:
        said = before.output.strip()[-2000:] or "the command printed nothing"
        raise VerificationFailed(f"no test of {project} ran: {said}")
    files = frozenset(map(str, migration.texts))
    for name in dict.fromkeys([*before.tests, *after.tests]):
        yield _result(name, root, migration, before, after, files)


def _result(
    name: str, root: Path, migration: Migration, before: _Round, after: _Round, files: frozenset[str]
) -> Result:
    one = before.tests.get(name) or _absent(before)
    two = after.tests.get(name) or _absent(after)
    guards = reached(migration.sites, one.counts, two.counts)
    wanted = [reach.is_entered for reach in guards if reach.site.changed]
    if one.output == two.output == _SKIPPED:
        judgement = Judgement(Verdict.SAME, "the test is skipped")
    elif wanted:
        judgement = with_reach(judge(one, two, {}), one, wanted)
    else:
        judgement = judge(one, two, {})
    program = Program(Path(name), root, named=True)
    return Result(program, judgement, one, two, migration=migration, guards=guards, files=files)


def _absent(found: _Round) -> ProgramRun:
    """What is known of a test that did not run in a round."""
    if found.failed_build is not None:
        failure = {"event": "failed", "kind": "compile", "message": found.failed_build, "missing": None}
        return ProgramRun(2, "", "", [failure])
    ended = {"event": "ended", "status": 1, "error": "NotRun", "message": "the test did not run"}
    return ProgramRun(1, "", "the test did not run", [ended])


def _rounds(
    root: Path, migration: Migration, command: str, settings: Settings, build: str | None, *, counted: bool
) -> tuple[_Round, _Round]:
    with scratch_folder(cache_folder().with_name("verify"), f"tests {root}") as scratch:
        copy = scratch / root.name
        copy.mkdir()
        copy_tree(root, copy, limit=TREE_LIMIT)
        guards = migration.highest_site if counted else 0
        found = []
        for index, name in enumerate(("before", "after")):
            texts = dict(migration.texts) if index else {}
            if counted:
                texts |= {path: both[index] for path, both in migration.counted.items()}
            write_texts(root, copy, texts)
            found.append(_round(copy, scratch / name, command, settings, build, guards))
    return found[0], found[1]


def _round(copy: Path, folder: Path, command: str, settings: Settings, build: str | None, guards: int) -> _Round:
    recordings = folder / "recordings"
    recordings.mkdir(parents=True)
    variables = _variables(copy, write_torch_distribution(folder / "torch"), folder)
    building = shlex.split(build) if build is not None else _build_command(copy)
    if building:
        status, output = _run(building, copy, folder / "build.log", variables, BUILD_SECONDS)
        if status != 0:
            return _Round(failed_build=output.replace(f"{copy}{os.sep}", ""))
    recording = RecordingRequest(str(recordings), guards, settings.legacy_since19)
    variables |= {"PYTEST_PLUGINS": _PLUGIN, **recording.variables()}
    status, output = _run(shlex.split(command), copy, folder / "output", variables, settings.limits.seconds)
    tests: dict[str, ProgramRun] = {}
    for path in sorted(recordings.glob("*.jsonl")):
        tests |= recorded_runs(read_events(path), guards, timed_out=status is None)
    return _Round(tests, output)


def _variables(copy: Path, torch: Path, folder: Path) -> dict[str, str]:
    """The environment of building and testing: the shim is `torch`, and our Python and its programs come first."""
    temporary = folder / "tmp"
    temporary.mkdir()
    sources = [copy, *([copy / "src"] if (copy / "src").is_dir() else [])]
    found = environment()
    search = [str(torch), *map(str, sources), *filter(None, [found.get("PYTHONPATH")])]
    programs = [str(Path(sys.executable).parent), *filter(None, [found.get("PATH")])]
    return found | {
        "PYTHONPATH": os.pathsep.join(search),
        "PATH": os.pathsep.join(programs),
        "TMPDIR": str(temporary),
    }


def _build_command(copy: Path) -> list[str]:
    """What builds the extensions of a project in place; nothing when it has none."""
    setup = copy / "setup.py"
    if not setup.is_file() or "cpp_extension" not in setup.read_text(encoding="utf-8", errors="replace"):
        return []
    # --force: setuptools knows of no header. What did not change comes from the cache of objects.
    return [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]


def _run(
    command: Sequence[str], where: Path, log: Path, variables: Mapping[str, str], seconds: float
) -> tuple[int | None, str]:
    """Runs a command and all that it starts within a time; its status, None when it was stopped, and its output."""
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                command,
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


def recorded_runs(
    events: Iterable[dict[str, Any]], guards: int = 0, *, timed_out: bool = False
) -> dict[str, ProgramRun]:
    """The tests of one recording, by name, each as the run of a program.

    A test that passed, was skipped or failed as expected has status 0. One that the process ended in was stopped when
    the command was, and else ended the process.
    """
    found: dict[str, ProgramRun] = {}
    outcomes: dict[str, tuple[str, str]] = {}
    current = ""
    for event in events:
        kind = event["event"]
        if kind == "test":
            current = event["name"]
            # Nothing keeps what tests start from the network or from other files.
            begun = [{"event": "ready"}, {"event": "contained", "aspects": []}]
            found[current] = ProgramRun(None, "", "", begun, counts=[GuardCount()] * (guards + 1))
        elif kind == "outcome":
            name = event["name"]
            found.setdefault(name, ProgramRun(None, "", "", []))
            if outcomes.get(name, ("passed",))[0] == "passed":  # what fails in teardown comes second
                outcomes[name] = event["outcome"], event["message"]
        elif kind == "guards":
            for number, entered, ops in event["counts"]:
                found[event["name"]].counts[number] = GuardCount(entered, ops)
        elif current:
            found[current].events.append(event)
    for name, run in found.items():
        outcome, message = outcomes.get(name, ("unfinished", "the process ended within the test"))
        run.status = 0 if outcome in _GOOD else 1
        run.output = f"{outcome}\n"
        run.timed_out = timed_out and name not in outcomes
        run.errors = "" if run.status == 0 else message
        error = None if run.status == 0 else message.partition(":")[0]
        # The error is its own event where torch raised it: behind it the test's message only repeats it.
        text = "" if run.status == 0 else message.partition(": ")[2] or message
        run.events.append({"event": "ended", "status": run.status, "error": error, "message": text})
    return found
