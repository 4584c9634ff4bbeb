"""Source files with many programs, compiled against libtorch and against the shim, and what the programs print."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from guardfix.runtime_shim.cpp import cache_folder, header_precompilation
from guardfix.runtime_shim.cpp.cpp_compilation import precompiled

from ..running import Outcome, guardfix_run, torch_folder
from .scene import CppProgram

SUPPORT = [Path(__file__).with_name(name) for name in ("support.h", "wide_support.h")]
#: Runs programs `first` to `last`, once without each of these sets of statements.
Run = Callable[[int, int, Sequence[Sequence[int]]], Outcome]
#: What one program printed; None where it ended the process.
Printed = str | None


def source_text(programs: Sequence[CppProgram]) -> str:
    parts = [path.read_text(encoding="utf-8") for path in SUPPORT]
    for program in programs:
        body = "\n".join(program.lines)
        parts.append(f"static void program_{program.seed}(Variables& v) {{\n{body}\n}}\n")
    table = ", ".join(f"{{{program.seed}, program_{program.seed}}}" for program in programs)
    parts.append(f"int main(int argc, char** argv) {{ return run_programs({{{table}}}, argc, argv); }}\n")
    return "\n".join(parts)


def _arguments(first: int, last: int, left_out: Sequence[Sequence[int]]) -> list[str]:
    found = [str(first), str(last)]
    for i, statements in enumerate(left_out):
        found += [*(["/"] if i else []), *map(str, statements)]
    return found


def on_shim(source: Path) -> Run:
    """The file on the shim; `guardfix run` compiles it once and finds the program again."""

    def run(first: int, last: int, left_out: Sequence[Sequence[int]]) -> Outcome:
        return guardfix_run(source, "--legacy-since19", "--", *_arguments(first, last, left_out), timeout=1200)

    return run


def on_torch(source: Path) -> Run:
    """The file compiled against an installed PyTorch, once. RuntimeError if it doesn't compile."""
    torch = torch_folder()
    assert torch is not None
    compiler = header_precompilation.find_toolchain("g++" if shutil.which("g++") else "c++")
    compile_ = [
        str(compiler.compiler), "-std=c++20", "-O0", "-w", "-pthread",
        f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include",
    ]  # fmt: skip
    headers = precompiled(cache_folder() / "torch", "#include <torch/torch.h>\n", compile_, compiler, programs=0)
    binary = source.with_suffix("")
    command = [
        *compile_, *headers, str(source), "-o", str(binary), f"-L{torch}/lib",
        "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch}/lib",
    ]  # fmt: skip
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{source} doesn't compile against PyTorch:\n{done.stderr[:4000]}")

    def run(first: int, last: int, left_out: Sequence[Sequence[int]]) -> Outcome:
        arguments = [str(binary), *_arguments(first, last, left_out)]
        found = subprocess.run(arguments, capture_output=True, text=True, timeout=1200, check=False)
        return Outcome(found.returncode, found.stdout, found.stderr)

    return run


def printed_by(run: Run, programs: Sequence[CppProgram]) -> list[Printed]:
    """What each program prints. One that ends the process has printed None, and the others run without it."""
    found: list[Printed] = []
    while len(found) < len(programs):
        found += _blocks(run(len(found), len(programs) - 1, [()]))
    return found


def printed_without(run: Run, index: int, left_out: Sequence[Sequence[int]]) -> list[Printed]:
    """What one program prints without each of these sets of statements, up to one that ends the process."""
    found = _blocks(run(index, index, left_out))
    return found + [None] * (len(left_out) - len(found))


def _blocks(outcome: Outcome) -> list[Printed]:
    found: list[Printed] = [*re.split(r"^=== (?:-?\d+)\n", outcome.out, flags=re.MULTILINE)[1:]]
    if not found:
        raise RuntimeError(f"nothing runs (status {outcome.status}):\n{outcome.err[:4000]}")
    if outcome.status:
        found[-1] = None
    return found
