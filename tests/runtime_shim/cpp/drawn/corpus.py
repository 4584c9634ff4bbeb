"""found.txt: the programs in which a difference was found, each with what it prints on libtorch.

A line `=== seed`, the program, `--- prints`, the output; `found.txt` is read and written by this module alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from .scene import CppProgram

FILE = Path(__file__).with_name("found.txt")


def load(path: Path = FILE) -> list[tuple[CppProgram, str]]:
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^=== (\d+)\n(.*?)\n--- prints\n(.*?\n)(?=\n=== |\n?\Z)", text, re.DOTALL | re.MULTILINE)
    return [(CppProgram(int(seed), tuple(body.split("\n"))), printed) for seed, body, printed in found]


def keep(rows: Iterable[tuple[CppProgram, str]], path: Path = FILE) -> None:
    """Add rows, once each."""
    kept = {program.lines: (program, printed) for program, printed in (*load(path), *rows)}
    seeds: set[int] = set()
    parts = []
    for program, printed in kept.values():
        seed = program.seed
        while seed in seeds:  # a seed names a function
            seed += 1
        seeds.add(seed)
        parts.append(f"=== {seed}\n" + "\n".join(program.lines) + f"\n--- prints\n{printed}")
    path.write_text("\n".join(parts), encoding="utf-8")
