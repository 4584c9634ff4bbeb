"""Comments at a Python guard that is taken out: those that speak of guards are a doubt."""

from __future__ import annotations

import pytest

from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import Workspace

DECORATED = "import torch\n\n\n@torch.inference_mode()\n{}@torch.no_grad(){}\ndef f(x):\n    return x\n"
NESTED = "import torch\n\n\ndef f(x):\n    with torch.inference_mode():\n{}        with torch.no_grad():{}\n            g(x)\n"


@pytest.mark.parametrize(
    ("above", "behind", "doubt"),
    [
        pytest.param("", "", "", id="no comment"),
        pytest.param("", "  # speed", "", id="about something else"),
        pytest.param("", "  # noqa: X1 do not remove", "", id="for a linter"),
        pytest.param("", "  # do not remove", 'line {row} says "do not remove"', id="behind it"),
        pytest.param("# no_grad is for torch 1.8\n", "", 'line {above} says "no_grad is for torch 1.8"', id="above it"),
        pytest.param(
            "# see inference_mode\n# and the issue\n",
            "",
            'line {above} says "see inference_mode"',
            id="two lines above",
        ),
        pytest.param("x = 1  # no_grad\n", "", "", id="behind another statement"),
        pytest.param("# no_grad\n\n", "", "", id="apart from it"),
        pytest.param("'# no_grad'\n", "", "", id="in a string"),
    ],
)
@pytest.mark.parametrize("template", [DECORATED, NESTED], ids=["decorator", "with"])
def test_doubts(template: str, above: str, behind: str, doubt: str) -> None:
    indent = "        " if template is NESTED else ""
    if template is DECORATED and above[:1] in ("x", "'"):
        pytest.skip("no statement stands between decorators")
    text = template.format("".join(indent * (line != "\n") + line for line in above.splitlines(keepends=True)), behind)
    row = next(number for number, line in enumerate(text.split("\n"), 1) if "torch.no_grad()" in line)
    report = check(["/p/f.py"], Options(workers=1), workspace=Workspace.in_memory({"/p/f.py": text}))
    (finding,) = [one for one in fixes_for(report).findings if one.code == "GF407"]
    assert finding.fix is not None
    applied, message = finding.fix.applicability.value, finding.fix.message
    first = row - above.count("\n")
    expected = f"; a comment at {doubt.format(row=row, above=first)}" if doubt else ""
    assert (applied, message) == ("unsafe" if doubt else "safe", f"remove `torch.no_grad()`{expected}")
