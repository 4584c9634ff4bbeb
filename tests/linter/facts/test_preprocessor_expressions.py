"""The value of `#if` conditions, as a preprocessor computes it."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from guardfix.linter.facts.preprocessor_expressions import value_of

KNOWN = {"TWO": 2, "ZERO": 0}

VALUES = [
    ("0", 0), ("00", 0), ("0x0", 0), ("0X00", 0), ("0b0", 0), ("0B00", 0), ("0'0", 0), ("1'000", 1000), ("010", 8),
    ("0L", 0), ("0u", 0), ("0UL", 0), ("0lu", 0), ("0ll", 0), ("0LLu", 0), ("0z", 0), ("0uz", 0), ("0x10u", 16),
    ("true", 1), ("false", 0), ("!1", 0), ("!0", 1), ("!!7", 1), ("not 1", 0), ("-0", 0), ("~~0", 0), ("+-1", -1), ("compl 0", -1),
    ("(0)", 0), ("((1))", 1), ("( 0 )", 0), ("1 - 1", 0), ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 2", -1), ("1 << 3", 8), ("8 >> 2", 2),
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("1 | 6 & 4 ^ 1", 5), ("2 > 1 > 0", 1), ("3 > 2 > 1", 0), ("1 == 1 == 1", 1), ("5 - 3 - 2", 0),
    ("1 < 2", 1), ("2 <= 2", 1), ("1 != 1", 0), ("1 not_eq 2", 1), ("1 and 0", 0), ("0 or 1", 1), ("1 bitand 2", 0), ("1 bitor 2", 3), ("1 xor 1", 0),
    ("1 ? 0 : 1", 0), ("0 ? 0 : 0 ? 5 : 6", 6), ("UNKNOWN ? 0 : 0", 0), ("UNKNOWN ? 0 : 1", None),
    ("-1 < 0", 1), ("-1 < 0u", 0), ("-1 > 1U", 1), ("0xFFFFFFFFFFFFFFFF == -1", 1), ("0x7fffffffffffffff + 1 < 0", 1),
    ("'a' == 97", 1), ("'A' == 65", 1), ("'\\0'", 0), ("'\\n'", 10), ("'\\x41' == 0101", 1), ("'ab'", 24930), ("L'\\0' && 0", 0), ("'\\''", 39),
    ("'\\xff' < 0", None), ("'é'", None), ("L'a'", 97), ("L'\\0'", 0), ("u8'\\0'", 0), ("L'a' > -1", None), ("u8'\\xff'", None), ("(1, 0)", 0), ("(0, 1, 2) - 2", 0), ("((1, 0) || 0, 3)", 3), ("(UNKNOWN, 0)", 0), ("1, 0", None), ("(1,)", None), ("(1 ? 2 : 3, 4)", 4), ("u'a' > -1", 0), ("'a'_x", None), ("'a", None), ("'\\q'", None), ("'abcde'", None),
    ("UNKNOWN", None), ("UNKNOWN && 0", 0), ("0 && UNKNOWN", 0), ("UNKNOWN || 1", 1), ("UNKNOWN || 0", None), ("UNKNOWN && 1", None),
    ("defined(UNKNOWN) && 0", 0), ("defined UNKNOWN && 0", 0), ("!defined(UNKNOWN) && 0", 0), ("0 && defined(UNKNOWN)", 0), ("defined(UNKNOWN)", None),
    ("defined(ZERO)", 1), ("defined TWO", 1), ("ZERO", 0), ("TWO - 2", 0), ("TWO >= 2 && !ZERO", 1), ("UNKNOWN * 0", None),
    ("__has_include(<torch/torch.h>) && 0", 0), ("__has_include(<torch/torch.h>)", None), ("__has_include(\"a.h\") || 1", 1), ("AT_LEAST(1, (2)) && 0", 0), ("AT_LEAST(1, 2)", None),
    ("1 / 0", None), ("1 % 0", None), ("0 && 1 / 0", 0), ("1 || 1 % 0", 1), ("1 ? 2", None), ("1 : 2", None), ("(1 ? 2) : 3", None), ("1 ? 0 ? 2 : 3 : 4", 3), ("0 ? 1 : 0 || 1", 1),
    ("(1 ? -1 : 0u) > 0", 1), ("!(1) + 1", 1), ("-2 - -3", 1), ("()", None), (")", None), ("2 (", None), ("1 ? (0 : 1)", None), ("", None), ("1 +", None), ("(1", None), ("1)", None), ("0 0", None), ("0.5", None), ("1e3", None),
    ("0x", None), ("09", None), ("1 <=> 1", None), ("= 1", None), ("\"0\"", None), ("#", None), ("''", None), ("f(", None), ("0b2", None), ("1 << 64", None),
    ("(" * 150 + "0" + ")" * 150, 0), ("(" * 100_000 + "0" + ")" * 100_000, 0), ("(" * 5000 + "0", None), ("1 ? " * 5000 + "0" + " : 1" * 5000, 0), ("0 ? 1 : " * 5000 + "0", 0), ("1 + (" * 5000 + "0" + ")" * 5000, 5000), ("!" * 5000 + "0", 0), ("9" * 5000, None),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "value"), VALUES, ids=[condition[:40] for condition, _ in VALUES])
def test_value(condition: str, value: int | None) -> None:
    assert value_of(condition, KNOWN) == value


@given(st.text(alphabet="0123456789xXbBuUlLzZ'\"\\!~+-*/%<>=&|^?:()#., definedA", max_size=60))
def test_any_text_has_a_value_or_none(condition: str) -> None:
    value = value_of(condition, KNOWN)
    assert value is None or -(1 << 63) <= value < 1 << 64


_WHOLE = st.sampled_from(
    ["0", "1", "2u", "0x10", "7L", "0b11", "true", "false", "'a'", "'\\0'", "u'a'", "'\\\\'", "'ab'"]
)
_EXPRESSIONS = st.recursive(
    _WHOLE,
    lambda inner: (
        st.tuples(st.sampled_from("!-~+"), inner).map(lambda parts: f"{parts[0]}({parts[1]})")
        | st.tuples(inner, st.sampled_from("+ - * / % < > <= >= == != & | ^ && ||".split()), inner).map(" ".join)
        | st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} ? {parts[1]} : {parts[2]})")
    ),
    max_leaves=8,
)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler here")
@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(st.lists(_EXPRESSIONS, min_size=20, max_size=20))
@example(["0 / 0 ? 0 : 0", "1"])
def test_as_the_compiler_has_it(conditions: list[str]) -> None:
    """Where it has a value: `0 / 0 ? 1 : 1` is an error for the compiler, and 1 whatever `0 / 0` is for the reader."""
    known = [condition for condition in conditions if value_of(condition, {}) is not None]
    text = "".join(f"#if {condition}\n{row} 1\n#else\n{row} 0\n#endif\n" for row, condition in enumerate(known))
    command = ["g++", "-E", "-P", "-w", "-x", "c++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    refused = {
        (int(line) - 1) // 5 for line in re.findall(r"^<stdin>:(\d+):\d+: error: division by zero", run.stderr, re.M)
    }
    assert run.returncode == bool(refused), run.stderr
    compiled = {int(row): int(value) for row, value in map(str.split, run.stdout.splitlines())}
    rows = [row for row in range(len(known)) if row not in refused]
    assert [compiled[row] for row in rows] == [int(bool(value_of(known[row], {}))) for row in rows]
