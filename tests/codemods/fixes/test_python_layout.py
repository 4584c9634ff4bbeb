"""Edits of Python whose layout is in the way: several guards above one function, commas and comments anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check


def migrated(path: Path) -> str:
    """The file after one more `migrate --unsafe --apply`."""
    outcome = apply_fixes(fixes_for(check([str(path)], Options(workers=1)), choice=FixChoice(unsafe=True)))
    assert not outcome.refused
    assert not any(rewritten.held_back for rewritten in outcome.written)
    return path.read_text(encoding="utf-8")


def after_each_run(tmp_path: Path, text: str, runs: int) -> list[str]:
    path = tmp_path / "served.py"
    path.write_text("import torch\n\n\n" + text, encoding="utf-8")
    return [migrated(path).removeprefix("import torch\n\n\n") for _ in range(runs)]


BODY = "async def score(model, x):\n    return model(x)\n"


def under(header: str) -> str:
    return f"async def score(model, x):\n    {header}\n        return model(x)\n"


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        pytest.param(
            "@torch.enable_grad()\n@torch.no_grad()\n" + BODY,
            under("with torch.enable_grad(), torch.no_grad():"),
            None,
            id="the lower of two guards stays the inner one",
        ),
        pytest.param(
            "@torch.inference_mode()\n@torch.no_grad()\n" + BODY,
            under("with torch.inference_mode():"),
            None,
            id="what is redundant then goes with it",
        ),
        pytest.param(
            "@torch.no_grad()\n@torch.no_grad()\n" + BODY, under("with torch.no_grad():"), None, id="one guard twice"
        ),
        pytest.param(
            "@torch.no_grad  # saves memory\n# Measured.\n@torch.enable_grad()  # for now\n" + BODY,
            "# Measured.\n" + under("with torch.no_grad(), torch.enable_grad():  # saves memory  # for now"),
            None,
            id="comments behind and between the guards stay",
        ),
        pytest.param(
            "@torch.enable_grad()\n@app.get('/')\n@torch.no_grad()\n" + BODY,
            "@app.get('/')\n" + under("with torch.enable_grad(), torch.no_grad():"),
            None,
            id="a route between two guards stays",
        ),
        pytest.param(
            "@torch.enable_grad()\n@torch.no_grad()  # noqa: GF401\n" + BODY,
            "@torch.no_grad()  # noqa: GF401\n" + under("with torch.enable_grad():"),
            None,
            id="a guard that a comment says to leave alone stays",
        ),
        pytest.param(
            "".join(f"@torch.set_grad_enabled({n})\n" for n in range(9)) + BODY,
            "".join(f"@torch.set_grad_enabled({n})\n" for n in range(9)) + BODY,
            None,
            id="more guards than a with statement should have stay",
        ),
    ],
)
def test_guards_above_one_async_def_go_together(tmp_path: Path, text: str, first: str, second: str | None) -> None:
    settled = first if second is None else second
    assert after_each_run(tmp_path, text, 3) == [first, settled, settled]


@pytest.mark.parametrize(
    ("items", "left"),
    [
        pytest.param(
            "    torch.no_grad()  # why\n    , torch.inference_mode()\n",
            "    # why\n    torch.inference_mode()\n",
            id="the first item, its comma below",
        ),
        pytest.param(
            "    torch.inference_mode()\n    , torch.no_grad()  # why\n    , lock\n",
            "    torch.inference_mode()\n    # why\n    , lock\n",
            id="an item behind its comma",
        ),
        pytest.param(
            "    torch.no_grad()  # why\n    # and how\n    ,\n    torch.inference_mode(),\n",
            "    # why\n    # and how\n    torch.inference_mode(),\n",
            id="a comma on a line for itself, comments above",
        ),
        pytest.param(
            "    torch.inference_mode()\n    , torch.no_grad()\n",
            "    torch.inference_mode()\n",
            id="the last item behind its comma",
        ),
        pytest.param(
            "    torch.no_grad(),  # why\n    torch.inference_mode(),\n",
            "    # why\n    torch.inference_mode(),\n",
            id="the comma where one expects it",
        ),
    ],
)
def test_the_comment_of_an_item_that_goes_stays(tmp_path: Path, items: str, left: str) -> None:
    text = "with (\n{}):\n    pass\n"
    assert after_each_run(tmp_path, text.format(items), 2) == [text.format(left)] * 2
