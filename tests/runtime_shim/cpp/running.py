"""Running C++ files for tests: on the shim, and on an installed PyTorch."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from guardfix.runtime_shim.cpp import cache_folder, header_precompilation
from guardfix.runtime_shim.cpp.cpp_compilation import precompiled

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
FIXTURES = ROOT / "fixtures" / "cpp_programs"
PROGRAMS = HERE / "programs"
MODEL = FIXTURES / "models" / "classifier.pt"

TORCH_HEADERS = "#include <torch/torch.h>\n#include <torch/script.h>\n#include <torch/library.h>\n"

_RUN = "from guardfix.cli.run_command import command; command(prog_name='guardfix run')"


@dataclass(frozen=True)
class Outcome:
    """How a program ended: a signal is a negative status, as in subprocess."""

    status: int
    out: str
    err: str


def guardfix_run(
    *arguments: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, timeout: float = 120
) -> Outcome:
    """`guardfix run` with these arguments, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
        env=os.environ | (environment or {}),
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def torch_folder() -> Path | None:
    """The folder of an installed PyTorch; None without one."""
    found = importlib.util.find_spec("torch")
    return None if found is None or found.origin is None else Path(found.origin).parent


def run_on_torch(source: Path, folder: Path, *arguments: str | Path, link: tuple[str, ...] = ()) -> Outcome:
    """The same file compiled against PyTorch's own headers and libraries, the binary kept in `folder`."""
    torch = torch_folder()
    assert torch is not None
    binary = folder / source.stem
    compiler = header_precompilation.find_toolchain("g++" if shutil.which("g++") else "c++")
    compile_ = [
        str(compiler.compiler), "-std=c++20", "-O0", "-w", "-pthread",
        f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include",
    ]  # fmt: skip
    headers = precompiled(cache_folder() / "torch", TORCH_HEADERS, compile_, compiler, programs=0)
    command = [
        *compile_, *headers, str(source), "-o", str(binary), f"-L{torch}/lib",
        "-ltorch", "-ltorch_cpu", "-lc10", *(f"-l{name}" for name in link), f"-Wl,-rpath,{torch}/lib",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)
