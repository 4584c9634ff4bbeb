"""The files that an error is about: those of its frames, and what these import or include."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from guardfix.linter.engine import Options, found_files
from guardfix.linter.facts import Facts
from guardfix.linter.files.project_root import project_root
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.frontends.frontend import frontend_of

from .tracebacks import StackFrame

_MOST_FILES = 80
"""Files that are read for one error; the nearest to its frames come first."""
_MOST_LISTED = 20_000
_MOST_NAMES = 100_000
"""Names of files and folders that are looked at for one error: half a second."""
_MOST_LOOKED_AT = 50_000_000
"""Bytes that are searched for guards."""
_MOST_KEPT = 500_000
"""Bytes of files that no frame leads to, and that are read for their guards."""


class ErrorSources(NamedTuple):
    """What there is to read."""

    frames: tuple[StackFrame, ...]
    """With the paths under which the files are found; those whose files aren't there are left out."""
    files: tuple[str, ...]
    """Those of the frames, and what they import: read whole."""
    others: tuple[str, ...]
    """Further files with guards, of which only what guards reach is read."""
    listed: int
    """How many files were looked through."""


def find_sources(
    frames: Sequence[StackFrame], given: Sequence[str], workspace: Workspace, *, cpp: bool
) -> ErrorSources:
    """The files for an error; `given` are folders and files to look in, else the project of the frames is.

    Raises `NoSuchPath`.
    """
    listed = found_files(list(given) or _trees(frames), Options(), _MOST_NAMES)[:_MOST_LISTED]
    by_name: dict[str, list[str]] = {}
    for path in listed:
        by_name.setdefault(os.path.basename(path), []).append(path)
    found = [frame._replace(path=where) for frame in frames if (where := _resolved(frame, by_name)) is not None]
    if not found and cpp:
        found = list(_by_function(frames, listed, workspace))
    seeds = list(dict.fromkeys(frame.path for frame in found))
    if not seeds and len(sources := [path for path in listed if _language(path) in ("cpp", "python")]) <= _MOST_FILES:
        seeds = sources  # a message alone, in a small project
    files = list(islice(_with_imports(seeds, by_name, workspace), _MOST_FILES))
    others = _others([path for path in listed if path not in set(files)], workspace)
    return ErrorSources(tuple(found), tuple(files), tuple(others), len(listed))


def _others(listed: Sequence[str], workspace: Workspace) -> Iterator[str]:
    """The first files that name a guard, as many as are read while a person waits."""
    looked = kept = count = 0
    for path in listed:
        text = _text(path, workspace)
        looked += len(text)
        if _GUARDS.search(text) is not None and len(text) + kept <= _MOST_KEPT:
            kept += len(text)
            count += 1
            yield path
        if looked > _MOST_LOOKED_AT or count == _MOST_FILES:
            return


def _trees(frames: Sequence[StackFrame]) -> list[str]:
    """The projects of the frames' files, and the files that belong to none; the working folder if there is none.

    A frame may name any file of the disk, so it leads to no folder that isn't marked as a project.
    """
    found: list[str] = []
    here = os.getcwd()
    for frame in frames:
        if not os.path.isfile(frame.path):
            continue
        folder = os.path.dirname(os.path.abspath(frame.path))
        root = project_root(folder) or (os.curdir if _is_below(folder, here) else frame.path)
        root = os.path.relpath(root) if _is_below(root, here) else root
        if root not in found:
            found.append(root)
    return found or [os.curdir]


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([os.path.abspath(path), folder]) == folder


def _resolved(frame: StackFrame, by_name: dict[str, list[str]]) -> str | None:
    """Where a frame's file is: as it is named, or the listed file that ends with most of its path."""
    if not frame.path:
        return None
    if os.path.isfile(frame.path):
        shown = os.path.relpath(frame.path) if _is_below(frame.path, os.getcwd()) else frame.path
        listed = by_name.get(os.path.basename(frame.path), [])
        same = [path for path in listed if os.path.realpath(path) == os.path.realpath(frame.path)]
        return same[0] if same else shown
    parts = _parts(frame.path)
    return max(by_name.get(parts[-1], []), key=lambda path: _shared_tail(_parts(path), parts), default=None)


def _parts(path: str) -> list[str]:
    return re.split(r"[/\\]", path)


def _shared_tail(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


def _by_function(frames: Sequence[StackFrame], listed: Iterable[str], workspace: Workspace) -> Iterator[StackFrame]:
    """Where functions are defined of which a C++ backtrace has the names alone."""
    texts = {path: _text(path, workspace) for path in listed if _language(path) == "cpp"}
    for frame in frames:
        name = frame.function.rpartition("::")[2]
        if not name.isidentifier() or name == "main":
            continue
        defined = re.compile(rf"\b{name}\s*\([^;{{}}]{{0,400}}\{{".encode())
        for path, text in texts.items():
            match = defined.search(text)
            if match is not None:
                yield StackFrame(path, text.count(b"\n", 0, match.start()) + 1, frame.function)
                break


def _with_imports(seeds: Sequence[str], by_name: dict[str, list[str]], workspace: Workspace) -> Iterator[str]:
    """The files, and those of the same project that they import or include, the nearest first."""
    waiting, seen = list(seeds), set(seeds)
    while waiting:
        path = waiting.pop(0)
        yield path
        for wanted in _imported(path, workspace):
            best = max(
                by_name.get(wanted[-1], []), key=lambda one: (_shared_tail(_parts(one), wanted), one), default=None
            )
            if best is not None and best not in seen and _shared_tail(_parts(best), wanted) == len(wanted):
                seen.add(best)
                waiting.append(best)


_PYTHON_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([^\n#]+)|import[ \t]+([.\w, \t]+))", re.M)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)


def _imported(path: str, workspace: Workspace) -> Iterator[list[str]]:
    """The ends of the paths of what a file imports."""
    text = _text(path, workspace)
    if _language(path) == "cpp":
        for match in _INCLUDE.finditer(text):
            name = match[1].decode("utf-8", "replace")
            yield [part for part in _parts(name) if part not in (".", "..")]
            stem, _ = os.path.splitext(os.path.basename(name))
            for suffix in (".cpp", ".cc", ".cu", ".cxx"):
                yield [stem + suffix]
        return
    for match in _PYTHON_IMPORT.finditer(text):
        modules = [match[1].decode().lstrip(".")] if match[1] is not None else re.split(r"[ ,]+", match[3].decode())
        for module in filter(None, modules):
            parts = module.split(".")
            yield [*parts[:-1], parts[-1] + ".py"]
            yield [*parts, "__init__.py"]
        if match[1] is not None:
            base = [part for part in match[1].decode().lstrip(".").split(".") if part]
            for name in re.findall(r"\w+", match[2].decode("utf-8", "replace")):
                yield [*base, name + ".py"]


_GUARDS = re.compile(
    rb"inference_mode|InferenceMode|no_grad|NoGradGuard|set_grad_enabled|AutoGradMode|AutoNonVariableTypeMode|"
    rb"AutoDispatchBelow"
)


def _language(path: str) -> str:
    frontend = frontend_of(path)
    return frontend.name if frontend is not None else ""


def _text(path: str, workspace: Workspace) -> bytes:
    source = workspace.read_or_none(path)
    return source.text if source is not None else b""


def read_for_guards(path: str, workspace: Workspace) -> Facts | None:
    """The facts of a file with the bodies that guards reach."""
    frontend, source = frontend_of(path), workspace.read_or_none(path)
    if frontend is None or source is None or frontend.name not in ("python", "cpp"):
        return None
    return frontend.extract(source, frozenset(), None)


def read_whole(path: str, workspace: Workspace) -> Facts | None:
    """The facts of a file with the bodies of all its functions."""
    frontend, source = frontend_of(path), workspace.read_or_none(path)
    if frontend is None or source is None or frontend.name not in ("python", "cpp"):
        return None
    if frontend.extract_named is None:
        return frontend.extract(source, frozenset(), None)
    defined = _CPP_NAMES if frontend.name == "cpp" else _PYTHON_NAMES
    names = {match[1].decode("utf-8", "replace") for match in defined.finditer(source.text)}
    # A script has no function, and its module is read for what it does with torch.
    return frontend.extract_named(source, frozenset(), None, frozenset(names | {"torch"}))


_PYTHON_NAMES = re.compile(rb"\b(?:def|class)[ \t]+(\w+)")
_CPP_NAMES = re.compile(rb"\b(?:class[ \t]+|struct[ \t]+)?([A-Za-z_]\w*)[ \t\n]*[({:]")
