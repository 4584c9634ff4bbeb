#!/usr/bin/env python3
"""Times `guardfix check` on single files as generators write them: thousands of uses, deep nests, one long line.

    bench/odd_files.py [--uses 2500] [--depth 5000] [--bytes 1000000] [SHAPE…]

Each shape is checked at half the size and at the full size, each in a process of its own. Prints processor seconds,
how they grow (2 is linear, 4 quadratic) and the peak memory. Exit status 1 when a shape grows by more than 3.2, which
is asked only of shapes that take longer than a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HEAD = "#include <torch/script.h>\n"
GUARD = "at::AutoNonVariableTypeMode g(true);"
RUN = "return m.forward({x}).toTensor();"
SIGNATURE = "(torch::jit::Module& m, at::Tensor x)"


def _each(line: str) -> Callable[[int], str]:
    """A file that says `line` again and again, `@` being the number."""
    return lambda count: HEAD + "".join(line.replace("@", str(number)) for number in range(count))


def _around(before: str, line: str, after: str) -> Callable[[int], str]:
    return lambda count: HEAD + before + "".join(line.replace("@", str(n)) for n in range(count)) + after


def _nested(before: str, opening: str, inside: str, closing: str, after: str) -> Callable[[int], str]:
    return lambda depth: HEAD + before + opening * depth + inside + closing * depth + after


USES: dict[str, Callable[[int], str]] = {
    "functions": _each(f"at::Tensor f@{SIGNATURE} {{ {GUARD} {RUN} }}\n"),
    "functions in one line": _each(f"at::Tensor f@{SIGNATURE} {{ {GUARD} {RUN} }} "),
    "autograd functions": _each(
        "struct F@ : torch::autograd::Function<F@> { static at::Tensor forward("
        f"torch::autograd::AutogradContext* ctx, at::Tensor x) {{ {GUARD} return at::relu(x); }} }};\n"
    ),
    "methods": _around("struct Net {\n", f"at::Tensor run@(at::Tensor x) {{ {GUARD} {RUN} }}\n", "};\n"),
    "blocks of one function": _around(
        f"void f{SIGNATURE} {{\n", f"{{ {GUARD} x = m.forward({{x}}).toTensor(); }}\n", "}\n"
    ),
    "aliases": _each(f"using G@ = at::AutoNonVariableTypeMode;\nat::Tensor f@{SIGNATURE} {{ G@ g; {RUN} }}\n"),
    "uses of one alias": _around(
        "using G = at::AutoNonVariableTypeMode;\n", f"at::Tensor f@{SIGNATURE} {{ G g(true); {RUN} }}\n", ""
    ),
    "uses of one using-declaration": _around(
        "using at::AutoNonVariableTypeMode;\n",
        f"at::Tensor f@{SIGNATURE} {{ AutoNonVariableTypeMode g(true); {RUN} }}\n",
        "",
    ),
    "structs of guards": _each(
        "struct G@ { at::AutoGradMode a{false}; at::AutoNonVariableTypeMode b{true}; };\n"
        f"at::Tensor f@{SIGNATURE} {{ G@ g; {RUN} }}\n"
    ),
    "macros": _each(f"#define G@ {GUARD}\nat::Tensor f@{SIGNATURE} {{ G@ {RUN} }}\n"),
    "suppressed": _each(f"at::Tensor f@{SIGNATURE} {{\n{GUARD}  // NOLINT(GF101)\n{RUN} }}\n"),
    "namespace scope": _each("at::AutoNonVariableTypeMode guard@(true);\n"),
    "heap": _each(f"at::Tensor f@{SIGNATURE} {{ auto g = new at::AutoNonVariableTypeMode(true); {RUN} }}\n"),
}
DEPTHS: dict[str, Callable[[int], str]] = {
    "braces": _nested("void f() { ", "{", f"{GUARD} m.forward(x);", "}", " }\n"),
    "namespaces": _nested("", "namespace a {", f"void f() {{ {GUARD} m.forward(x); }}", "}", "\n"),
    "conditions": _nested("", "#if A\n", f"void f() {{ {GUARD} m.forward(x); }}\n", "#endif\n", ""),
}
BYTES: dict[str, Callable[[int], str]] = {
    "one literal": lambda size: f'{HEAD}void f() {{ {GUARD} m.forward(x); auto s = "{"a" * size}"; }}\n',
    "one line of statements": lambda size: (
        f"{HEAD}void f() {{ {GUARD} m.forward(x); {'x = at::add(x, 1); ' * (size // 19)}}}\n"
    ),
    "one line of numbers": lambda size: (
        f"{HEAD}void f() {{ {GUARD} m.forward(x); int a[] = {{{'17,' * (size // 3)}}}; }}\n"
    ),
}


def measured(text: str, folder: str) -> tuple[float, float]:
    """(processor seconds, peak MB) of checking the text."""
    path = Path(folder, "odd.cpp")
    path.write_text(text)
    command = [sys.executable, "-m", "guardfix", "check", str(path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    parser.add_argument("--uses", type=int, default=2500)
    parser.add_argument("--depth", type=int, default=5000)
    parser.add_argument("--bytes", type=int, default=1_000_000)
    options = parser.parse_args()
    shapes = [
        (name, make, size)
        for table, size in ((USES, options.uses), (DEPTHS, options.depth), (BYTES, options.bytes))
        for name, make in table.items()
        if not options.shapes or name in options.shapes
    ]
    steep = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make, size in shapes:
            half, _ = measured(make(size // 2), folder)
            seconds, megabytes = measured(make(size), folder)
            growth = seconds / half
            bad = seconds > 1 and growth > 3.2
            steep += bad
            remark = "  TOO STEEP" if bad else ""
            print(f"{name:30} {size:8} {seconds:6.2f} s  x {growth:4.2f} {megabytes:5.0f} MB{remark}", flush=True)
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
