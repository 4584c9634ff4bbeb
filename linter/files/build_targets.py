"""What is built together: the targets that CMake, setuptools, Bazel and Buck describe, and which link which.

A description is read as far as lists of sources go: variables, globs, joined paths. What depends on conditions counts
in all branches. Of files that no description names, nothing is known.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple
from .workspace import Workspace

_CMAKE = "CMakeLists.txt"
_STARLARK = ("BUILD.bazel", "BUILD", "BUCK", "TARGETS")
_SETUP = "setup.py"
_ROOTS = (_SETUP, "pyproject.toml", "WORKSPACE", "MODULE.bazel", ".buckconfig", "Package.swift")
"""What is in the folder of a whole library; of CMake's files, those with `project(…)`."""
_COMMAND = lazy_regex(r"(?<!\w)(?P<name>[A-Za-z_]\w*)[ \t]*\((?P<given>[^()]*(?:\([^()]*\)[^()]*)*)\)")
_ARGUMENT = lazy_regex(r'"[^"]*"|[^\s;"]+')
_VARIABLE = lazy_regex(r"\$\{(\w+)\}")
_COMMENT = lazy_regex(r"#[^\n]*")
_PROJECT = lazy_regex(r"(?im)^[ \t]*project[ \t]*\(")
_SOURCE = re.compile(r"\.(?:c|cc|cpp|cxx|c\+\+|cu|h|hh|hpp|hxx|cuh|mm|m|inl|ipp|cppm|ixx)\Z")
_NO_TARGET = frozenset({"set", "list", "file", "install", "configure_file", "aux_source_directory", "source_group"})
_MOST = 500
"""Paths that one expression can stand for."""


class Target(NamedTuple):
    """One library, extension or program."""

    name: str
    sources: tuple[str, ...] = ()
    """Absolute paths, perhaps with `*` and `**`."""
    links: tuple[str, ...] = ()
    """The names of other targets."""
    is_whole: bool = True
    """Whether all of its links are known."""


class BuildTargets:
    """The targets of the project below a folder, read where somebody asks."""

    def __init__(self, root: str, workspace: Workspace, sources: Callable[[], Iterable[str]] = tuple) -> None:
        """`sources` are the absolute paths of all of the project's."""
        self._root = root
        self._workspace = workspace
        self._all_sources = sources
        self._in_folder: dict[str, tuple[list[Target], dict[str, list[str]]]] = {}
        self._libraries: dict[str, bool] = {}
        self._around: dict[str, list[Target]] = {}
        self._of: dict[str, frozenset[str]] = {}
        self._answers: dict[tuple[str, ...], bool | None] = {}

    def of(self, path: str) -> frozenset[str]:
        """The names of the targets that a file (an absolute path) is a source of."""
        if path not in self._of:
            targets = self._described_around(os.path.dirname(path))
            self._of[path] = frozenset(one.name for one in targets if any(_fits(path, each) for each in one.sources))
        return self._of[path]

    def are_one_program(self, one: str, other: str) -> bool | None:
        """Whether two files belong to one target, or to targets that are linked; None where that is not known."""
        first, second = self.of(one), self.of(other)
        if not first or not second:
            return None
        if first & second:
            return True
        folders = os.path.dirname(one), os.path.dirname(other)
        key = *folders, *sorted(first), "", *sorted(second)
        if key not in self._answers:
            answer = self._are_one_program(first, second, folders)
            self._answers[key] = answer if answer is not False else self._are_linked_elsewhere(first, second, folders)
        return self._answers[key]

    def _are_one_program(self, first: frozenset[str], second: frozenset[str], folders: tuple[str, str]) -> bool | None:
        named = _by_name(target for folder in folders for target in self._described_around(folder))
        whole = True
        for name in list(named):
            program = _program(name, named)
            if program & first and program & second:
                return True
            if program & (first | second):
                whole = whole and all(target.is_whole for each in program for target in named.get(each, ()))
        return False if whole else None

    def _are_linked_elsewhere(self, first: frozenset[str], second: frozenset[str], folders: tuple[str, str]) -> bool:
        """Whether a target that another folder of the same library describes links both."""
        return any(
            program & first and program & second
            for library, programs in self._programs.items()
            if all(_is_below(folder, library) for folder in folders)
            for program in programs
        )

    @cached_property
    def _programs(self) -> dict[str, list[set[str]]]:
        """By the folder in which a library begins, each of its targets with all that it links."""
        described: dict[str, list[Target]] = defaultdict(list)
        folders = dict.fromkeys(map(os.path.dirname, self._all_sources()))
        for folder in dict.fromkeys(each for start in folders for each in self._folders(start)):
            described[self._library_around(folder)] += self._read(folder)[0]
        found = {}
        for library, targets in described.items():
            named = _by_name(targets)
            found[library or self._root] = [one for one in (_program(name, named) for name in named) if len(one) > 1]
        return found

    def library(self, path: str) -> str:
        """The nearest folder around a file in which a library of its own begins; empty where there is none."""
        return self._library_around(os.path.dirname(path))

    def _library_around(self, folder: str) -> str:
        return next(filter(self._begins_library, self._folders(folder)), "")

    def _described_around(self, folder: str) -> list[Target]:
        """The targets that the folder and those above it describe."""
        if folder not in self._around:
            folders = reversed(list(self._folders(folder)))
            self._around[folder] = [target for each in folders for target in self._read(each)[0]]
        return self._around[folder]

    def _folders(self, folder: str) -> Iterator[str]:
        """The folder and those above it, up to the project's."""
        while _is_below(folder, self._root):
            yield folder
            above = os.path.dirname(folder)
            if folder in (self._root, above):
                return
            folder = above

    def _begins_library(self, folder: str) -> bool:
        if folder not in self._libraries:
            text = self._text(folder, _CMAKE)
            names = (os.path.join(folder, name) for name in _ROOTS)
            self._libraries[folder] = bool(_PROJECT.search(text)) or any(map(self._workspace.is_file, names))
        return self._libraries[folder]

    def _text(self, folder: str, name: str) -> str:
        path = os.path.join(folder, name)
        source = self._workspace.read_or_none(path) if self._workspace.is_file(path) else None
        return source.text.decode("utf-8", "replace") if source is not None else ""

    def _read(self, folder: str) -> tuple[list[Target], dict[str, list[str]]]:
        """The targets that the folder describes, and what CMake's variables hold there."""
        if folder not in self._in_folder:
            above = os.path.dirname(folder)
            known = self._read(above)[1] if folder != self._root and above.startswith(self._root) else {}
            targets, variables = cmake_targets(self._text(folder, _CMAKE), folder, known)
            targets += setup_targets(self._text(folder, _SETUP), folder)
            package = os.path.relpath(folder, self._root).replace(os.sep, "/").removeprefix(".")
            for name in _STARLARK:
                targets += starlark_targets(self._text(folder, name), folder, package)
            self._in_folder[folder] = targets, variables
        return self._in_folder[folder]


def _is_below(folder: str, above: str) -> bool:
    return folder == above or folder.startswith(os.path.join(above, ""))


def _by_name(targets: Iterable[Target]) -> dict[str, list[Target]]:
    named: dict[str, list[Target]] = defaultdict(list)
    for target in targets:
        named[target.name].append(target)
    return named


def _program(name: str, targets: Mapping[str, Sequence[Target]]) -> set[str]:
    """A target, and all that it links."""
    found, waiting = {name}, [name]
    while waiting:
        for target in targets.get(waiting.pop(), ()):
            new = set(target.links) - found
            found |= new
            waiting += new
    return found


def _fits(path: str, pattern: str) -> bool:
    return path == pattern or ("*" in pattern and _glob(pattern).fullmatch(path) is not None)


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meant.get(part) or re.escape(part) for part in parts))


def _absolute(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


# -- CMake


def cmake_targets(text: str, folder: str, known: dict[str, list[str]]) -> tuple[list[Target], dict[str, list[str]]]:
    """The targets of a CMakeLists.txt in a folder, and its variables; `known` are those of the folder above."""
    variables = dict(known)
    here = [folder.replace(os.sep, "/")]
    variables |= {"CMAKE_CURRENT_SOURCE_DIR": here, "CMAKE_CURRENT_LIST_DIR": here}
    if not known or _PROJECT.search(text):
        variables |= {"PROJECT_SOURCE_DIR": here}
    variables.setdefault("CMAKE_SOURCE_DIR", here)
    targets: list[Target] = []
    for command in _COMMAND.finditer(_COMMENT.sub("", text)):
        name = command["name"].lower()
        given = [word.strip('"') for word in _ARGUMENT.findall(command["given"])]
        if not given:
            continue
        first, *rest = given
        words = [word for each in rest for word in _expanded(each, variables)]
        if name == "set":
            variables[first] = words
        elif name == "list" and first.upper() in ("APPEND", "PREPEND") and rest:
            variables[rest[0]] = [*variables.get(rest[0], []), *words[1:]]
        elif name == "file" and first.upper().startswith("GLOB") and rest:
            deep = first.upper() == "GLOB_RECURSE"
            found = [_absolute(folder, word) for word in words[1:] if "*" in word or _SOURCE.search(word)]
            variables[rest[0]] = [re.sub(r"/(?=[^/]*\Z)", "/**/", word) for word in found] if deep else found
        elif name == "aux_source_directory" and rest:
            variables[rest[0]] = [_absolute(folder, f"{place}/*.c*") for place in _expanded(first, variables)]
        elif name == "target_link_libraries":
            whole = not any("${" in word and not _expanded(word, variables) for word in rest)
            targets += (Target(one, (), tuple(words), whole) for one in _expanded(first, variables))
        elif name not in _NO_TARGET:
            sources = tuple(_absolute(folder, word) for word in words if _SOURCE.search(word) or "*" in word)
            if sources:
                targets += (Target(one, sources) for one in _expanded(first, variables))
    return targets, variables


def _expanded(word: str, variables: dict[str, list[str]]) -> list[str]:
    """What a word of CMake stands for; nothing where a variable isn't known."""
    found = [word]
    for _ in range(8):
        match = next(filter(None, map(_VARIABLE.search, found)), None)
        if match is None:
            return [part for each in found for part in each.split(";") if part]
        values = variables.get(match[1], [])
        found = [each.replace(match[0], value) for each in found for value in (values if match[0] in each else [""])]
        found = found[:_MOST]
    return []


# -- setup.py and Starlark, whose syntax is Python's


def setup_targets(text: str, folder: str) -> list[Target]:
    """The extensions of a setup.py."""
    if "Extension" not in text:
        return []
    program = _Lists(text)
    return [
        Target(f"{folder}/{_SETUP}:{call.lineno}", tuple(_absolute(folder, one) for one in sources))
        for call in program.calls
        if _called(call).endswith("Extension")
        and (sources := program.strings(_given(call, "sources") or (call.args[1] if len(call.args) > 1 else None)))
    ]


def starlark_targets(text: str, folder: str, package: str) -> list[Target]:
    """The targets of a BUILD or BUCK file in the folder of a package."""
    program = _Lists(text) if "srcs" in text else None
    found = []
    for call in program.calls if program is not None else ():
        name = program.strings(_given(call, "name")) if program is not None else []
        given = [_given(call, key) for key in ("srcs", "hdrs", "headers", "exported_headers", "textual_hdrs")]
        sources = [one for value in given if program is not None for one in program.strings(value)]
        if name and sources:
            value = _given(call, "deps")
            links = program.strings(value) if program is not None else []
            whole = value is None or bool(links)
            found.append(
                Target(
                    f"//{package}:{name[0]}",
                    tuple(_absolute(folder, one.removeprefix(":")) for one in sources),
                    tuple(_label(one, package) for one in links),
                    whole,
                )
            )
    return found


def _label(written: str, package: str) -> str:
    if written.startswith(":"):
        return f"//{package}{written}"
    place = "//" + written.partition("//")[2]
    return place if ":" in place else f"{place}:{place.rpartition('/')[2]}"


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


class _Lists:
    """The lists of texts in a program."""

    def __init__(self, text: str) -> None:
        self.calls: list[ast.Call] = []
        self._values: dict[str, list[ast.expr]] = {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self.calls.append(node)
                if _called(node) in ("append", "extend") and isinstance(node.func, ast.Attribute):
                    self._assign(node.func.value, node.args)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, [node.value])
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
                self._assign(node.target, [node.value])
            elif isinstance(node, ast.comprehension):
                self._assign(node.target, [node.iter])

    def _assign(self, target: ast.expr, values: Iterable[ast.expr]) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault(target.id, []).extend(values)

    def strings(self, node: ast.expr | None, within: tuple[str, ...] = ()) -> list[str]:
        """The texts that an expression can hold; `within` are the variables through which it was reached."""
        if node is None:
            return []
        inner: Callable[[ast.expr], list[str]] = lambda one: self.strings(one, within)  # noqa: E731
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.Name):
            if node.id == "__file__":
                return [_SETUP]
            values = self._values.get(node.id, ()) if node.id not in within and len(within) < _DEEPEST else ()
            return [text for value in values for text in self.strings(value, (*within, node.id))][:_MOST]
        if isinstance(node, ast.BinOp):
            both = inner(node.left), inner(node.right)
            return _joined(both) if isinstance(node.op, ast.Div) else [*both[0], *both[1]]
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return inner(node.elt)
        if isinstance(node, ast.Attribute):
            found = inner(node.value)
            return [os.path.dirname(one) for one in found] if node.attr == "parent" else found
        if isinstance(node, ast.JoinedStr):
            parts = [inner(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values]
            return _products(parts, "")
        if not isinstance(node, ast.Call):
            return [
                text for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr) for text in inner(child)
            ]
        name = _called(node)
        given = [inner(one) for one in node.args]
        if name == "join":
            return _joined(given)
        if name == "dirname":
            return [os.path.dirname(one) for each in given for one in each]
        if name in ("glob", "iglob", "rglob") and isinstance(node.func, ast.Attribute):
            folder = inner(node.func.value)
            deep = [["**"]] if name == "rglob" else []
            return _joined([*([folder] if folder else []), *deep, *given[:1]])
        if name in _KEPT or (isinstance(node.func, ast.Attribute) and not node.args):
            return [text for each in given for text in each] or (
                inner(node.func.value) if isinstance(node.func, ast.Attribute) else []
            )
        return []


_KEPT = frozenset(
    "abspath realpath normpath Path str list sorted set glob select tuple resolve as_posix relpath".split()
)
_DEEPEST = 8


def _joined(parts: Iterable[list[str]]) -> list[str]:
    return _products(parts, "/")


def _products(parts: Iterable[list[str]], between: str) -> list[str]:
    """All ways of joining one text of each part."""
    found = [""]
    for part in parts:
        found = [before + between + after if before else after for before in found for after in part][:_MOST]
    return found
