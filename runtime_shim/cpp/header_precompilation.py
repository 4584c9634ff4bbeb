"""The large headers in precompiled form, made while the first program that includes one is compiled.

Making the form takes longer than compiling a small program, so no one waits for it: a process of its own goes on when
the program is done, and the next program finds the form.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import shutil
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .compiler_diagnostics import ToolchainMissing
from .compiler_processes import wait_until_let_go

if TYPE_CHECKING:
    import subprocess


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
            "no C++ compiler found (looked for g++, clang++, c++); install one, for example with `apt-get install "
            "g++` (Debian, Ubuntu), `dnf install gcc-c++` (Fedora) or `xcode-select --install` (macOS)"
        )
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        version = sysconfig.get_python_version()
        raise ToolchainMissing(
            f"no Python.h in {include}: the headers of this Python are missing; install them, for example with "
            f"`apt-get install python{version}-dev` (Debian, Ubuntu) or `dnf install python3-devel` (Fedora)"
        )
    return Toolchain(Path(found), include)


_SECONDS = 120
"""Of processor time: a compiler that takes longer will not get there."""


@dataclass(frozen=True)
class HeaderForm:
    """A header with a text of ours, and its precompiled form."""

    stub: Path
    form: Path
    use: tuple[str, ...]
    """The options that use it."""

    @classmethod
    def below(cls, folder: Path, toolchain: Toolchain) -> HeaderForm:
        stub = folder / "precompiled.h"
        if is_clang(toolchain):
            form = stub.with_suffix(".h.pch")
            return cls(stub, form, ("-include-pch", str(form)))
        return cls(stub, stub.with_suffix(".h.gch"), ("-include", str(stub)))


def is_clang(toolchain: Toolchain) -> bool:
    return "clang" in os.path.basename(os.path.realpath(toolchain.compiler))


class Precompilation:
    """One that is under way, in a process that outlives this one."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.folder = folder

    def stop(self) -> None:
        """Ends it, and removes what it has begun."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        wait_until_let_go(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, seconds: float | None = None) -> None:
        import subprocess

        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)


_under_way: list[Precompilation] = []
"""Those that this process has begun: it collects them when they are done."""


@contextlib.contextmanager
def stopped_with_us() -> Iterator[None]:
    """If this process is stopped inside the block, the precompilation begun there stops too; an error leaves it."""
    before = list(_under_way)
    try:
        yield
    except Exception:
        raise
    except BaseException:
        for one in _under_way:
            if one not in before:
                one.stop()
        raise


def start_precompiling(header: HeaderForm, text: str, command: list[str], work: Path) -> Precompilation | None:
    """Begins to make the form of a header with this text; None when it is there or somebody is at it.

    `work` is a folder on the file system of the form.
    """
    import subprocess
    import tempfile

    _under_way[:] = [one for one in _under_way if one.process.poll() is None]
    if header.form.is_file() or shutil.which("sh") is None:
        return None
    header.stub.parent.mkdir(parents=True, exist_ok=True)
    mark = os.open(header.stub.with_name("programs"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        if header.form.is_file():
            return None
        header.stub.write_text(text)
        work.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=work, prefix="compiling-"))
        started = None
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            built = folder / header.form.name
            words = shlex.join([*command, "-x", "c++-header", str(header.stub), "-o", str(built)])
            script = (
                f"ulimit -t {_SECONDS}; nice -n 5 {words} && mv {shlex.quote(str(built))} "
                f"{shlex.quote(str(header.form))}; rm -rf {shlex.quote(str(folder))}"
            )
            process = subprocess.Popen(
                ["sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)},
                start_new_session=True,
                pass_fds=(mark, held),  # both are locked as long as it runs
            )
            started = Precompilation(process, folder)
            _under_way.append(started)
        finally:
            os.close(held)
            if started is None:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(mark)
    return started
