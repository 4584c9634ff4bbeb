"""The third parties that a program includes, as the system has them: their include folders and libraries.

For programs whose build nothing describes. What is asked is pkg-config, which knows the folder that a header such as
`opencv2/core.hpp` or `stb_image.h` is in, and what is linked with it; Boost's libraries, which it doesn't know, are
called after their headers.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from ctypes.util import find_library
from functools import cache
from pathlib import Path

from guardfix.regular_files import read_regular_text

_BY_FOLDER = {
    "curl": ("libcurl",),
    "fmt": ("fmt",),
    "gflags": ("gflags",),
    "GLFW": ("glfw3",),
    "glog": ("libglog",),
    "opencv2": ("opencv4", "opencv"),
    "png++": ("libpng",),
    "SDL2": ("sdl2",),
    "yaml-cpp": ("yaml-cpp",),
}
"""The first part of an included name -> what pkg-config may call it, where folders don't tell."""

_OF_THE_COMPILER = {"omp.h": "gomp"}
"""Libraries without a package. PyTorch's own brings OpenMP's."""

_OF_THE_LANGUAGE = re.compile(r"\w+$|(?:torch|ATen|c10|caffe2|pybind11|sys|bits|linux|boost)/")
_BOOST = re.compile(r"boost/(\w+)")
_PLACES = ("/usr/local/include", "/usr/include")
"""Where a compiler looks by itself."""


def third_parties(headers: Iterable[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Include folders and libraries of the third parties that headers belong to, named as in `#include`."""
    names = list(dict.fromkeys(headers))
    include: dict[Path, None] = {}
    link: dict[str, None] = {}
    for words in _flags(names):
        include |= dict.fromkeys(Path(word[2:]) for word in words if word.startswith("-I"))
        link |= dict.fromkeys(word[2:] for word in words if word.startswith("-l"))
    link |= dict.fromkeys(library for header, library in _OF_THE_COMPILER.items() if header in names)
    for boost in filter(None, map(_BOOST.match, names)):
        if find_library(f"boost_{boost[1]}") is not None:
            link[f"boost_{boost[1]}"] = None
    return tuple(include), tuple(link)


def _flags(names: Iterable[str]) -> Iterator[list[str]]:
    """What pkg-config says of the packages that headers belong to, each once."""
    asked: set[str] = set()
    for name in names:
        packages: Sequence[str] = _BY_FOLDER.get(name.partition("/")[0], ())
        at_hand = _OF_THE_LANGUAGE.match(name) or any(Path(folder, name).is_file() for folder in _PLACES)
        if not packages and not at_hand:
            packages = _packages_with(name)
        for package in packages:
            words = None if package in asked else _pkg_config("--cflags", "--libs", package)
            asked.add(package)
            if words is not None:
                yield words
                break


def _packages_with(name: str) -> list[str]:
    """The package in whose folder a header is; none if two folders have one."""
    found = {folder: packages for folder, packages in _package_folders().items() if (folder / name).is_file()}
    # Several packages may name one folder; that with the shortest name is the one that the others belong to.
    return [min(packages, key=len) for packages in found.values()] if len(found) == 1 else []


@cache
def _package_folders() -> dict[Path, list[str]]:
    """The include folders that packages bring, each with the packages' names."""
    found: dict[Path, list[str]] = defaultdict(list)
    listed = _pkg_config("--variable=pc_path", "pkg-config")
    places = [*os.environ.get("PKG_CONFIG_PATH", "").split(":"), *(listed[0].split(":") if listed else ())]
    for place in filter(None, places):
        for described in sorted(Path(place).glob("*.pc")):
            for folder in _include_folders(described):
                if str(folder) not in _PLACES:
                    found[folder].append(described.stem)
    return found


def _include_folders(described: Path) -> list[Path]:
    """The folders that the `Cflags` of a .pc file name, its variables put in."""
    variables: dict[str, str] = {}
    flags = ""
    with contextlib.suppress(OSError):
        for line in read_regular_text(described, "replace").splitlines():
            line = re.sub(r"\$\{(\w+)\}", lambda match: variables.get(match[1], ""), line)
            if defined := re.match(r"(\w+)\s*=\s*(.*)", line):
                variables[defined[1]] = defined[2].strip()
            elif line.startswith("Cflags:"):
                flags = line.removeprefix("Cflags:")
    return [Path(os.path.normpath(folder)) for folder in re.findall(r"-I\s*([^\s\"]+)", flags)]


def _pkg_config(*arguments: str) -> list[str] | None:
    try:
        done = subprocess.run(["pkg-config", *arguments], capture_output=True, text=True, check=False, env=os.environ)
    except OSError:
        return None
    return shlex.split(done.stdout) if done.returncode == 0 else None
