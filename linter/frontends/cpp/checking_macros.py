"""Calls that are statements of their own kind: checks that raise, expectations of tests, and what never returns."""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.expressions import Expression, NamePath, Operation
from ...lazy_regex import lazy_regex

_CHECKS = dict.fromkeys(
    "TORCH_CHECK TORCH_CHECK_VALUE TORCH_CHECK_TYPE TORCH_CHECK_INDEX TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK_LINALG"
    " TORCH_CHECK_ARG TORCH_INTERNAL_ASSERT TORCH_INTERNAL_ASSERT_DEBUG_ONLY STD_TORCH_CHECK AT_ASSERT AT_ASSERTM"
    " AT_CHECK CAFFE_ENFORCE CUDA_KERNEL_ASSERT assert REQUIRE BOOST_REQUIRE ASSERT_TRUE".split(),
    0,
) | {"TORCH_CHECK_WITH": 1, "TORCH_CHECK_WITH_MSG": 1}
"""Which argument is the condition."""
_COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_COMPARISON = lazy_regex(r"(?:TORCH_CHECK|TORCH_DCHECK|CHECK|DCHECK|CAFFE_ENFORCE|ASSERT)_(EQ|NE|LT|LE|GT|GE)")
_ENDS = frozenset(
    "abort exit _exit _Exit quick_exit terminate unreachable rethrow_exception throw_with_nested longjmp"
    " __builtin_unreachable __builtin_trap __builtin_abort AT_ERROR C10_THROW_ERROR FAIL GTEST_FAIL GTEST_SKIP".split()
)
_EXPECTATION = lazy_regex(
    r"(?:EXPECT|ASSERT|REQUIRE|CHECK|WARN|BOOST_(?:CHECK|REQUIRE|WARN))_"
    r"(?:(?P<none>NO_?THROW)|(?:ANY_)?THROWS?|EXIT|(?:DEBUG_)?DEATH|EXCEPTION)(?:_[A-Z_]+)?"
)


def condition_of_check(called: NamePath, arguments: Sequence[Expression]) -> Expression | None:
    """What holds after the call; None where it isn't a check."""
    name = called.name
    if name in _CHECKS and len(called.path) == 1:
        place = _CHECKS[name]
        return arguments[place] if place < len(arguments) else None
    if not name.isupper():
        return None
    if name == "ASSERT_FALSE" and arguments:
        return Operation("!", (arguments[0],))
    compared = _COMPARISON.fullmatch(name)
    if compared is None or len(arguments) < 2:
        return None
    return Operation(_COMPARISONS[compared[1]], (arguments[0], arguments[1]))


def leaves_test(called: NamePath) -> bool:
    """Whether a check returns from the test where it fails, as GoogleTest's do."""
    return called.name.startswith("ASSERT_")


def never_returns(called: NamePath) -> bool:
    """Whether the process ends there, or something is thrown."""
    return called.name in _ENDS and called.path in ((called.name,), ("std", called.name))


def expects_exception(called: NamePath) -> bool | None:
    """Whether a test expects that its first argument raises; False if it expects the contrary, else None."""
    if called.name == "expectThrows":
        return True
    expectation = _EXPECTATION.fullmatch(called.name) if called.name.isupper() else None
    return expectation["none"] is None if expectation is not None else None
