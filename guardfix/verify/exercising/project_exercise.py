"""The ops of a project, called with made-up inputs before and after migration: `guardfix verify --exercise`."""

from __future__ import annotations

import importlib.machinery
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from guardfix.regular_files import read_regular, read_regular_text
from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.extension.cmake_package import version_for, write_torch_distribution
from guardfix.runtime_shim.recording.served_libraries import Serving, SourceGroup

from ..judging.guard_outcomes import GuardOutcome, ProgramReach, guard_outcomes
from ..judging.guard_sites import GuardSite, linkless_path
from ..judging.verdicts import Verdict, VerificationFailed
from ..judging.wanted_repairs import WantedRepair
from ..programs.program_discovery import CPP_SUFFIXES, has_main
from ..programs.program_migration import Migration
from ..programs.project_walk import files_below
from ..projects.project_tests import build_command, project_environment, run_in_copy
from ..runs.program_runs import Limits
from ..runs.scratch import scratch_folder
from ..runs.tree_copies import SIBLINGS, TREE, TreeCopy
from .library_server import LibraryServer
from .op_exercises import ExercisedOp, exercise_op
from .op_signatures import CallableOp, NotUnderstood, callable_op

_REGISTERS = re.compile(r"\bTORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\b|\bRegisterOperators\b|\bPYBIND11_MODULE\b")
_MODULE = re.compile(r"\bPYBIND11_MODULE\s*\(\s*(\w+)")


@dataclass(frozen=True)
class ExerciseSettings:
    """How libraries are built, and how much is tried."""

    examples: int = 100
    """Programs for each op, besides those that look for inputs."""
    build: str | None = None
    """What builds the project; by default `setup.py build_ext --inplace` when its setup.py builds extensions."""
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    legacy_since19: bool = False
    seconds: float = 600.0
    """Time limit of building."""


@dataclass(frozen=True)
class ExercisedProject:
    """What exercising a project's ops found out."""

    ops: tuple[ExercisedOp, ...]
    sites: tuple[GuardSite, ...]
    preamble: str
    """The lines by which a program gets at the ops."""
    failures: tuple[tuple[str, str], ...] = ()
    """What could not be built or loaded, each with the reason."""
    files: frozenset[str] = frozenset()
    """The real paths of the files that went into the libraries."""

    @property
    def reaches(self) -> list[ProgramReach]:
        return [op.reach(self.sites, self.files) for op in self.ops]

    @property
    def outcomes(self) -> list[GuardOutcome]:
        """What is known about each guard that the migration changes."""
        return guard_outcomes(self.sites, self.reaches)

    def program_of(self, op: ExercisedOp) -> str:
        """The shortest program that shows how the op differs; empty if it does not."""
        return "" if op.worst is None else f"import torch\n{self.preamble}\n{op.worst.text}"


def exercise_project(
    paths: Sequence[str], migration: Migration, settings: ExerciseSettings, *, wanted: frozenset[int] | None = None
) -> ExercisedProject:
    """Builds the libraries of a folder, or of files in one, before and after; calls each op of theirs in both.

    `wanted` are the numbers of the guards that matter; all by default. Raises VerificationFailed when nothing could be
    built or loaded, OSError when a copy can't be made.
    """
    given = [linkless_path(path) for path in paths]
    root = given[0] if given[0].is_dir() else Path(os.path.commonpath([path.parent for path in given]))
    named = [path for path in given if path.is_file()]
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder(cache_folder().with_name("verify"), f"exercise {root}"))
        project = _ServedProject(root, named, migration, settings, scratch)
        servers = [project.start(index, stack, counted=True) for index in (0, 1)]
        counted = bool(migration.sites)
        if any(_fails_by_a_counter(server) for server in servers):
            counted = False
            servers = [project.start(index, stack, counted=False) for index in (0, 1)]
        described: list[Mapping[str, Any]] = servers[0].loaded["ops"]
        failures = [(failure["what"], _reason(failure)) for server in servers for failure in server.loaded["failures"]]
        if not described:
            said = f": {failures[0][0]}: {failures[0][1]}" if failures else ""
            raise VerificationFailed(f"there is no op to exercise in {root}{said}")
        numbers = frozenset(site.number for site in migration.sites if site.changed)
        numbers = numbers if wanted is None else numbers & wanted
        counts = numbers if counted else None
        ops = tuple(_exercised(one, servers, counts, settings, migration.wanted) for one in described)
        sites = tuple(site if counted else replace(site, counted=(False, False)) for site in migration.sites)
        return ExercisedProject(ops, sites, project.preamble, tuple(dict.fromkeys(failures)), frozenset(project.files))


def _exercised(
    described: Mapping[str, Any],
    servers: Sequence[LibraryServer],
    numbers: frozenset[int] | None,
    settings: ExerciseSettings,
    wanted: tuple[WantedRepair, ...],
) -> ExercisedOp:
    try:
        op: CallableOp = callable_op(described)
    except NotUnderstood as error:
        shown = described.get("signature") or described["name"]
        reason = f"no inputs can be generated: {error}"
        return ExercisedOp(described["name"], shown.splitlines()[0], Verdict.NOT_REACHED, reason)
    return exercise_op(op, servers, numbers, settings.examples, wanted)


def _reason(failure: Mapping[str, Any]) -> str:
    if failure["missing"]:
        return f"the shim's C++ headers lack {failure['missing']}"
    lines = [line.strip() for line in failure["message"].splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else "no reason given")


def _fails_by_a_counter(server: LibraryServer) -> bool:
    return any("guardfix::" in failure["message"] for failure in server.loaded["failures"])


class _ServedProject:
    """A copy of a project, built and loaded first as it is and then migrated, in the same place."""

    def __init__(
        self, root: Path, named: Sequence[Path], migration: Migration, settings: ExerciseSettings, scratch: Path
    ) -> None:
        self.root, self.migration, self.settings, self.scratch = root, migration, settings, scratch
        self.copy = scratch / root.name
        self.tree = TreeCopy(root, self.copy, SIBLINGS if named else TREE)
        self.tree.restore({}, named[0] if named else None)
        self.named = [self.copy / path.relative_to(root) for path in named]
        command = shlex.split(settings.build) if settings.build is not None else build_command(self.copy)
        self.command = [] if named else command
        self.preamble = ""
        self.files: set[str] = set()
        self._started = 0

    def start(self, index: int, stack: ExitStack, *, counted: bool) -> LibraryServer:
        """Builds the copy before (0) or after (1) the migration, and loads it. The server ends with the stack."""
        migration = self.migration
        texts = {path: read_regular(path) for path in migration.counted}
        texts |= dict(migration.texts) if index else {}
        if counted:
            texts |= {path: both[index] for path, both in migration.counted.items()}
        self.tree.write(texts)
        self._started += 1
        folder = self.scratch / f"serving {self._started}"
        folder.mkdir()
        variables = project_environment(
            self.copy, write_torch_distribution(folder / "torch", version_for(self.copy)), folder
        )
        serving = self._built(folder, variables) if self.command else self._from_sources()
        serving = replace(
            serving,
            modules=(*serving.modules, *self._modules_with_guards()),
            search=(str(self.copy), *([str(self.copy / "src")] if (self.copy / "src").is_dir() else [])),
            writable=(str(self.copy), str(folder), variables["GUARDFIX_CACHE_DIR"]),
            temporary=variables["TMPDIR"],
            memory=self.settings.limits.memory,
            legacy_since19=self.settings.legacy_since19,
        )
        if not (serving.groups or serving.modules or serving.libraries):
            raise VerificationFailed(f"there is no op to exercise in {self.root}: no TORCH_LIBRARY, no bound function")
        self._describe(serving)
        server = LibraryServer(serving, folder / "server", self.copy, variables, migration.highest_site)
        stack.callback(server.stop)
        server.wait_until_loaded()
        return server

    def _built(self, folder: Path, variables: Mapping[str, str]) -> Serving:
        """What the project's own build makes."""
        for old in _libraries_below(self.copy):
            old.unlink()  # the server that has loaded it keeps it
        status, output = run_in_copy(self.command, self.copy, folder / "log", variables, self.settings.seconds)
        if status != 0:
            raise VerificationFailed(f"building failed: {output.strip()[-2000:]}")
        modules, libraries = [], []
        for path in sorted(_libraries_below(self.copy)):
            if b"PyInit_" in read_regular(path):
                modules.append(_module_name(path, self.copy))
            else:
                libraries.append(str(path))
        self.files = {str(self.root / path.relative_to(self.copy)) for path in self._cpp_files()}
        return Serving(modules=tuple(modules), libraries=tuple(libraries))

    def _from_sources(self) -> Serving:
        """The C++ files themselves: one library for each that registers something, with those that register nothing."""
        texts = {path: read_regular_text(path, "replace") for path in self._cpp_files()}
        used = {path: text for path, text in texts.items() if not has_main(text)}
        bound = [path for path, text in used.items() if _MODULE.search(text)]
        ops = [path for path, text in used.items() if _REGISTERS.search(text) and path not in bound]
        common = [path for path in used if path not in bound and path not in ops]
        self.files = {str(self.root / path.relative_to(self.copy)) for path in used}
        groups = []
        include = tuple(dict.fromkeys([str(self.copy), *self.settings.include]))
        flags = tuple(f"-D{define}" for define in self.settings.define)
        for path in bound:
            found = _MODULE.search(used[path])
            assert found is not None
            name = path.stem if found[1] == "TORCH_EXTENSION_NAME" else found[1]
            sources = [path, *common, *(ops if len(bound) == 1 else [])]
            groups.append(SourceGroup(_identifier(name), tuple(map(str, sources)), include, flags, is_module=True))
        if len(bound) != 1 and ops:
            sources = [*ops, *common]
            groups.append(SourceGroup(_identifier(ops[0].stem), tuple(map(str, sources)), include, flags))
        return Serving(groups=tuple(groups))

    def _cpp_files(self) -> list[Path]:
        if self.named:
            return [path for path in self.named if path.suffix in CPP_SUFFIXES]
        return sorted(files_below(self.copy, CPP_SUFFIXES, without=["build"]))

    def _modules_with_guards(self) -> Iterator[str]:
        """The Python modules that are migrated, or that guards are in; no tests."""
        sites = {linkless_path(site.place.path) for site in self.migration.sites}
        for path in sorted(sites | set(self.migration.texts)):
            is_test = path.name.startswith(("test_", "conftest"))
            if path.suffix != ".py" or is_test or not path.is_relative_to(self.root):
                continue
            copy = self.copy / path.relative_to(self.root)
            if copy.is_file() and path.name != "setup.py":
                self.files.add(str(path))
                base = self.copy / "src" if copy.is_relative_to(self.copy / "src") else self.copy
                yield _module_name(copy, base)

    def _describe(self, serving: Serving) -> None:
        """What a program that is saved begins with: it runs from the project's folder."""
        lines = []
        if serving.groups:
            lines.append("from torch.utils.cpp_extension import load")
        for group in serving.groups:
            sources = ", ".join(repr(os.path.relpath(source, self.copy)) for source in group.sources)
            library = "" if group.is_module else ", is_python_module=False"
            lines.append(f'{group.name} = load("{group.name}", [{sources}], extra_include_paths=["."]{library})')
        lines += [f"import {name}" for name in serving.modules]
        lines += [f'torch.ops.load_library("{os.path.relpath(path, self.copy)}")' for path in serving.libraries]
        self.preamble = "\n".join(dict.fromkeys(lines))


def _libraries_below(folder: Path) -> Iterator[Path]:
    return (path for path in files_below(folder, {".so"}, without=["build"]) if not path.is_symlink())


def _module_name(path: Path, base: Path) -> str:
    """The dotted name by which a file is imported from `base`."""
    suffixes = [*importlib.machinery.EXTENSION_SUFFIXES, ".py"]
    name = path.name
    for suffix in suffixes:
        name = name.removesuffix(suffix)
    parts = [*path.relative_to(base).parts[:-1], *([name] if name != "__init__" else [])]
    return ".".join(parts)


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
