#!/usr/bin/env python3
"""Writes guardfix/torch_ops/torch_ops.tsv, with PyTorch installed: `bench/torch_ops_table/write_torch_ops.py`.

    write_torch_ops.py [--check] [--differences]

`--check` compares instead, and ends with status 1 if the file isn't what this makes. `--differences` shows where the
calls contradict what PyTorch declares. It takes a minute of one core, and gives the same text each time.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from aten_rows import probe_row
from declared_ops import declared_rows
from layer_rows import layer_lines
from op_findings import is_list
from op_probe import Sample
from op_rows import Row
from op_samples import Samples
from own_samples import ONLY_OWN, OWN
from python_rows import namespace_functions, python_rows, tensor_methods
from tensor_names import attribute_lines, method_lines

TABLE = Path(__file__).resolve().parents[2] / "guardfix" / "torch_ops" / "torch_ops.tsv"


class Table:
    """The rows and spellings, as they are found."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        self.samples = Samples()
        self.rows = list(declared_rows())
        self.by_name: dict[str, list[Row]] = {}
        self.differences: list[str] = []
        self.spellings: list[str] = []
        for row in self.rows:
            self.differences += probe_row(row, self.samples)
            self.by_name.setdefault(row.name, []).append(row)
        self._functions()
        self._methods()

    def _functions(self) -> None:
        for path, what in namespace_functions({*self.by_name}):
            if not isinstance(what, str):
                self.rows += python_rows(path, what, self._samples(path), self._is_list(path))
            elif path == what:
                for row in self.by_name[path]:
                    row.spelled.add("f")
            else:
                self.spellings.append(f"{path}\t{what}")

    def _methods(self) -> None:
        for name, method in tensor_methods({row.name for row in self.rows if "m" in row.spelled}):
            path = f"Tensor.{name}"
            self.rows += python_rows(path, method, self._samples(path), self._is_list(path))

    def _samples(self, path: str) -> list[Sample]:
        own = OWN.get(path, [])
        if path in ONLY_OWN:
            return own
        last = path.rpartition(".")[2]
        return [*own, *(self.samples.of(path) or self.samples.of(last))] or OWN.get(last, [])

    def _is_list(self, path: str) -> bool:
        return any(map(is_list, self.by_name.get(path.rpartition(".")[2], ())))

    def text(self) -> str:
        """The file: ops, spellings, layers, attributes and methods, with an empty line between them."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from (row.written() for row in self.rows)
        for section in (self.spellings, layer_lines(), attribute_lines(), method_lines()):
            yield ""
            yield from section
        yield ""


def _silence() -> None:
    """PyTorch's C++ part warns of deprecated calls, which are made here on purpose."""
    errors = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stderr = errors  # Python's own errors are still shown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--differences", action="store_true", help="show where calls contradict the declarations")
    arguments = parser.parse_args()
    _silence()
    table = Table()
    text = table.text()
    if arguments.differences:
        print("\n".join(table.differences))
    if arguments.check:
        checked_in = TABLE.read_text(encoding="utf-8")
        print("\n".join(difflib.unified_diff(checked_in.splitlines(), text.splitlines(), "checked in", "made", n=0)))
        return int(checked_in != text)
    TABLE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
