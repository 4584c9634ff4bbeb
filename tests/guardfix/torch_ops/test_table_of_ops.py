"""The file itself: well formed, small, quick to read, and what PyTorch shows today."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

import pytest

from fixture_files import ROOT
from guardfix.torch_ops import op_table

FILE = ROOT / "guardfix/torch_ops/torch_ops.tsv"


def every_op() -> list[op_table.Op]:
    return [op for name in op_table.table().ops for mark in "cmfp" for op in op_table.ops(name, mark)]


def test_each_row_speaks_of_its_own_arguments() -> None:
    kinds = {"new", "tensors", "number", "none", "other"}
    for op in every_op():
        names = {argument.name for argument in op.arguments}
        spoken = {name for pair in (*op.saves, *op.may_save) for name in pair}
        spoken |= {*op.writes, *op.may_write, *op.options, *op.copied, *op.differentiable}
        spoken |= {result.partition(":")[2] for result in op.results if result not in kinds}
        assert spoken <= names, op
        assert {result.partition(":")[0] for result in op.results} <= kinds | {"view", "views", "alias", "maybe"}, op
        assert not {*op.saves} & {*op.may_save}, op
        assert op.results, op


def test_no_overload_has_two_rows() -> None:
    rows = [line.split("\t")[:3] for line in FILE.read_text().partition("\n\n")[0].split("\n")]
    counted = Counter((name, overload, "p" in marks) for name, overload, marks in rows)
    assert [row for row, count in counted.items() if count > 1] == []


def test_most_rows_are_probed() -> None:
    ops = {*every_op()}
    assert len(ops) > 1800
    assert sum(op.probed for op in ops) / len(ops) > 0.9


def test_the_file_is_small_and_read_within_5_ms() -> None:
    assert FILE.stat().st_size < 250_000
    taken = []
    for _ in range(20):
        op_table.table.cache_clear()
        start = time.process_time()
        op_table.table()
        taken.append(time.process_time() - start)
    assert min(taken) < 0.005, taken


def test_the_file_is_read_when_somebody_asks() -> None:
    code = "import guardfix.torch_ops as t; from guardfix.torch_ops import op_table as o; n = o.table.cache_info; "
    code += "a = n().currsize; t.function('mul'); print(a, n().currsize)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]


@pytest.mark.oracle
def test_the_file_is_what_pytorch_shows() -> None:
    command = [sys.executable, "bench/torch_ops_table/write_torch_ops.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
