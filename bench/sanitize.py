"""Compiles C++ programs with the compiler's sanitizers and runs them on the shim: prints what they find.

    python bench/sanitize.py [FILE…]

Without files: the programs of fixtures/cpp_programs and of the tests. AddressSanitizer and
UndefinedBehaviorSanitizer look at the headers and at the program; in a second run LeakSanitizer looks for what was
allocated below the program and nothing points to at the end. Needs GCC. Exit status 1: something was found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "fixtures" / "cpp_programs" / "models" / "classifier.pt"

FLAGS = (
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
    "-fno-omit-frame-pointer",
    "-g1",
)

OPTIONS = f"CompilerOptions(flags={FLAGS!r}, compiler='g++')"

COMPILE = f"""
import sys
from pathlib import Path
from guardfix.runtime_shim.cpp import CompilerOptions, ProgramError, compile_program
try:
    compile_program(Path(sys.argv[1]), {OPTIONS})
except ProgramError as error:
    sys.exit(str(error))
"""

RUN = f"""
import sys
from pathlib import Path
from guardfix.runtime_shim.cpp import CompilerOptions, run_cpp
sys.exit(run_cpp(Path(sys.argv[1]), sys.argv[2:], options={OPTIONS}))
"""

SANITIZERS_STATUS = 87


def programs() -> list[Path]:
    """The C++ programs of the repository, but the one that needs gtest."""
    folders = (ROOT / "fixtures" / "cpp_programs", ROOT / "tests" / "runtime_shim" / "cpp" / "programs")
    return [path for folder in folders for path in sorted(folder.glob("*.cpp"))]


def library(name: str) -> str:
    """Where GCC keeps a runtime library."""
    return subprocess.run(
        ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def environment(cache: str, *, leaks: bool) -> dict[str, str]:
    """The sanitizer must be in the process before the interpreter is; it ends the process with its own status."""
    # Frames that are kept to catch late uses would keep what they point to, too.
    options = f"detect_leaks={int(leaks)}:exitcode={SANITIZERS_STATUS}:detect_stack_use_after_return={int(not leaks)}"
    return {
        # With libstdc++ behind it: its hook for exceptions looks for the functions that it wraps.
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": f"print_stacktrace=1:exitcode={SANITIZERS_STATUS}",
        "LSAN_OPTIONS": "fast_unwind_on_malloc=0",
        "GUARDFIX_CACHE_DIR": cache,
        **({"PYTHONMALLOC": "malloc"} if leaks else {}),
    }


def findings(source: Path, cache: str, *, leaks: bool) -> str:
    """What the sanitizers say of one program; empty when they found nothing."""
    # Compiled by itself: the sanitizer would look at the compiler, too.
    for code, more in ((COMPILE, {"GUARDFIX_CACHE_DIR": cache}), (RUN, environment(cache, leaks=leaks))):
        done = subprocess.run(
            [sys.executable, "-c", code, str(source), str(MODEL)],
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | more,
            check=False,
        )
        if code is COMPILE and done.returncode:
            return done.stderr
    if leaks and done.returncode in (0, SANITIZERS_STATUS):
        return "\n\n".join(of_the_program(done.stderr))
    if done.returncode == SANITIZERS_STATUS or re.search(r"runtime error:|Sanitizer", done.stderr):
        return done.stderr
    return "" if done.returncode == 0 else f"exit status {done.returncode}\n{done.stderr}"


def of_the_program(report: str) -> list[str]:
    """The leaks that were allocated below the program: the interpreter has some of its own."""
    return [part for part in re.findall(r"^(?:Direct|Indirect) leak of .*?(?=^$|\Z)", report, re.M | re.S)
            if "guardfix_run" in part or "runtime_shim/cpp/include/" in part]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as cache:
        for source in arguments.files or programs():
            found = findings(source, cache, leaks=False) or findings(source, cache, leaks=True)
            print(f"{source.name}: {'found' if found else 'clean'}", flush=True)
            if found:
                bad += 1
                print(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
