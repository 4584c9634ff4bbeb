"""A little fuzzing at every change, and what longer runs (`make fuzz`) once found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_targets import CORPUS, TARGETS


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_fuzzing_found_stays_fixed(path: Path) -> None:
    assert TARGETS[path.parent.name].failure(path.read_bytes()) == ""


@pytest.mark.parametrize("name", TARGETS)
@settings(deadline=None, max_examples=12, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_few_inputs(name: str, data: st.DataObject) -> None:
    assert TARGETS[name].failure(data.draw(TARGETS[name].inputs)) == ""
