"""A project's own tests, before and after migration, on the shim or on the installed PyTorch."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from guardfix.module_command import module_command
from guardfix.regular_files import read_regular, read_regular_text
from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.extension.cmake_package import (
    KEEP_BUILDING,
    NOT_BUILT,
    installation_variables,
    version_for,
    write_beside_torch,
    write_torch_distribution,
)
from guardfix.runtime_shim.recording.guard_table import VARIABLE as GUARD_TABLE_VARIABLE
from guardfix.runtime_shim.recording.guard_table import GuardCount, make_table, read_table
from guardfix.runtime_shim.recording.process_recorder import FOLDER as RECORDINGS_VARIABLE
from guardfix.runtime_shim.recording.process_recorder import ONLY as ONLY_VARIABLE
from guardfix.runtime_shim.recording.process_recorder import TEST_BACKEND as BACKEND_VARIABLE
from guardfix.runtime_shim.recording.real_torch import old_guard_header
from guardfix.runtime_shim.recording.run_specification import read_events

from ..judging.lacking import missing_package, needed_packages
from ..judging.verdicts import VerificationFailed, status_in_words
from ..programs.program_migration import Migration
from ..runs.program_runs import OUTPUT_LIMIT, comparable, environment
from ..runs.run_starts import end_session, processors
from ..runs.scratch import scratch_folder
from ..runs.tree_copies import TREE, TreeCopy
from .compared_tests import ComparedTest, ProjectTests, Round, TestRun, before_it_began, compared, end_of, first_error
from .compiler_cache import with_ccache

_PLUGIN = "guardfix.runtime_shim.recording.recorded_tests"
_UNITTESTS = "guardfix.runtime_shim.recording.recorded_unittests"
_CONTAINED = "guardfix.runtime_shim.recording.contained_command"

TEST_SECONDS = 600.0
"""Time limit of the command that runs a project's tests, unless another is given."""

_FAILED = ("failed", "error")
"""What fails on PyTorch as well; a test that was cut off ("unfinished") may only be slow."""

_NO_TESTS = 5
"""The exit status of pytest and unittest where there is no test, or only files that are skipped."""


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
    backend: str = "shim"
    """What stands behind `import torch`: the shim, or `torch`, the one that is installed."""
    legacy_since19: bool = False
    """With PyTorch, the old guard is what its headers have; else what it was before 1.9, as on the shim."""


Tell = Callable[[str], None]
"""Called every second with what is going on."""


def no_one(text: str) -> None:
    """Tells no one."""


def verify_project_tests(
    project: Path, migration: Migration, settings: TestSettings, tell: Tell = no_one
) -> ProjectTests:
    """Runs the project's tests in a copy, as it is and migrated, with counters beside the guards.

    Both are built in the same folder, so that paths are alike and only what the migration changed is compiled again.
    Where the system can show a process another folder in its place, the tests of both run at the same time. Raises
    VerificationFailed when no test ran in either round.
    """
    root = Path(os.path.realpath(project))
    with scratch_folder(cache_folder().with_name("verify"), f"tests {root}") as scratch:
        copy = scratch / root.name
        tree = TreeCopy(root, copy, TREE)
        tree.restore({})
        counted, said = bool(migration.sites), dict[str, str]()

        def build(name: str) -> BuiltCopy:
            nonlocal counted
            index = name == "after"
            texts = dict(migration.texts) if index else {}
            counters = {path: both[index] for path, both in migration.counted.items()} if counted else {}
            tree.write(texts | counters)
            built = BuiltCopy(copy, scratch / name, settings, migration.highest_site, _telling(tell, said, name))
            if counted and built.failed_build is not None and "guardfix::" in built.failed_build:
                counted = False  # a counter does not compile there
                tree.write({path: read_regular(path) for path in migration.counted} | texts)
                built = BuiltCopy(copy, scratch / f"{name} uncounted", settings, tell=_telling(tell, said, name))
            return built

        first = build("before")
        if first.set_apart(scratch / "apart"):
            with _meanwhile(first) as tested:
                second = build("after")
                after = second.test()
                before = tested()
            if packages := _packages(before):
                installed = [built.install(packages) for built in (first, second)]
                if any(installed):
                    with _meanwhile(first) as tested:
                        after, before = second.test(), tested()
        else:
            before = first.test()
            if (packages := _packages(before)) and first.install(packages):
                before = first.test()
            second = build("after")
            if packages:
                second.install(packages)
            after = second.test()
        rounds = before, after
        known = settings.known_failures
        on_torch = settings.backend == "torch"
        if on_torch:  # what fails before fails there, unless it lacks a package
            known |= {
                name
                for name, run in before.tests.items()
                if run.outcome in _FAILED and not missing_package(run.message)
            }
        tests = tuple(compared(before, after, known, migration.wanted, on_torch=on_torch))
        if any(test.differs for test in tests):
            tests = _repeated(tests, first, second)
    if not any(run.outcome != "not started" for made in rounds for run in made.tests.values()):
        if before.failed_build:
            raise VerificationFailed(f"no test of {project} ran: {first_error(before.failed_build)}")
        raise VerificationFailed(
            f"no test of {project} ran with pytest or unittest under `{settings.command}`: "
            f"{end_of(before.output) or 'it printed nothing'}"
        )
    sites = tuple(site if counted else replace(site, counted=(False, False)) for site in migration.sites)
    return ProjectTests(before, after, tests, sites, migration)


def _telling(tell: Tell, said: dict[str, str], name: str) -> Tell:
    """Tells what goes on in one round, after what goes on in the other."""

    def say(text: str) -> None:
        said[name] = f"{text} {name} the migration"
        tell(", ".join(said.values()))

    return say


def _packages(made: Round) -> list[str]:
    """What the tests need of guardfix's extras, or of what comes with PyTorch: it is installed for them."""
    return sorted({one for run in made.tests.values() for one in needed_packages(run.message)})


@contextlib.contextmanager
def _meanwhile(built: BuiltCopy) -> Iterator[Callable[[], Round]]:
    """Runs the tests while something else is done, until that fails; what is yielded waits for their round."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(built.test)
        try:
            yield running.result
        except BaseException:
            built.stopped.set()
            raise


def _repeated(tests: tuple[ComparedTest, ...], first: BuiltCopy, second: BuiltCopy) -> tuple[ComparedTest, ...]:
    """The tests, with another run of those that differ: alone first, then, where that is not the same, with all others.

    A test that is not the same twice shows nothing about a migration. Where the version before it is still there, what
    differs then runs once more on that as well: it may only come of running both at once.
    """
    for only in ([test.name for test in tests if test.differs], None):
        again = second.test(only)
        tests = tuple(
            replace(test, again=again.tests.get(test.name)) if test.differs or test.varies else test for test in tests
        )
        if not any(test.varies for test in tests):
            break
    differing = [test.name for test in tests if test.differs]
    if differing and first.apart is not None:
        earlier = first.test(differing)
        tests = tuple(
            replace(test, before_again=earlier.tests.get(test.name)) if test.differs else test for test in tests
        )
    return tests


class BuiltCopy:
    """A copy of a project, built on the shim, whose tests can be run."""

    def __init__(self, copy: Path, folder: Path, settings: TestSettings, guards: int = 0, tell: Tell = no_one) -> None:
        """Builds it. `folder`, which must not exist, is for what building and tests write; `guards` is the highest
        number of the guards that are counted."""
        self.copy, self.folder, self.settings, self.guards, self.tell = copy, folder, settings, guards, tell
        folder.mkdir(parents=True)
        if settings.backend == "torch":
            torch = write_beside_torch(folder / "torch", also=_UNITTESTS)
            self.variables = project_environment(copy, torch, folder)
            self.variables |= _with_torch(settings, Path(self.variables["GUARDFIX_CACHE_DIR"]))
        else:
            torch = write_torch_distribution(folder / "torch", version_for(copy), also=_UNITTESTS)
            self.variables = project_environment(copy, torch, folder) | {KEEP_BUILDING: "1"}
        self.variables |= with_ccache(folder / "compilers", self.variables, by_name=settings.backend == "torch")
        self.failed_build: str | None = None
        self.apart: Path | None = None
        """A folder that its tests find in the place of the copy, in which another version is built by then."""
        self.stopped = threading.Event()
        """Its tests are to end."""
        self._rounds = 0
        build = shlex.split(settings.build) if settings.build is not None else build_command(copy)
        if build:
            seconds = max(settings.seconds, TEST_SECONDS)
            status, output = run_in_copy(
                build, copy, folder / "build.log", self.variables, seconds, lambda: tell("building")
            )
            if status is None:
                output += f"\nbuilding was stopped after {seconds:g} s; `--timeout` raises that"
            if status != 0 or (NOT_BUILT in output and "guardfix::" in output):
                self.failed_build = output

    def set_apart(self, folder: Path) -> bool:
        """Keeps what is built in another folder, so that its tests run while the copy is changed; False where the
        system can't show them that in the place of the copy, or has only one processor."""
        if self.failed_build is not None or processors() < 2:
            return False
        try:
            shutil.copytree(self.copy, folder, symlinks=True)
        except OSError:  # no room, or something that can't be copied
            shutil.rmtree(folder, ignore_errors=True)
            return False
        probe = run_in_copy(["true"], self.copy, self.folder / "probe", self.variables, 60, instead=folder)
        self.apart = folder if probe[0] == 0 else None
        return self.apart is not None

    def install(self, requirements: Collection[str]) -> bool:
        """Installs packages beside the copy, for its tests alone; False where that fails, as without a network."""
        command = [*module_command("pip"), "install", "--quiet", "--disable-pip-version-check", *requirements]
        # pip runs outside the containment: nothing of the copy may take the place of its modules.
        variables = {name: value for name, value in self.variables.items() if name != "PYTHONPATH"}
        with open(self.folder / "pip.log", "ab") as log, contextlib.suppress(OSError):
            done = subprocess.run(command, env=variables, stdout=log, stderr=log, cwd=self.folder, check=False)
            return done.returncode == 0
        return False

    def test(self, only: Collection[str] | None = None) -> Round:
        """Runs the tests, or only those with these names."""
        if self.failed_build is not None:
            return Round(None, "", {}, failed_build=self.failed_build)
        self._rounds += 1
        recordings = self.folder / f"recordings {self._rounds}"
        recordings.mkdir()
        table = recordings / "guard_table"
        make_table(table, self.guards)
        variables = self.variables | {
            "PYTEST_PLUGINS": _PLUGIN,
            RECORDINGS_VARIABLE: str(recordings),
            GUARD_TABLE_VARIABLE: str(table),
        }
        if only is not None:
            names = recordings / "names.json"
            names.write_text(json.dumps(sorted(only)), encoding="utf-8")
            variables[ONLY_VARIABLE] = str(names)
        settings, command = self.settings, shlex.split(self.settings.command)
        running = _RunningTests(recordings)

        def meanwhile() -> None:
            if self.stopped.is_set():
                raise VerificationFailed("the tests were stopped")
            self.tell(f"testing ({running.ended()} of {running.known} tests done)")

        status, output = run_in_copy(
            command, self.copy, self.folder / "output", variables, settings.seconds, meanwhile, instead=self.apart
        )
        ended = time.monotonic()
        tests: dict[str, TestRun] = {}
        for path in sorted(recordings.glob("*.jsonl")):
            for name, run in recorded_tests(read_events(path), read_table(path.with_suffix(".table"))).items():
                tests[name] = _of_processes(tests[name], run) if name in tests else run
        places = {str(self.copy): self.copy.name, str(self.folder): ""}
        stopped_after = settings.seconds if status is None else None
        for run in tests.values():
            run.message = comparable(run.message, places)
            if run.outcome in ("unfinished", "not started"):
                _say_why(run, status, output, stopped_after, ended)
        if stopped_after is None and _failed_otherwise(status, tests):
            # It may be a process that came to none of its tests.
            last = (output.strip().splitlines() or [""])[-1].strip()[:300]
            tests[settings.command] = TestRun(
                "failed", comparable(f"{status_in_words(status)}, and no test failed: {last}", places)
            )
        return Round(status, comparable(output, places), tests, stopped_after=stopped_after)


class _RunningTests:
    """How far tests are that run, by what they have recorded."""

    def __init__(self, recordings: Path) -> None:
        self.recordings = recordings
        self.known = 0
        """Tests that are to run."""
        self._ended: set[str] = set()
        self._read: dict[Path, int] = {}

    def ended(self) -> int:
        """How many have an outcome."""
        for path in self.recordings.glob("*.jsonl"):
            with open(path, "rb") as file:
                file.seek(self._read.get(path, 0))
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self._read[path] = self._read.get(path, 0) + len(line)
                    if line.startswith(b'{"event":"outcome"'):
                        self._ended.add(json.loads(line)["name"])
                    elif line.startswith(b'{"event":"collected"'):
                        self.known = max(self.known, len(json.loads(line)["names"]))
        return min(len(self._ended), self.known)


def _failed_otherwise(status: int | None, tests: Mapping[str, TestRun]) -> bool:
    """Whether the command failed although no test did."""
    groups = {run.group for run in tests.values()}
    only_skipped = status == _NO_TESTS and "passed" not in groups
    return status != 0 and bool(groups - {"not started"}) and "failed" not in groups and not only_skipped


def _of_processes(one: TestRun, two: TestRun) -> TestRun:
    """A test in the recordings of two processes, one of which may only have collected it, or reported how it ended."""
    kept, other = (two, one) if two.began is not None or one.began is None else (one, two)
    kept.ends(other.outcome, other.message)
    return kept


_EXIT = re.compile(r"^!+ (?:_pytest\.outcomes\.)?Exit: (.*?) !+$", re.MULTILINE)
"""What pytest prints where a test, or a hook, ended it by `pytest.exit`."""


def _say_why(run: TestRun, status: int | None, output: str, stopped_after: float | None, ended: float) -> None:
    """Put into words why a test has no outcome."""
    if stopped_after is None:
        end = status_in_words(status)
        run.message = f"the command ended ({end}) {'within it' if run.outcome == 'unfinished' else 'before it began'}"
        said = _EXIT.search(output)
        if said is not None:
            run.message += f": pytest.exit: {said[1]}"
    elif run.began is None:
        run.cut_off = before_it_began(stopped_after)
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


def _with_torch(settings: TestSettings, cache: Path) -> dict[str, str]:
    """What a build and tests with the installed PyTorch have in their environment, beside what all have.

    What the compiler includes is in the cache that a contained build can read.
    """
    found = {BACKEND_VARIABLE: "torch"}
    if not settings.legacy_since19:
        include = f"-include {shlex.quote(str(old_guard_header(since19=False, cache=cache)))}"
        for name in ("CFLAGS", "CXXFLAGS"):  # setuptools reads the one or the other, CMake the second
            found[name] = f"{os.environ.get(name, '')} {include}".strip()
    return found


def build_command(copy: Path) -> list[str]:
    """What builds the extensions of a project in place; nothing when it has none."""
    setup = copy / "setup.py"
    text = read_regular_text(setup, "replace") if setup.is_file() else ""
    if not any(word in text for word in ("cpp_extension", "ext_modules")):
        return []
    # --force: setuptools knows of no header. What did not change comes from the cache of objects.
    return [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]


def run_in_copy(
    command: Sequence[str],
    where: Path,
    log: Path,
    variables: Mapping[str, str],
    seconds: float,
    meanwhile: Callable[[], None] = lambda: None,
    *,
    instead: Path | None = None,
) -> tuple[int | None, str]:
    """Runs a command and all that it starts within a time; its status, None when it was stopped, and its output.

    `meanwhile` is called every second, and at the end. `instead` is a folder that the command finds at `where`.
    """
    with open(log, "wb") as output:
        try:
            if shutil.which(command[0], path=variables.get("PATH")) is None:
                raise VerificationFailed(f"{command[0]}: No such file or directory")
            folders = json.dumps([variables["TMPDIR"], str(where), str(log.parent), variables["GUARDFIX_CACHE_DIR"]])
            process = subprocess.Popen(
                [*module_command(_CONTAINED), *(("--instead", str(instead)) if instead else ()), folders, *command],
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
            end = time.monotonic() + seconds
            while status is None and (left := end - time.monotonic()) > 0:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(min(left, 1.0))
                meanwhile()
        finally:
            end_session(process)
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
