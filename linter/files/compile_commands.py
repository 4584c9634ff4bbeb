"""What a build says of its files: `compile_commands.json`, as CMake, Meson, Bazel and Bear write it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from .workspace import Workspace

NAME = "compile_commands.json"
_FOLDERS = ("", "build", "out", "out/build", "cmake-build-debug", "cmake-build-release")
"""Where builds leave it, below the project's root; the first one that is there counts."""


class CompileCommand(Struct, frozen=True):
    """One command of a build: what it compiles, and what of its options says what the source means."""

    defined: Mapping[str, str] = field(default_factory=dict)
    """`-DNAME=value`; "1" where no value is given."""
    undefined: frozenset[str] = frozenset()
    """`-UNAME`."""
    include: tuple[str, ...] = ()
    """Folders of headers, absolute."""
    source: str = ""
    """The file that is compiled, absolute."""
    standard: str = ""
    """What `-std=` says; empty where it isn't given."""
    output: str = ""
    """The object file, as the build writes it."""


class CompileCommands(Struct, frozen=True):
    """A build's commands, by the workspace's keys of their sources. A file can be compiled several times."""

    by_file: Mapping[str, tuple[CompileCommand, ...]] = field(default_factory=dict)

    def all(self) -> Iterable[CompileCommand]:
        return (command for commands in self.by_file.values() for command in commands)


def find_compile_commands(root: str, workspace: Workspace) -> CompileCommands:
    """The commands of the build of the project at `root`; none where there is no database that can be read."""
    for folder in _FOLDERS:
        path = os.path.join(root, folder, NAME)
        if workspace.buffer(path) is not None or (workspace.has_disk and os.path.isfile(path)):
            return read_compile_commands(path, workspace)
    return CompileCommands()


def read_compile_commands(path: str, workspace: Workspace) -> CompileCommands:
    """The commands of a compilation database; none of an entry, or a file, that is none."""
    import json

    source = workspace.read_or_none(path)
    try:
        entries = json.loads(source.text) if source is not None else []
    except (ValueError, RecursionError):
        entries = []
    found: dict[str, list[CompileCommand]] = defaultdict(list)
    for entry in entries if isinstance(entries, list) else ():
        try:
            command = compile_command(entry, os.path.dirname(path))
        except ValueError:
            continue
        found[workspace.key(command.source)].append(command)
    return CompileCommands({key: tuple(commands) for key, commands in found.items()})


def compile_command(entry: Any, beside: str) -> CompileCommand:
    """What an entry of the compilation database in the folder `beside` says. Raises `ValueError` where it is none."""
    import shlex

    try:
        folder = os.path.join(beside, entry["directory"])
        words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
        return replace(
            command_options(list(map(str, words[1:])), folder),
            source=os.path.join(folder, entry["file"]),
            output=str(entry["output"]) if entry.get("output") else _after("-o", words),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a compile command: {error!r}") from None


def _after(option: str, words: Sequence[str]) -> str:
    return next((after for word, after in pairwise(words) if word == option), "")


def command_options(words: Sequence[str], folder: str) -> CompileCommand:
    """The options of a compiler that works in `folder`, without its name."""
    standard = ""
    defined: dict[str, str] = {}
    undefined: set[str] = set()
    include: list[str] = []
    rest = iter(words)
    for word in rest:
        option = next((one for one in _OPTIONS if word.startswith(one)), "")
        if not option:
            if word.startswith(("-std=", "/std:")):
                standard = word[len("-std=") :]
            continue
        value = word.removeprefix(option) or next(rest, "")
        kind = _OPTIONS[option]
        if kind == "define":
            name, equals, given = value.partition("=")
            defined[name] = given if equals else "1"
            undefined.discard(name)
        elif kind == "undefine":
            undefined.add(value)
            defined.pop(value, None)
        else:
            include.append(os.path.normpath(os.path.join(folder, value)))
    return CompileCommand(defined, frozenset(undefined), tuple(include), standard=standard)


_OPTIONS: dict[str, str] = {
    "-D": "define",
    "/D": "define",
    "-U": "undefine",
    "/U": "undefine",
    "-isystem": "include",
    "-iquote": "include",
    "-I": "include",
    "/I": "include",
}
