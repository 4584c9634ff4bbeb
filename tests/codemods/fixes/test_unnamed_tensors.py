"""What is advised where the inference tensor has no name: a call's result, a parameter of a layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check

CPP = """#include <torch/torch.h>

at::Tensor make(at::Tensor x) {{
  c10::InferenceMode guard;
  return x * 2;
}}

void use(at::Tensor x) {{
  {0}
}}
"""
PYTHON = """import torch

def make(x):
    with torch.inference_mode():
        return x * 2

def use(x):
    {0}
"""


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        pytest.param(
            "a.cpp",
            CPP.format("at::Tensor y = make(x);\n  y.add_(1);"),
            "GF506",
            "make it an ordinary tensor first: `y = y.clone();`",
            id="a variable of C++",
        ),
        pytest.param("a.cpp", CPP.format("make(x).add_(1);"), "GF506", None, id="a result of C++"),
        pytest.param(
            "a.py",
            PYTHON.format("y = make(x)\n    y.add_(1)"),
            "GF501",
            "clone `y` after the block, or use `no_grad` for the block",
            id="a variable of Python",
        ),
        pytest.param(
            "a.py",
            PYTHON.format("make(x).add_(1)"),
            "GF501",
            "clone it after the block, or use `no_grad` for the block",
            id="a result of Python",
        ),
    ],
)
def test_advice(name: str, text: str, code: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    report = fixes_for(check([str(path)], Options(select=("ALL",), workers=1)))
    (finding,) = [one for one in report.findings if one.code == code]
    assert (finding.fix and finding.fix.message) == message
