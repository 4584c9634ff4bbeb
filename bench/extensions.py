#!/usr/bin/env python3
"""How much of public C++ extensions of PyTorch compiles, unchanged, against the shim's headers.

    python bench/extensions.py CHECKOUTS [--only NAME] [--syntax] [--jobs N] [--json]

CHECKOUTS is a folder with a checkout of each project below, in a folder of the project's name; `--clone` makes those
that are missing. A unit is a C++ file for the CPU. It counts when the compiler accepts it as it is; the names that the
headers lack are listed, the most wanted first. `--syntax` checks without making objects, which takes half the time.
Exit status 1 when fewer than 80 % of the units compile.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from guardfix.runtime_shim.cpp import CompileError, cache_folder
from guardfix.runtime_shim.cpp.compiler_diagnostics import missing_names
from guardfix.runtime_shim.cpp.cpp_compilation import precompiled
from guardfix.runtime_shim.cpp.header_precompilation import Toolchain, find_toolchain
from guardfix.runtime_shim.cpp.own_headers import digest, headers_digest
from guardfix.runtime_shim.extension.cmake_package import STANDARD, extension_defines, extension_include_folders
from guardfix.runtime_shim.extension.inline_modules import compiled_object

TARGET = 0.8
EVERYTHING = "torch/extension.h"


@dataclass(frozen=True)
class Project:
    """A public project: where it is, which commit was measured, and which files are its units."""

    name: str
    url: str
    commit: str
    units: tuple[str, ...]
    """Globs from the project's root."""
    without: tuple[str, ...] = ()
    """Parts of paths that are for other devices or need other libraries."""
    include: tuple[str, ...] = (".",)
    generated: tuple[tuple[str, str], ...] = ()
    """Headers that the project's own build makes, by their paths."""


PROJECTS = (
    Project(
        "vision",
        "https://github.com/ROCm/vision",
        "e828eefa",
        ("torchvision/csrc/vision.cpp", "torchvision/csrc/ops/**/*.cpp"),
        include=("torchvision/csrc",),
    ),
    Project(
        "pytorch_scatter",
        "https://github.com/rusty1s/pytorch_scatter",
        "648dda3",
        ("csrc/**/*.cpp",),
        include=("csrc",),
    ),
    Project(
        "pytorch_cluster",
        "https://github.com/rusty1s/pytorch_cluster",
        "3d1d9e3",
        ("csrc/**/*.cpp",),
        include=("csrc",),
    ),
    Project(
        "pyg-lib",
        "https://github.com/pyg-team/pyg-lib",
        "764e3a49",
        ("pyg_lib/csrc/**/*.cpp",),
        without=("metis_kernel",),  # METIS is a submodule
        include=(".", "third_party/parallel-hashmap"),
        generated=(("pyg_lib/csrc/config.h", "#pragma once\n#define WITH_MKL_BLAS() 0\n#define NO_METIS() 1\n"),),
    ),
    Project("tvdcn", "https://github.com/inspiros/tvdcn", "00612d1", ("tvdcn/csrc/**/*.cpp",), include=("tvdcn/csrc",)),
    Project(
        "audio 2021",
        "https://github.com/ROCm/audio",
        "aec0e8c9",
        ("torchaudio/csrc/**/*.cpp",),
        without=("sox", "kaldi"),  # need the libraries of those names
    ),
    Project(
        "audio",
        "https://github.com/ROCm/audio",
        "36815ef9",
        ("src/libtorchaudio/**/*.cpp",),
        without=("sox", "cuctc"),
        include=("src",),
    ),
    Project("extension-cpp 2019", "https://github.com/pytorch/extension-cpp", "1031028", ("cpp/*.cpp",)),
    Project("extension-cpp 2024", "https://github.com/pytorch/extension-cpp", "015c15d", ("extension_cpp/csrc/*.cpp",)),
    Project("extension-cpp", "https://github.com/pytorch/extension-cpp", "0ec4969", ("extension_cpp/csrc/*.cpp",)),
)


@dataclass
class Outcome:
    """What became of a project's units."""

    project: str
    compiled: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """By unit: the name that the headers lack, or the compiler's first error."""

    @property
    def total(self) -> int:
        return len(self.compiled) + len(self.refused)


def units_of(project: Project, root: Path) -> Iterator[Path]:
    for path in sorted({path for pattern in project.units for path in root.glob(pattern)}):
        shown = path.relative_to(root).as_posix()
        if not any(part in shown for part in ("cuda", "hip", "mps", "xpu", *project.without)):
            yield path


def _generated(project: Project) -> Path:
    """A folder with the headers that the project's build makes."""
    folder = cache_folder().with_name("generated") / digest(
        project.name, *(part for row in project.generated for part in row)
    )
    for path, text in project.generated:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def command_for(project: Project, root: Path, toolchain: Toolchain) -> list[str]:
    folders = [*(root / folder for folder in project.include), _generated(project)]
    return [*_common(toolchain), *(f"-I{folder}" for folder in folders)]


def _common(toolchain: Toolchain) -> list[str]:
    """The part of the command that is the same for all projects: the headers are precompiled by it, once."""
    return [
        str(toolchain.compiler),
        STANDARD,
        "-w",
        "-fPIC",
        "-pthread",
        *(f"-I{folder}" for folder in extension_include_folders()),
        "-isystem",
        str(toolchain.python_include),
        "-DWITH_PYTHON",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
    ]


def check_syntax(unit: Path, command: list[str], toolchain: Toolchain, defines: list[str]) -> None:
    """Raises CompileError. All headers are precompiled, as all units share them."""
    common = _common(toolchain)
    folder = cache_folder() / "headers" / digest(EVERYTHING, *common, headers_digest())
    use = precompiled(folder, f"#include <{EVERYTHING}>\n", common, toolchain, programs=0)
    done = subprocess.run(
        [*command, *use, *defines, "-fsyntax-only", str(unit)],
        capture_output=True,
        text=True,
        env=os.environ | {"LC_ALL": "C"},
        check=False,
    )
    if done.returncode != 0:
        raise CompileError(str(unit), done.stderr, missing_names(done.stderr, ()))


def measure(project: Project, root: Path, *, syntax: bool, verbose: bool, jobs: int) -> Outcome:
    toolchain = find_toolchain()
    command = command_for(project, root, toolchain)
    defines = extension_defines("extension")[1:]
    outcome = Outcome(project.name)

    def attempt(unit: Path) -> tuple[Path, CompileError | None]:
        try:
            if syntax:
                check_syntax(unit, command, toolchain, defines)
            else:
                compiled_object(unit, command, toolchain, defines=defines)
        except CompileError as error:
            return unit, error
        return unit, None

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for unit, error in pool.map(attempt, list(units_of(project, root))):
            shown = unit.relative_to(root).as_posix()
            if error is None:
                outcome.compiled.append(shown)
                continue
            errors = [line for line in error.diagnostics.splitlines() if "error:" in line]
            outcome.refused[shown] = error.missing or (errors or ["?"])[0].partition("error:")[2].strip()
            if verbose:
                print(shown, *errors, sep="\n  ")
    return outcome


def cloned(project: Project, root: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--filter=blob:none", project.url, str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "checkout", "--quiet", project.commit], check=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--clone", action="store_true", help="clone the projects that are missing")
    parser.add_argument("--only", metavar="NAME", help="measure one project")
    parser.add_argument("--syntax", action="store_true", help="check the syntax, and make no objects")
    parser.add_argument("--verbose", action="store_true", help="print all errors")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args(argv)
    outcomes = []
    for project in PROJECTS:
        if arguments.only not in (None, project.name):
            continue
        root = arguments.checkouts / project.name
        if arguments.clone and not root.is_dir():
            cloned(project, root)
        if not root.is_dir():
            print(f"{project.name}: no checkout in {root}", file=sys.stderr)
            continue
        outcomes.append(
            measure(project, root.resolve(), syntax=arguments.syntax, verbose=arguments.verbose, jobs=arguments.jobs)
        )
    compiled, total = sum(len(o.compiled) for o in outcomes), sum(o.total for o in outcomes)
    if arguments.json:
        print(json.dumps({o.project: {"compiled": o.compiled, "refused": o.refused} for o in outcomes}, indent=1))
    else:
        for outcome in outcomes:
            print(f"{outcome.project:<20} {len(outcome.compiled):>3} of {outcome.total}")
        wanted = Counter(name for outcome in outcomes for name in outcome.refused.values())
        for name, count in wanted.most_common():
            print(f"    {count:>3}  {name}")
        print(f"{compiled} of {total} units compile (target: {TARGET:.0%})")
    return 0 if total and compiled / total >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
