"""What a program is built from where no build says it: the project's headers that it includes, and their sources.

`#include "net.h"` finds `include/net.h` if that is the only such file of the project, or the nearest one, and with it
`src/net.cpp`, the source of the same name, and beside that others whose names go on from it, as `net_layers.cpp`.
A source that declares `void train(Net&);` itself finds the one beside it that defines that. Where two are as near,
nothing is guessed, and the compiler says what is missing.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from guardfix.linter.frontends.cpp.cpp_frontend import HEADERS
from guardfix.regular_files import read_regular_text
from guardfix.runtime_shim.cpp.linked_program import SourceUnit

from .project_walk import files_below

_SOURCES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C"})
MOST_PROJECT_FILES = 20_000
"""Files of a project that is looked through; in a larger one nothing is guessed."""

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_FUNCTION = r"^(?!\s|#|//|\*|using\b|typedef\b|return\b|extern\s+\"C\")[\w:<>,&* \t]*?[\w>&*][ \t&*]+(\w+)[ \t]*\("
_REST = r"(?:[^;{}()]|\([^;{}()]*\))*\)[ \t\w]*\s*"
_DECLARED = re.compile(_FUNCTION + _REST + ";", re.MULTILINE)
_DEFINED = re.compile(_FUNCTION + _REST + r"\{", re.MULTILINE)
"""Functions at the top of a file, as they are commonly written."""
_MARKS = ("CMakeLists.txt", "Makefile", "meson.build", "BUILD.bazel", "setup.py", "pyproject.toml")
_ELSEWHERE = re.compile(r"(?:torch|ATen|c10|caffe2|pybind11|sys|bits)/")
"""Headers of PyTorch and the system are never a project's own: a checkout may bring copies of them."""


def project_above(main: Path) -> Path:
    """The outermost folder around a file that has a build's description, up to its git repository; else its own."""
    found = main.parent
    for folder in main.parents:
        if any((folder / mark).is_file() for mark in _MARKS):
            found = folder
        if (folder / ".git").exists():
            return folder
    return found


class Included(NamedTuple):
    """What belongs to a main."""

    folders: tuple[Path, ...] = ()
    """Those in which its headers are looked for, besides each file's own."""
    units: tuple[SourceUnit, ...] = ()
    """Its further sources, which are linked if something of them is used."""
    others: tuple[str, ...] = ()
    """The headers that its files include and the project hasn't, as they are named."""


class ProjectFiles:
    """The headers and sources of a project, by their names."""

    def __init__(self, root: Path, is_main: Callable[[Path], bool]) -> None:
        self._root = root
        self._is_main = is_main

    @cached_property
    def _files(self) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
        headers: dict[str, list[Path]] = defaultdict(list)
        sources: dict[str, list[Path]] = defaultdict(list)
        for path in self._all_files():
            if path.suffix in HEADERS:
                headers[path.name].append(path)
            elif path.suffix in _SOURCES:
                sources[path.stem].append(path)
        return headers, sources

    def _all_files(self) -> list[Path]:
        """Nothing where there are too many."""
        found = list(islice(files_below(self._root), MOST_PROJECT_FILES + 1))
        return found if len(found) <= MOST_PROJECT_FILES else []

    @property
    def _headers(self) -> dict[str, list[Path]]:
        """By their names."""
        return self._files[0]

    @property
    def _sources(self) -> dict[str, list[Path]]:
        """By their names without suffixes."""
        return self._files[1]

    def included_by(self, main: Path, *, with_sources: bool = True) -> Included:
        """What a main includes, and what that includes, as far as it is the project's.

        Without sources, what the headers alone include.
        """
        folders: dict[Path, None] = {}
        units: dict[Path, None] = {}
        others: dict[str, None] = {}
        waiting, seen = [main], {main}
        while waiting:
            file = waiting.pop()
            for name in included_names(file):
                header = self._header(name, file) if _may_be_own(name) else None
                if header is None:
                    others[name] = None
                if header is None or header in seen:
                    continue
                seen.add(header)
                waiting.append(header)
                folder = header.parents[len(Path(name).parts) - 1]
                if ".." not in Path(name).parts and folder != file.parent:
                    folders[folder] = None
                if with_sources:
                    self._take(self._sources_of(header), units, waiting, seen)
            if with_sources and file.suffix in _SOURCES:
                self._take(self._defining(file), units, waiting, seen)
        include = tuple(folders)
        return Included(include, tuple(SourceUnit(path, include, on_demand=True) for path in units), tuple(others))

    def _take(self, sources: Iterable[Path], units: dict[Path, None], waiting: list[Path], seen: set[Path]) -> None:
        for source in sources:
            if source not in seen and not self._is_main(source):
                seen.add(source)
                units[source] = None
                waiting.append(source)

    def _defining(self, file: Path) -> list[Path]:
        """The sources beside a file that define the functions that it only declares."""
        text = _text_of(file)
        wanted = set(_DECLARED.findall(text)).difference(_DEFINED.findall(text))
        if not wanted:
            return []
        beside = sorted(path for paths in self._sources.values() for path in paths if path.parent == file.parent)
        return [path for path in beside if path != file and wanted.intersection(_DEFINED.findall(_text_of(path)))]

    def _sources_of(self, header: Path) -> list[Path]:
        """The source of a header's name, and those beside either whose names begin with it."""
        same = self._nearest(self._sources[header.stem], header)
        beside = {header.parent, same.parent} if same is not None else {header.parent}
        longer = [
            path
            for stem, paths in self._sources.items()
            if stem.startswith(header.stem) and stem != header.stem and "test" not in stem.lower()
            for path in paths
            if path.parent in beside
        ]
        return [*([same] if same is not None else []), *sorted(longer)]

    def _header(self, name: str, includer: Path) -> Path | None:
        """The project's file that a name in `#include` means."""
        beside = Path(os.path.normpath(includer.parent / name))
        if ".." in Path(name).parts:
            return beside if beside in self._headers[beside.name] else None
        same = [path for path in self._headers[beside.name] if path.as_posix().endswith(f"/{name}")]
        return beside if beside in same else self._nearest(same, includer)

    def _nearest(self, candidates: Iterable[Path], place: Path) -> Path | None:
        """The file with the longest common path; None where two are as near, unless they are copies of each other."""
        by_distance: dict[int, list[Path]] = defaultdict(list)
        for path in candidates:
            by_distance[_common_parts(path, place)].append(path)
        near = sorted(by_distance[max(by_distance)]) if by_distance else []
        if len(near) > 1 and len({_text_of(path) for path in near}) > 1:
            return None
        return near[0] if near else None


def _common_parts(path: Path, other: Path) -> int:
    return len(Path(os.path.commonpath([path.parent, other.parent])).parts)


def included_names(file: Path) -> list[str]:
    """What a file includes, as it is named there; nothing where the file can't be read."""
    return [quoted or angled for quoted, angled in _INCLUDED.findall(_text_of(file))]


def _text_of(file: Path) -> str:
    try:
        return read_regular_text(file, "replace")
    except OSError:
        return ""


def _may_be_own(name: str) -> bool:
    return os.path.splitext(name)[1] in HEADERS and not _ELSEWHERE.match(name)
