"""Paths -> programs: the files among the given ones that can be run."""

from __future__ import annotations

import ast
import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from guardfix.linter.files.discovery import find_files
from guardfix.linter.files.workspace import DISK

from .included_sources import ProjectFiles, project_above
from .pkg_config import third_parties
from .project_builds import Build, build_folders, read_builds

CPP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C"})
PYTHON_SUFFIXES = frozenset({".py"})

# Comments, raw strings, strings and characters: a main in one of them is none.
_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
_MAIN = re.compile(r"\b(?:int|auto)\s+main\s*\(")
_GTEST = re.compile(r"^\s*TEST(?:_F|_P)?\s*\(", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A file that can be run."""

    path: Path
    root: Path
    """The folder that is copied to run it: the one named on the command line, or the file's own."""
    named: bool
    """Named itself on the command line: then it is a program whatever is in it."""
    build: Build = field(default_factory=Build)
    """What it is built from besides its own file."""

    @property
    def sources(self) -> frozenset[Path]:
        """The real paths of the files that are compiled for it."""
        return frozenset({self.path.resolve(), *(unit.path for unit in self.build.units)})

    @property
    def is_python(self) -> bool:
        return self.path.suffix in PYTHON_SUFFIXES


def find_programs(
    paths: Sequence[str], *, exclude: Sequence[str] = (), respect_gitignore: bool = True, gtest: bool = False
) -> list[Program]:
    """The programs at and below `paths`, sorted: C++ files with a main, Python scripts that use torch.

    A file that is named itself is taken whatever is in it. With `gtest` a C++ file of tests is a program, too.
    Raises `NoSuchPath`.
    """
    found: dict[Path, Program] = {}
    for given in paths:
        walk = find_files([given], exclude=tuple(exclude), respect_gitignore=respect_gitignore)
        path = Path(given)
        if path.is_dir():
            for name in walk.paths():
                file = Path(name)
                if _is_program(file, gtest):
                    found.setdefault(file.absolute(), Program(file, path, named=False))
        elif path.suffix in CPP_SUFFIXES | PYTHON_SUFFIXES:
            found[path.absolute()] = Program(path, path.parent, named=True)
    return [found[key] for key in sorted(found)]


def with_builds(programs: Sequence[Program], folders: Sequence[Path], sources: Sequence[str]) -> list[Program]:
    """The programs with what they are built from: as build directories say, or those where they are.

    `sources` are patterns of files that belong to every C++ program. A file without a main that is part of another
    program is left out, even if it is named itself. Raises `BadBuild`.
    """
    if not any(not program.is_python for program in programs):
        return list(programs)
    looked_at = [*folders] or build_folders(dict.fromkeys(program.root for program in programs))
    builds = read_builds(looked_at, is_main_file)
    named = [Path(name).resolve() for pattern in sources for name in glob.glob(pattern, recursive=True)]
    common = [path for path in dict.fromkeys(sorted(named)) if path.suffix in CPP_SUFFIXES and not is_main_file(path)]
    projects: dict[Path, ProjectFiles] = {}
    built = [
        program if program.is_python else _built(program, builds.of(program.path), common, projects)
        for program in programs
    ]
    parts = {unit.path for program in built for unit in program.build.units}
    # `guardfix verify src/*.cpp` names the sources of a program as well.
    return [program for program in built if program.path.resolve() not in parts or is_main_file(program.path)]


def _built(
    program: Program, build: Build | None, common: Sequence[Path], projects: dict[Path, ProjectFiles]
) -> Program:
    root = program.root.resolve()
    own: tuple[Path, ...] = ()
    if build is None:
        main = program.path.resolve()
        project = project_above(main) if program.named else root
        if project not in projects:
            projects[project] = ProjectFiles(project, is_main_file)
        own, units, others = projects[project].included_by(main)
        include, link = third_parties(others)
        build = Build((*own, *include), link=link, units=units)
    build = build.with_sources(common)
    away = [unit.path.parent for unit in build.units if not unit.path.is_relative_to(root)]
    away += [folder for folder in own if not folder.is_relative_to(root)]
    if away:
        root = Path(os.path.commonpath([root, *away]))
        return replace(program, root=root, build=build)
    return replace(program, build=build)


def is_main_file(path: Path) -> bool:
    """Whether a C++ file has a main."""
    source = DISK.read_or_none(str(path))
    return source is not None and has_main(source.text.decode("utf-8", "replace"))


def _is_program(path: Path, gtest: bool) -> bool:
    if path.suffix not in CPP_SUFFIXES | PYTHON_SUFFIXES:
        return False
    source = DISK.read_or_none(str(path))
    if source is None:
        return False  # the migration says what is wrong with it
    text = source.text.decode("utf-8", "replace")
    return is_python_script(text) if path.suffix in PYTHON_SUFFIXES else has_main(text) or (gtest and _has_tests(text))


def has_main(text: str) -> bool:
    """Whether C++ text defines (or declares) a main."""
    return "main" in text and _MAIN.search(_code(text)) is not None


def _has_tests(text: str) -> bool:
    return _GTEST.search(_code(text)) is not None


def _code(text: str) -> str:
    return _NOT_CODE.sub(lambda match: '""' if match[0][0] in "R\"'" else " ", text)


def is_python_script(text: str) -> bool:
    """Whether Python text uses torch and does something when it is run, more than defining names."""
    if "torch" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return _imports_torch(tree) and any(_does_something(node) for node in tree.body)


def _imports_torch(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "torch" for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            return True
    return False


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return _is_main_check(node.test)
    return isinstance(node, ast.For | ast.While | ast.With | ast.Assert | ast.Match)


def _is_main_check(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))
