"""Repositories made of the fixtures, as large and as many as a measurement asks for."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from guardfix.campaign.contained_tasks import run_task
from guardfix.campaign.repository_task import RepositoryTask, TaskResult

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
SOURCE = "synthetic:"
"""How the source of a repository begins that is made when it is looked at; its number follows."""
MEDIAN, SPREAD = 50, 1.18
"""Files of a repository: log-normal, so that the mean is twice the median."""
ONE_IN = 20
"""How many files have one with guards among them."""
_WORD = re.compile(r"\b(?:forward|helper|run|scale|value|input)\b")
_PLAIN = """#include <ATen/ATen.h>

namespace part_{0} {{

at::Tensor step_{0}(const at::Tensor& input, int64_t size) {{
  auto sum = at::zeros({{size}}, input.options());
  for (int64_t i = 0; i < size; ++i) {{
    sum = at::add(sum, input.select(0, i));
  }}
  return sum;
}}

}}  // namespace part_{0}
"""


@cache
def _fixtures() -> tuple[tuple[str, str], ...]:
    found = sorted([*FIXTURES.glob("cpp/*.cpp"), *FIXTURES.glob("python/*.py")])
    return tuple((path.suffix, path.read_text(encoding="utf-8", errors="replace")) for path in found)


def file_count(number: int) -> int:
    """How many files repository `number` has."""
    return max(1, round(random.Random(number).lognormvariate(0, SPREAD) * MEDIAN))


def write_repository(folder: Path, number: int, files: int) -> None:
    """Write the files of repository `number`: the same whenever, and wherever, it is made."""
    dice = random.Random(f"{number} files")
    for at in range(files):
        place = folder.joinpath(*(f"d{dice.randrange(8)}" for _ in range(dice.randrange(4))))
        place.mkdir(parents=True, exist_ok=True)
        if dice.randrange(ONE_IN):
            (place / f"plain_{at}.cpp").write_text(_PLAIN.format(f"{number}_{at}"))
        else:
            suffix, text = dice.choice(_fixtures())
            (place / f"file_{at}{suffix}").write_text(_WORD.sub(rf"\g<0>_{at}", text))


def run_synthetic(task: RepositoryTask) -> TaskResult:
    """`run_task` for a repository that is made before and removed afterwards, by the worker and in its time."""
    number = int(task.entry.source.removeprefix(SOURCE))
    folder = Path(tempfile.mkdtemp(prefix="guardfix-synthetic-"))
    try:
        write_repository(folder, number, file_count(number))
        result = run_task(replace(task, entry=replace(task.entry, source=str(folder))))
    finally:
        shutil.rmtree(folder)
    return replace(result, facts={**result.facts, "source": task.entry.source})
