#!/usr/bin/env python3
"""Runs the examples in PyTorch's documentation on PyTorch 2.13 and on the shim, and compares what they print.

    python bench/documented_examples.py PYTHON [--differences] [--target 0.84]

PYTHON is an interpreter that has PyTorch and numpy: the examples are those of its docstrings. Each starts from seed 0,
and goes on after a statement that fails. It counts as the same if every statement prints what it does on PyTorch,
addresses aside, or fails as it does there. The others are counted by what comes first: a name that the shim lacks, an
error, or another output, most often in its last digits. Exit status 1: fewer are the same than `--target`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMESPACES = (
    "", "nn", "nn.functional", "Tensor", "linalg", "special", "fft", "nn.init", "nn.utils", "nn.utils.rnn", "autograd",
    "autograd.functional", "autograd.graph", "autograd.forward_ad", "optim", "optim.lr_scheduler", "utils.data",
    "utils.checkpoint", "library", "testing", "jit",
)  # fmt: skip
SECONDS = 20
"""A statement's limit."""

Printed = list[tuple[bool, str]]
"""Of each statement: whether it ran, and what it printed, or the error."""


def collected() -> dict[str, list[str]]:
    """The statements of each example, by the name of what it documents. Needs PyTorch."""
    import doctest
    import inspect

    import torch

    found: dict[str, list[str]] = {}
    seen = set()
    for namespace in NAMESPACES:
        owner: Any = (
            torch.Tensor if namespace == "Tensor" else importlib.import_module(f"torch.{namespace}".rstrip("."))
        )
        for name in dir(owner):
            value = getattr(owner, name, None)
            text = getattr(value, "__doc__", None)
            if name.startswith("_") or inspect.ismodule(value) or not isinstance(text, str):
                continue
            with contextlib.suppress(ValueError):  # a docstring that isn't indented as doctest wants it
                statements = [example.source for example in doctest.DocTestParser().get_examples(text)]
                if statements and tuple(statements) not in seen and not any("cuda" in one for one in statements):
                    seen.add(tuple(statements))
                    found[f"{namespace}.{name}".lstrip(".")] = statements
    return found


def printed(examples: dict[str, list[str]]) -> Iterator[tuple[str, Printed]]:
    """What they print with `torch` as it is bound here."""
    import torch

    def too_long(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")
    for example, statements in examples.items():
        torch.manual_seed(0)
        torch.set_default_dtype(torch.float32)
        names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "__name__": "__main__"}
        outcomes: Printed = []
        for statement in statements:
            out = io.StringIO()
            signal.alarm(SECONDS)
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(statement, "<example>", "single"), names)
                outcomes.append((True, out.getvalue()))
            except (Exception, SystemExit) as error:
                outcomes.append((False, f"{type(error).__name__}: {error}"))
            finally:
                signal.alarm(0)
        yield example, outcomes


def first_difference(expected: Printed, found: Printed) -> tuple[str, int] | None:
    """What differs first, and in which statement."""
    for number, ((ran, text), (ran_here, text_here)) in enumerate(zip(expected, found, strict=True)):
        if ran and not ran_here:
            missing = re.search(r"the shim has no ([^;]*)", text_here)
            return (f"no {missing[1]}" if missing else f"an error: {text_here}"[:100]), number
        if ran != ran_here or (ran and _without_addresses(text) != _without_addresses(text_here)):
            return "another output", number
    return None


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def _answer_of(command: list[str], folder: str, given: object) -> Any:
    """What a process of this file writes, to its own file: an example may print to its standard output."""
    answer = Path(folder, "answer.json")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parent)}
    subprocess.run(
        [*command, str(answer)], input=json.dumps(given), text=True, cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True,
    )  # fmt: skip
    return json.loads(answer.read_text(encoding="utf-8"))


def main() -> int:
    if sys.argv[1:2] == ["--run"]:
        examples = json.load(sys.stdin)
        Path(sys.argv[2]).write_text(json.dumps(dict(printed(examples)) if examples else collected()), encoding="utf-8")
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--differences", action="store_true", help="print each statement that differs")
    parser.add_argument("--target", type=float, default=0.84)
    arguments = parser.parse_args()
    on_pytorch = [arguments.python, "-W", "ignore", __file__, "--run"]
    on_shim = [sys.executable, "-m", "guardfix", "run", __file__, "--", "--run"]
    with tempfile.TemporaryDirectory() as folder:
        examples = _answer_of(on_pytorch, folder, {})
        expected = _answer_of(on_pytorch, folder, examples)
        found = _answer_of(on_shim, folder, examples)
    reasons: Counter[str] = Counter()
    for name, statements in examples.items():
        difference = first_difference(expected[name], found[name])
        if difference is None:
            continue
        reason, number = difference
        reasons[reason] += 1
        if arguments.differences:
            print(f"{name}: {statements[number].strip()}\n  {expected[name][number][1]}\n  {found[name][number][1]}")
    same = len(examples) - reasons.total()
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")
    share = same / len(examples)
    print(f"{same} of {len(examples)} print the same: {share:.1%} (target {arguments.target:.0%})")
    return 0 if share >= arguments.target else 1


if __name__ == "__main__":
    sys.exit(main())
