"""docs/decisions.md promises what the code does: its tables are made from the signals, the policy and the weighing."""

from __future__ import annotations

import re

import pytest

from fixture_files import ROOT
from guardfix.linter.decision.decision_tables import TABLES, with_current_tables
from guardfix.linter.decision.policy import POLICY
from guardfix.linter.decision.signal_registry import signal_kinds

PAGE = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")


def test_the_tables_of_the_page_are_current() -> None:
    assert with_current_tables(PAGE) == PAGE, "run `make generate`"


def test_every_table_stands_in_the_page() -> None:
    assert set(re.findall(r"<!-- (\w+): generated -->", PAGE)) == set(TABLES)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        pytest.param("| `gradients-off` |", "| `gradients-of` |", id="a signal of another name"),
        pytest.param("| kernel | decisive |", "| kernel | weak |", id="another weight"),
        pytest.param("| `most_callers` | 50 |", "| `most_callers` | 51 |", id="another number"),
        pytest.param("| two strong signals | medium |", "| two strong signals | high |", id="another confidence"),
    ],
)
def test_a_wrong_word_in_a_table_is_put_right(said: str, wrong: str) -> None:
    assert said in PAGE
    assert with_current_tables(PAGE.replace(said, wrong)) == PAGE


def test_text_outside_the_tables_is_left_alone() -> None:
    changed = PAGE.replace("# How a use is decided", "# How uses are decided")
    assert with_current_tables(changed) == changed


def test_a_block_of_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="weather"):
        with_current_tables("<!-- weather: generated -->\n<!-- end of weather -->")


def test_every_signal_and_every_number_has_its_row() -> None:
    for name in [*(kind.name for kind in signal_kinds()), *POLICY.reasons()]:
        assert len(re.findall(rf"^\| `{name}` \|", PAGE, re.MULTILINE)) == 1
