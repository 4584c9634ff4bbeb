"""What conditions rule out is not compiled by `torch.jit.script`. PyTorch decides the same."""

from __future__ import annotations

import itertools
import types
from pathlib import Path
from typing import Any

import pytest

from .written_modules import imported

HEAD = """
import types
from typing import List, Optional, Union

import {module} as torch
from {module} import Tensor

settings = types.ModuleType("settings")
settings.OFF = False
settings.COUNT = 0

"""
MISSING = "torch.ops.nowhere.op(x)"

NOT_COMPILED = [
    ("x: Tensor, a: bool", "if settings.OFF:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if settings.OFF and a:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if a and settings.OFF:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if a or not settings.OFF:\n    return x\nelse:\n    return M"),
    ("x: Tensor, a: bool", "if not (a and settings.OFF):\n    return x\nelse:\n    return M"),
    ("x: Tensor, a: bool", "return M if settings.OFF else x"),
    ("x: Tensor, a: bool", "return M if a and settings.OFF else x"),
    ("x: Tensor, a: bool", "if a and False:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if not torch.jit.is_scripting():\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if x is None:\n    return M\nreturn x"),
    ("x, a: bool", "if x is not None:\n    return x\nreturn M"),
    ("x: Tensor, a: bool", "if isinstance(x, list):\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if isinstance(x, Tensor):\n    return x\nreturn M"),
    ("x: List[int], a: bool", "if isinstance(x, (float, int)):\n    return [M]\nreturn x"),
    ("x: Tensor, a: bool", "if a:\n    return x\nelse:\n    return x + 1\nreturn M"),
    ("x: Union[Tensor, List[int]], a: bool", "if isinstance(x, list) and settings.OFF:\n    return M\nreturn x"),
]
COMPILED = [
    ("x: Tensor, a: bool", "if a:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if a or settings.OFF:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if not settings.OFF:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if settings.OFF == True:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "if settings.COUNT > 0:\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "off = False\nif off:\n    return M\nreturn x"),
    ("x: Optional[Tensor], a: bool", "if x is None:\n    return M\nreturn x"),
    ("x: Union[Tensor, List[int]], a: bool", "if isinstance(x, list):\n    return M\nreturn x"),
    ("x: Tensor, a: bool", "while settings.OFF:\n    x = M\nreturn x"),
    ("x: Tensor, a: bool", "if a:\n    return x\nreturn M"),
    ("x: Tensor, a: bool", "if torch.jit.is_scripting():\n    return M\nreturn x"),
]
ROWS = [*((*row, False) for row in NOT_COMPILED), *((*row, True) for row in COMPILED)]


def module_of(folder: Path, torch: str) -> types.ModuleType:
    """A module in which function `f0` is the first row, and so on."""
    text = HEAD
    for number, (parameters, body, _) in enumerate(ROWS):
        lines = body.replace("M", MISSING).split("\n")
        text += "\n".join([f"def f{number}({parameters}):", *(f"    {line}" for line in lines), "", "", ""])
    return imported(folder / "conditions.py", text, torch)


def is_compiled(module: Any, number: int) -> bool:
    """Whether the op that is nowhere was looked for."""
    try:
        module.torch.jit.script(getattr(module, f"f{number}"))
    except RuntimeError as error:
        if "has no attribute op" not in str(error):
            raise
        return True
    return False


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    return module_of(tmp_path_factory.mktemp("conditions"), "guardfix.runtime_shim")


@pytest.mark.parametrize(("number", "row"), list(zip(itertools.count(), ROWS)), ids=lambda one: str(one)[:90])
def test_what_is_compiled(shim: types.ModuleType, number: int, row: tuple[str, str, bool]) -> None:
    assert is_compiled(shim, number) is row[2]


@pytest.mark.oracle
def test_pytorch_compiles_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    theirs = module_of(tmp_path, "torch")
    wrong = [row for number, row in enumerate(ROWS) if is_compiled(theirs, number) is not row[2]]
    assert wrong == []
