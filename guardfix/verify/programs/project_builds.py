"""What a program is built from: its sources, include folders, defines and libraries, as the project says it.

A project says it in the answers of CMake's file API, in `compile_commands.json`, or the user does with `--source`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from guardfix.linter.files.compile_commands import CompileCommand, command_options, compile_command
from guardfix.regular_files import read_regular
from guardfix.runtime_shim.cpp.linked_program import SourceUnit

from .included_sources import included_names
from .pkg_config import third_parties

_OF_PYTORCH = re.compile(r"(?:lib)?(?:torch|c10|caffe2|kineto|torch_\w+)(?:\.so[\d.]*|\.a)?$")


class BadBuild(Exception):
    """A build directory that says nothing, or can't be read."""


@dataclass(frozen=True)
class Build:
    """How the program of one main is built."""

    include: tuple[Path, ...] = ()
    define: tuple[str, ...] = ()
    standard: str = ""
    link: tuple[str, ...] = ()
    units: tuple[SourceUnit, ...] = ()
    """Its further sources."""

    def with_sources(self, sources: Iterable[Path]) -> Build:
        """The build with common sources that it does not have yet; they are linked if something of them is used."""
        known = {unit.path for unit in self.units}
        more = tuple(
            SourceUnit(path, self.include, self.define, on_demand=True) for path in sources if path not in known
        )
        return replace(self, units=(*self.units, *more))


@dataclass(frozen=True)
class Builds:
    """The builds of a project's files, by their real paths."""

    by_main: Mapping[Path, Build] = field(default_factory=dict)

    def of(self, source: Path) -> Build | None:
        return self.by_main.get(source.resolve())

    def by_file(self) -> dict[Path, Build]:
        """How each file is compiled, whatever it becomes a part of, by its real path."""
        units = (unit for build in self.by_main.values() for unit in build.units)
        found = {unit.path: Build(unit.include, unit.define, unit.standard) for unit in units}
        return found | dict(self.by_main)


def read_builds(folders: Sequence[Path], is_main: Any) -> Builds:
    """The builds that folders describe: a build directory, or one in which it is looked for.

    `is_main(path)` says whether a source is a program's main file. The first folder that describes a main decides.
    Raises `BadBuild`.
    """
    found: dict[Path, Build] = {}
    for folder in folders:
        described = _from_cmake(folder, is_main) or _from_commands(folder / "compile_commands.json", is_main)
        for main, build in described.items():
            found.setdefault(main, build)
    return Builds(found)


def build_folders(paths: Iterable[Path]) -> list[Path]:
    """Folders at paths that describe a build: the paths' own, and their `build` folders."""
    candidates = [place for path in paths for place in (path, path / "build")]
    return [place for place in dict.fromkeys(candidates) if describes_build(place)]


def describes_build(folder: Path) -> bool:
    return (folder / "compile_commands.json").is_file() or (folder / ".cmake/api/v1/reply").is_dir()


# ---- compile_commands.json


def _from_commands(path: Path, is_main: Any) -> dict[Path, Build]:
    """Each main with all other files: those of its own target, and the others' as far as it uses them."""
    if not path.is_file():
        return {}
    try:
        entries = json.loads(read_regular(path))
        commands = [compile_command(entry, str(path.parent)) for entry in entries]
    except (ValueError, TypeError) as error:
        raise BadBuild(f"{path}: not a compilation database: {error}") from None
    units = {Path(one.source).resolve(): (_unit(one, Path(one.source)), _target(one)) for one in commands}
    mains = {source for source in units if source.is_file() and is_main(source)}
    builds = {}
    for main in mains:
        own, target = units[main]
        others = tuple(
            replace(unit, on_demand=not (target and its == target))
            for source, (unit, its) in units.items()
            if source not in mains and source.is_file()
        )
        builds[main] = Build(own.include, own.define, own.standard, third_parties(included_names(main))[1], others)
    return builds


def _unit(command: CompileCommand, source: Path) -> SourceUnit:
    """A source as this command compiles it."""
    define = tuple(name if value == "1" else f"{name}={value}" for name, value in command.defined.items())
    include = tuple(Path(folder).resolve() for folder in command.include)
    return SourceUnit(source.resolve(), include, define, _at_least_17(command.standard.replace("gnu++", "c++")))


def _target(command: CompileCommand) -> str:
    """CMake's target that an object belongs to; empty where the path doesn't say."""
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", command.output)
    return found[1] if found else ""


def _at_least_17(standard: str) -> str:
    """PyTorch's headers, and ours, need C++17, whatever the project was written for."""
    found = re.fullmatch(r"c\+\+(\w+)", standard)
    return "" if found is None or found[1] in ("98", "03", "11", "14", "0x", "1y", "1z") else standard


# ---- CMake's file API


def _from_cmake(folder: Path, is_main: Any) -> dict[Path, Build]:
    reply = folder / ".cmake" / "api" / "v1" / "reply"
    indexes = sorted(reply.glob("index-*.json"))
    if not indexes:
        return {}
    try:
        return _executables(reply, json.loads(read_regular(indexes[-1])), is_main)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise BadBuild(f"{reply}: not an answer of CMake's file API: {error!r}") from None


def _executables(reply: Path, index: Mapping[str, Any], is_main: Any) -> dict[Path, Build]:
    model_file = next(one["jsonFile"] for one in index["objects"] if one["kind"] == "codemodel")
    model = json.loads(read_regular(reply / model_file))
    source, build = Path(model["paths"]["source"]), Path(model["paths"]["build"])
    targets = {one["id"]: json.loads(read_regular(reply / one["jsonFile"]))
               for one in model["configurations"][0]["targets"]}  # fmt: skip
    found: dict[Path, Build] = {}
    for target in targets.values():
        if target["type"] != "EXECUTABLE":
            continue
        own = _target_units(target, source)
        needed = [targets[one["id"]] for one in target.get("dependencies", ()) if one["id"] in targets]
        libraries = [
            replace(unit, on_demand=library["type"] == "STATIC_LIBRARY")
            for library in needed
            if library["type"].endswith("_LIBRARY")
            for unit in _target_units(library, source)
        ]
        for unit in own:
            if unit.path.is_file() and is_main(unit.path):
                units = (*(one for one in own if one is not unit), *libraries)
                link = _link_fragments(target, targets.values(), build)
                found[unit.path] = Build(unit.include, unit.define, unit.standard, link, units)
    return found


def _target_units(target: Mapping[str, Any], source: Path) -> list[SourceUnit]:
    groups = target.get("compileGroups", ())
    found = []
    for one in target.get("sources", ()):
        if "compileGroupIndex" not in one:
            continue  # a header, a script
        group = groups[one["compileGroupIndex"]]
        if group.get("language") != "CXX":
            continue
        words = [word for part in group.get("compileCommandFragments", ()) for word in shlex.split(part["fragment"])]
        given = _unit(command_options(words, str(source)), source / one["path"])
        include = (*(Path(part["path"]) for part in group.get("includes", ())), *given.include)
        define = (*(part["define"] for part in group.get("defines", ())), *given.define)
        number = group.get("languageStandard", {}).get("standard", "")
        standard = given.standard or (_at_least_17(f"c++{number}") if number else "")
        found.append(SourceUnit(given.path, include, define, standard))
    return found


def _link_fragments(target: Mapping[str, Any], targets: Iterable[Mapping[str, Any]], build: Path) -> tuple[str, ...]:
    """The libraries that are not the project's own and not PyTorch's."""
    built = {Path(one["path"]).name for other in targets for one in other.get("artifacts", ())}
    found = []
    for part in target.get("link", {}).get("commandFragments", ()):
        if part.get("role") != "libraries":
            continue
        for word in shlex.split(part["fragment"]):
            name = word.removeprefix("-l")
            if word.startswith("-l"):
                if not _OF_PYTORCH.match(name):
                    found.append(name)
            elif not word.startswith("-") and Path(word).name not in built and not _OF_PYTORCH.match(Path(word).name):
                path = build / word
                if path.is_file():
                    found.append(str(path.resolve()))
    return tuple(found)
