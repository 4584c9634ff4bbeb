"""However the files are shared among processes, the findings are the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, Report, check
from guardfix.linter.frontends.extraction import POOL_FROM, Job, extract_all

KERNEL = """#include <torch/library.h>
at::Tensor k{n}(const at::Tensor& x) {{
  at::AutoNonVariableTypeMode guard;
  return helper(at::relu(x));
}}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {{ m.impl("op{n}", k{n}); }}
"""
COUNT = 4 * POOL_FROM


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(COUNT):
        (tmp_path / f"k{number:03}.cpp").write_text(KERNEL.format(n=number))
    (tmp_path / "binary.cpp").write_bytes(b"AutoNonVariableTypeMode\0")
    (tmp_path / "helper.cpp").write_text(
        "at::Tensor helper(at::Tensor x) { at::AutoNonVariableTypeMode g; return x; }\n"
    )
    return tmp_path


def told(report: Report) -> list[tuple[object, ...]]:
    return [(os.path.basename(f.path), f.span, f.code, f.decision, f.message) for f in report.findings]


@contextmanager
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@contextmanager
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize(
    ("workers", "executor"),
    [
        pytest.param(2, nullcontext, id="one other process"),
        pytest.param(4, nullcontext, id="three other processes"),
        pytest.param(1, threads, id="somebody's threads"),
        pytest.param(1, processes, id="somebody's processes"),
    ],
)
@pytest.mark.few("one other process", "somebody's processes")
def test_findings_do_not_depend_on_who_reads(tree: Path, workers: int, executor: type[nullcontext[None]]) -> None:
    alone = told(check([str(tree)], Options(workers=1)))
    with executor() as pool:
        shared = told(check([str(tree)], Options(workers=workers), executor=pool))
    assert len(alone) == COUNT + 1
    assert shared == alone


@pytest.mark.parametrize("workers", [2, 3])
def test_progress_counts_every_file(tree: Path, workers: int) -> None:
    hits = [("cpp", str(path), "") for path in sorted(tree.iterdir())]
    seen: list[tuple[int, int]] = []
    found = extract_all(Job(tuple(hits)), workers=workers, progress=lambda done, total: seen.append((done, total)))
    assert [facts.path for facts in found] == [path for _, path, _ in hits if "binary" not in path]
    assert seen == sorted(seen)
    assert seen[-1] == (COUNT + 2, COUNT + 2)
