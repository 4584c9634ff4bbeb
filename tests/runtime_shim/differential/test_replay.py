"""The shim against the recorded runs of PyTorch 2.13."""

from __future__ import annotations

from collections import Counter

import pytest

import guardfix.runtime_shim as shim

from . import recording, suite
from .__main__ import RECORDED
from .generator import generate


@pytest.fixture(scope="module")
def recorded() -> list[recording.Recording]:
    return recording.load()


@pytest.mark.parametrize("profile", RECORDED)
@pytest.mark.few("documented")
def test_agrees_with_recorded_runs_of_torch(
    profile: str, recorded: list[recording.Recording], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [item for item in recorded if item.program.profile == profile]
    failures = [failure for item in runs if (failure := suite.check(item, shim))]
    rate = 1 - len(failures) / len(runs)
    with capsys.disabled():
        print(f"\n{profile}: {len(runs) - len(failures)} of {len(runs)} programs agree with torch, {rate:.2%}")
    causes = Counter(map(suite.cause, failures)).most_common(10)
    report = "\n".join(f"{count} x {cause}" for cause, count in causes)
    example = suite.explain(failures[0]) if failures else ""
    assert rate >= suite.TARGETS[profile], f"{report}\n\nthe first of {len(failures)}: {example}"


def test_recording_is_of_the_programs_that_the_generator_draws(recorded: list[recording.Recording]) -> None:
    """Else the recording is stale: `python -m tests.runtime_shim.differential record`."""
    assert len(recorded) >= 1500
    stale = [
        item.program.name for item in recorded if item.program != generate(item.program.profile, item.program.seed)
    ]
    assert not stale
