#!/usr/bin/env python3
"""How many Python scripts that need nothing but torch run on the shim, among those that run on PyTorch.

    python bench/python_programs.py FOLDER… --torch PYTHON [--timeout 60] [--list] [--only TEXT]

A FOLDER is a checkout, for example of github.com/pytorch/examples. Its scripts are those that import torch and nothing
else but numpy, the standard library and their own folders' modules, and that do something when they are run: statements
at the top, or a part for `__main__`. PYTHON is an interpreter that has PyTorch 2.13 and numpy. Each script runs without
arguments in an empty folder, first on PyTorch, where scripts that need data, arguments or a GPU drop out, and then
on the shim, with limits on time and memory. A script that is still computing when its time is up runs if it did so on
PyTorch as well. What PyTorch did is kept (`--outcomes`); `--again` asks again. Printed are the scripts that fail on the
shim with the last line of the error, and how often each name was missing. Exit status 1: fewer than 80 % run.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

TARGET = 0.8
MEMORY = 6 << 30
ON_THE_SHIM = """\
import runpy, sys
from guardfix.runtime_shim.cpp.extension_module import bind_for_good
bind_for_good("guardfix.runtime_shim")
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
MISSING = re.compile(
    r"the shim has no (?:module |attribute )?([^;]+)|has no attribute '(\w+)'|unexpected keyword argument '(\w+)'"
)


@dataclass(frozen=True)
class Outcome:
    """How a script ended."""

    status: str
    """`ends`, `computing` (its time was up) or `fails`."""
    error: str = ""
    """The last line of the error of one that fails."""


def is_candidate(path: Path, tree: ast.Module) -> bool:
    """Whether the script uses torch, needs nothing beside it, and does something."""
    imported = set(_imported(tree))
    if "torch" not in imported:
        return False
    allowed = sys.stdlib_module_names | {"torch", "numpy"}
    beside = {found.stem for folder in path.parents[:2] for found in folder.iterdir()}
    if any(name not in allowed and name not in beside for name in imported):
        return False
    return any(
        isinstance(statement, (ast.If, ast.For, ast.While, ast.With))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call))
        for statement in tree.body
    )


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def candidates(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.py")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        if is_candidate(path, tree):
            yield path


def run(command: list[str], script: Path, seconds: float) -> Outcome:
    """Runs a script without input, in a new folder, with limits."""
    with tempfile.TemporaryDirectory() as folder:
        search = [str(script.parent), str(script.parent.parent), os.environ.get("PYTHONPATH", "")]
        variables = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, search)),
            "MPLBACKEND": "Agg",
            "OMP_NUM_THREADS": "1",
            "HOME": folder,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = subprocess.Popen(
            [*command, str(script)],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        try:
            errors = process.communicate(timeout=seconds)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return Outcome("computing")
    if process.returncode == 0:
        return Outcome("ends")
    lines = [line for line in errors.splitlines() if re.match(r"[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    return Outcome("fails", (lines or errors.splitlines() or [f"status {process.returncode}"])[-1])


class KeptOutcomes:
    """What scripts did on PyTorch, by their contents, in a file."""

    def __init__(self, path: Path, *, again: bool) -> None:
        self.path = path
        self.kept: dict[str, dict[str, str]] = {} if again or not path.is_file() else json.loads(path.read_text())

    def of(self, script: Path, python: str, seconds: float, *, anew: bool = False) -> Outcome:
        key = hashlib.sha256(script.read_bytes()).hexdigest()
        if anew or key not in self.kept:
            self.kept[key] = asdict(run([python], script, seconds))
            self.path.write_text(json.dumps(self.kept, indent=1))
        return Outcome(**self.kept[key])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--torch", metavar="PYTHON", required=True, help="an interpreter that has PyTorch")
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument(
        "--list", action="store_true", help="also name the scripts that run, and why others dropped out"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="scripts whose path has this text")
    parser.add_argument("--outcomes", type=Path, default=Path("python_programs_on_torch.json"))
    parser.add_argument("--again", action="store_true", help="run the scripts on PyTorch anew")
    options = parser.parse_args()
    outcomes = KeptOutcomes(options.outcomes, again=options.again)
    total = running = 0
    missing, errors = Counter[str](), Counter[str]()
    for folder in options.folders:
        found = [path for path in candidates(folder.resolve()) if options.only in str(path)]
        wanted = good = 0
        for script in found:
            shown = script.relative_to(folder.resolve())
            expected = outcomes.of(script, options.torch, options.timeout)
            outcome = Outcome("")
            if expected.status != "fails":
                seconds = options.timeout * (1 if expected.status == "computing" else 2)
                outcome = run([sys.executable, "-c", ON_THE_SHIM], script, seconds)
                if outcome.status == "fails" and expected.status == "computing":
                    # It may be that PyTorch was only slower to get to the same error.
                    expected = outcomes.of(script, options.torch, 5 * options.timeout, anew=True)
            if expected.status == "fails":
                if options.list:
                    print(f"  not on PyTorch: {shown}: {expected.error[:160]}", flush=True)
                continue
            wanted += 1
            ran = outcome.status in ("ends", expected.status)
            good += ran
            if not ran:
                error = outcome.error or "too slow"
                name = MISSING.search(error)
                (missing if name else errors)[next(filter(None, name.groups())) if name else error[:120]] += 1
                print(f"  does not run: {shown}: {error[:200]}", flush=True)
            elif options.list:
                print(f"  runs: {shown}: {outcome.status}", flush=True)
        print(f"{folder.name}: {good} of {wanted} run; {len(found)} scripts need nothing but torch", flush=True)
        total, running = total + wanted, running + good
    for title, counted in (("missing", missing), ("fails", errors)):
        for text, times in counted.most_common(40):
            print(f"  {title} {times} times: {text}")
    share = running / total if total else 0.0
    print(f"{running} of {total} scripts that run on PyTorch run on the shim ({share:.0%}, target {TARGET:.0%})")
    return 0 if share >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
