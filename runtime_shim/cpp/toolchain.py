"""The machine's C++ compiler and Python's headers: what compiling a program needs."""

from __future__ import annotations

import os
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from .program_errors import ToolchainMissing

_COMPILERS = ("g++", "clang++", "c++")


@dataclass(frozen=True)
class Toolchain:
    """A compiler and the folder of Python.h."""

    compiler: Path
    python_include: Path

    @property
    def identity(self) -> str:
        """Changes when the compiler is replaced; read without running it."""
        real = self.compiler.resolve()
        stat = real.stat()
        return f"{real}:{stat.st_size}:{stat.st_mtime_ns}"


def find_toolchain(compiler: str | None = None) -> Toolchain:
    """The compiler named here, else by $CXX, else the first of g++, clang++, c++ on the PATH.

    Raises ToolchainMissing, saying what to install, when there is no compiler or no Python.h.
    """
    wanted = compiler or os.environ.get("CXX")
    names = (wanted,) if wanted else _COMPILERS
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        if wanted:
            raise ToolchainMissing(
                f"the C++ compiler {wanted!r} ({'$CXX' if not compiler else '--compiler'}) was not found; "
                "name one that is installed, or unset it"
            )
        raise ToolchainMissing(
            "no C++ compiler found (looked for g++, clang++, c++); install one, for example with "
            "`apt-get install g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora) or "
            "`xcode-select --install` (macOS)"
        )
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        version = sysconfig.get_python_version()
        raise ToolchainMissing(
            f"no Python.h in {include}: the headers of this Python are missing; install them, for example "
            f"with `apt-get install python{version}-dev` (Debian, Ubuntu) or "
            f"`dnf install python3-devel` (Fedora)"
        )
    return Toolchain(Path(found), include)
