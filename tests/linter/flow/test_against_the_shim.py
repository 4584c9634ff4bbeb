"""What the machine says of drawn programs is what they do: see `drawn`, and bench/flow_agreement.py for many."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator

import pytest

from guardfix.linter.flow import tensor_writes
from guardfix.runtime_shim.cpp.extension_module import bound_to
from guardfix.torch_ops.op_table import table
from tests.fixture_files import FIXTURES
from tests.linter.flow.drawn import concrete_runs
from tests.linter.flow.drawn.agreement import Compared, Rates, Runner, compared, explained, shrunk_failure
from tests.linter.flow.drawn.child_runs import ChildRuns
from tests.linter.flow.drawn.drawing import draw

PROGRAMS = 40
"""Each is compared again without what has stopped it, which makes more than twice as many."""
SURE = 0.8
"""The share of what is raised that the machine must call certain."""


@pytest.fixture
def on_the_shim() -> Iterator[Runner]:
    with bound_to("guardfix.runtime_shim"):
        yield concrete_runs.run


def failures(numbers: Iterable[int], runner: Runner, rates: Rates) -> Iterator[Compared]:
    for number in numbers:
        for one in compared(draw(number), runner):
            rates.add(one)
            if any(verdict.failed for verdict in one.verdicts):
                yield one


def check(numbers: Iterable[int], runner: Runner) -> None:
    rates = Rates()
    found = list(failures(numbers, runner, rates))
    assert not found, f"{explained(shrunk_failure(found[0], runner))}\n{rates.table()}"
    assert rates.count("raised", "certain") >= SURE * rates.total("raised") > 0, rates.table()


def test_agrees_with_the_shim(on_the_shim: Runner) -> None:
    check(range(PROGRAMS), on_the_shim)


@pytest.mark.oracle
def test_agrees_with_pytorch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch isn't installed")
    child = ChildRuns(sys.executable)
    try:
        check(range(1000, 1400), child)
    finally:
        child.close()


def test_fixtures_agree_with_the_shim(on_the_shim: Runner) -> None:
    rates = Rates()
    found = []
    for path in sorted((FIXTURES / "python").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "load_inline" in text:  # it compiles C++
            continue
        for one in compared(text, on_the_shim):
            rates.add(one)
            if any(verdict.failed for verdict in one.verdicts):
                found.append(f"{path.name}\n{explained(one)}")
    assert not found, "\n".join(found)
    assert rates.programs > 40


# -- the check can fail


def _writes_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tensor_writes, "write_tensor", lambda *given, **named: True)


def _saves(name: str, saved: str, patch: pytest.MonkeyPatch) -> None:
    """The rows of an op say that it saves something else."""
    rows = [line.split("\t") for line in table().ops[name]]
    patch.setitem(table().ops, name, ["\t".join([*row[:6], saved, *row[7:]]) for row in rows])


@pytest.mark.parametrize(
    "mutate",
    [
        pytest.param(_writes_nothing, id="the machine forgets what writing does"),
        pytest.param(lambda patch: _saves("mul", "", patch), id="a row saves too little"),
        pytest.param(lambda patch: _saves("add", "self<other other<self", patch), id="a row saves too much"),
    ],
)
@pytest.mark.thorough
def test_a_mistake_is_found(
    mutate: Callable[[pytest.MonkeyPatch], None], on_the_shim: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert next(failures(range(300), on_the_shim, Rates()), None) is not None


def test_a_failing_program_is_made_smaller(on_the_shim: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    _writes_nothing(monkeypatch)
    found = next(failures(range(300), on_the_shim, Rates()))
    small = shrunk_failure(found, on_the_shim)
    assert any(verdict.failed for verdict in small.verdicts)
    assert _lines(small) <= 10 < _lines(found) / 2, explained(small)


def _lines(program: Compared) -> int:
    return sum(bool(line.strip()) for line in program.text.split("\n"))
