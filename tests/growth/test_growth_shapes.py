"""Checking and fixing takes work in proportion to the sources: counted in calls, which no clock disturbs.

The shapes that are counted here hold at a few dozen repetitions; `bench/growth.py` measures all of them, by the clock.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from counted_work import exponent_of, exponent_of_counts
from growth_shapes import ALL

LIMIT = 1.15
"""Of the exponent: 1 is linear, 2 quadratic."""
SMALL = 20
LARGER = {
    "C++: overloads that call each other": 150,
    "C++: heap": 80,
    "C++: uses of chained aliases": 70,
    "depth: calls": 40,
    "flow: branches": 40,
}
"""Of shapes that cost a fixed part more from some sixty repetitions on, which isn't growth."""

COUNTED = (
    "depth: braces",
    "depth: namespaces",
    "depth: classes",
    "depth: conditions around",
    "depth: lambdas",
    "depth: lambdas without a guard",
    "depth: blocks with guards",
    "depth: ifs with guards",
    "depth: ifs",
    "depth: loops in loops",
    "depth: parentheses",
    "depth: calls",
    "depth: template arguments around a guard",
    "depth: guards in template arguments",
    "depth: guards in calls",
    "depth: optional guards in calls",
    "depth: lambdas with guards in calls",
    "depth: brackets that nothing closes",
    "depth: template arguments",
    "depth: initializer lists",
    "depth: indices",
    "depth: pointers",
    "depth: python calls",
    "depth: python lists",
    "depth: python signs",
    "files: files",
    "files: files that define the same helper",
    "files: files that define and call the same helper",
    "files: files that call one helper",
    "files: files that call the helper in the next one",
    "files: files with the same class",
    "files: files with the same struct of guards",
    "files: files with the same macro",
    "C++: functions",
    "C++: functions in one line",
    "C++: methods of one class",
    "C++: methods of one name",
    "C++: overloads of one name",
    "C++: overloads that call each other",
    "C++: aliases in namespaces",
    "C++: views of views below one guard",
    "C++: elif without uses",
    "C++: macros with parameters",
    "C++: below what is defined",
    "C++: templates",
    "C++: derived classes",
    "C++: guards in one scope",
    "C++: guards of one name in blocks",
    "C++: InferenceMode in blocks of one function",
    "C++: InferenceMode in branches of one function",
    "C++: InferenceMode and escapes",
    "C++: namespace scope",
    "C++: heap",
    "C++: guards on the heap of one function",
    "C++: old and other guards in one scope",
    "C++: one member that all methods change",
    "C++: members",
    "C++: aliases",
    "C++: chained aliases",
    "C++: uses of chained aliases",
    "C++: namespace aliases",
    "C++: structs of guards",
    "C++: structs of structs of guards",
    "C++: macros",
    "C++: macros of macros",
    "C++: macros beside the uses",
    "C++: helpers that call the next",
    "C++: helpers that call the one before",
    "C++: helpers that call each other",
    "C++: helpers without a guard",
    "C++: callers of one helper",
    "C++: one caller of many helpers",
    "C++: kernels that are registered",
    "C++: registrations of each kernel",
    "C++: copies of variables",
    "C++: changes in place",
    "C++: else-if",
    "C++: cases",
    "C++: loops",
    "C++: returns",
    "C++: suppressed",
    "C++: suppressed in the next line",
    "C++: suppressions that never end",
    "C++: suppressions without an end",
    "C++: codes in one suppression",
    "C++: suppressions of nothing",
    "C++: comments",
    "C++: includes",
    "C++: includes of headers for guards",
    "C++: dead code",
    "files: files with the same alias",
    "files: files that use one macro",
    "C++: using-declarations",
    "C++: variables",
    "C++: conditions inside",
    "C++: threads",
    "C++: members of one class",
    "C++: guards and calls in one scope",
    "Python: with-blocks in one function",
    "Python: escapes",
    "Python: escapes from one function",
    "Python: assigned guards",
    "Python: guards above one function",
    "Python: lazy caches of one class",
    "Python: yields under one guard",
    "files: python files that import the one before",
    *(name for name in ALL if name.startswith("flow: ")),
)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.few("C++: guards in one scope", "files: files with the same macro", "depth: lambdas without a guard")
def test_work_grows_with_the_sources(name: str, tmp_path: Path) -> None:
    assert exponent_of(ALL[name][0], LARGER.get(name, SMALL), tmp_path) <= LIMIT


def test_a_square_is_seen() -> None:
    counts = {doubled: 1000 + 50 * size + size * size for doubled, size in enumerate((20, 40, 80))}
    assert exponent_of_counts(counts) > LIMIT
