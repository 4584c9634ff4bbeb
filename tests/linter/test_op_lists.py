"""What ops do stands in `guardfix.torch_ops`: a list of op names in the linter has a reason of its own, in a line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import guardfix.torch_ops as torch_ops

LINTER = Path(__file__).parents[2] / "linter"
FEW = 3
"""Op names from which on a list is one of ops, if they are also a third of it."""
TYPES = frozenset({"bool", "char", "double", "float", "int", "long", "short"})
"""Methods of tensors that are called as C++'s types are."""
WITH_A_REASON = {
    "analysis/calls.py:_METHODS",
    "analysis/calls.py:QUERIES",
    "analysis/cpp_mode_switches.py:_NEVER_RAISES",
    "analysis/function_outlines.py:_COMMON",
    "analysis/idle_code.py:_MOVES_A_MODEL",
    "analysis/model_types.py:MODULES_GIVE_THEMSELVES",
    "analysis/own_op_calls.py:_KEEPS",
    "flow/recording.py:_GATHERS",
    "flow/saving_hazards.py:_FOLDING",
    "flow/tensors.py:_TENSOR_METHODS",
    "frontends/python/python_expressions.py:_BUILTINS",
    "rules/gf208_guard_after_work.py:_READS",
    "rules/gf508_inference_tensors_in_training.py:_NUMBERS",
}


def lists_of_ops() -> Iterator[tuple[str, bool]]:
    """The lists of op names at the top of the linter's modules, and whether a line says why each is there."""
    for path in sorted(LINTER.rglob("*.py")):
        text = path.read_text()
        lines, statements = text.split("\n"), ast.parse(text).body
        for statement, behind in zip(statements, [*statements[1:], None], strict=True):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                parts = (n.value for n in ast.walk(statement.value) if isinstance(n, ast.Constant))
                words = {word for part in parts if isinstance(part, str) for word in part.split()}
                ops = {word for word in words - TYPES if torch_ops.method(word) or torch_ops.function(word)}
                if len(ops) >= FEW and len(ops) * 3 >= len(words):
                    said = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
                    above = lines[statement.lineno - 2].startswith("#")
                    yield f"{path.relative_to(LINTER).as_posix()}:{statement.targets[0].id}", said or above


def test_what_ops_do_is_listed_once() -> None:
    assert dict(lists_of_ops()) == dict.fromkeys(WITH_A_REASON, True)
