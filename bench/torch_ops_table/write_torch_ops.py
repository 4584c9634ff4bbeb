#!/usr/bin/env python3
"""Writes guardfix/torch_ops/torch_ops.tsv, with torch installed: `bench/torch_ops_table/write_torch_ops.py`.

    write_torch_ops.py [--check] [--differences]

`--check` compares instead, and ends with status 1 if the file isn't what this makes. `--differences` shows where the
calls show something else than PyTorch declares.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import torch
from aten_rows import probe_row
from declared_ops import declared_rows
from layer_rows import layer_lines
from op_rows import Row
from op_samples import Samples
from own_samples import OWN
from python_rows import methods, namespace_functions, python_row
from tensor_names import property_lines, tensor_only_line

TABLE = Path(__file__).resolve().parents[2] / "guardfix" / "torch_ops" / "torch_ops.tsv"
_MOST = 8
_LISTS = {"Tensor[]"}


def _silenced() -> None:
    """PyTorch's C++ part warns of deprecated calls, which are the point here."""
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def table() -> tuple[str, list[str]]:
    """The text of the file, and the differences between declarations and calls."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    samples = Samples()
    rows = list(declared_rows())
    differences: list[str] = []
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        differences += probe_row(row, samples, _MOST)
        by_name.setdefault(row.name, []).append(row)

    spellings: list[str] = []
    for path, what in namespace_functions({*by_name}):
        if isinstance(what, str):
            if path == what:
                for row in by_name[what]:
                    row.spelled.add("f")
            else:
                spellings.append(f"{path}\t{what}")
            continue
        last = path.rpartition(".")[2]
        found = [*OWN.get(path, ()), *samples.of(path)] or samples.of(last) or OWN.get(last, [])
        lists = any(
            row.results[0] in {"tensors"} or row.results[0].startswith("views:") for row in by_name.get(last, ())
        )
        rows.append(python_row(path, "", what, found, lists, method=False))
    for name, method in methods({row.name for row in rows if "m" in row.spelled}):
        found = [*OWN.get(f"Tensor.{name}", ()), *samples.of(name)]
        lists = any(
            row.results[0] in {"tensors"} or row.results[0].startswith("views:") for row in by_name.get(name, ())
        )
        rows.append(python_row(f"Tensor.{name}", "", method, found, lists, method=True))
    lines = [row.written() for row in rows]
    return "\n".join(
        [*lines, "", *spellings, "", *layer_lines(), "", *property_lines(), "", *tensor_only_line(), ""]
    ), differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--differences", action="store_true", help="show where the calls contradict the declarations")
    arguments = parser.parse_args()
    os.environ.get("LOUD") or _silenced()
    text, differences = table()
    if arguments.differences:
        print("\n".join(differences))
    if arguments.check:
        return 0 if TABLE.read_text(encoding="utf-8") == text else 1
    TABLE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
