"""Caches that a model fills when it is run first: what the bytes of a file say of them, and the walk over its tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from guardfix.linter import model_following
from guardfix.linter.engine import Options, check
from guardfix.linter.frontends.python.lazy_fill_signs import may_fill
from guardfix.linter.frontends.python.syntax_walking import walk

FORWARD = "class Net(nn.Module):\n    def forward(self, x):\n        {}\n        return x\n"
MAKES = "self.mask = torch.ones(3)"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(f"if self.mask is None:\n            {MAKES}", True, id="is None"),
        pytest.param(f"if not self.mask: {MAKES}", True, id="in one line"),
        pytest.param(f"if (x.dim() == 2\n                and self.mask is None\n        ):\n            {MAKES}", True, id="rows"),
        pytest.param(f"if not hasattr(self, 'mask'):  # first\n            {MAKES}", True, id="hasattr"),
        pytest.param(f'if x is None:\n            pass\n        elif not getattr(self, "mask", None):\n            {MAKES}', True, id="elif"),
        pytest.param(f"if self.mask is None:\n            def make():\n                return 1\n            {MAKES}", True, id="behind a def"),
        pytest.param(MAKES, False, id="filled anyway"),
        pytest.param(f"if self.other is None:\n            {MAKES}", False, id="another attribute is asked for"),
        pytest.param("if self.mask is None:\n            return x", False, id="filled nowhere"),
        pytest.param(f"if self.mask is None:\n            return x\n    def __init__(self):\n        {MAKES}", False, id="filled elsewhere"),
        pytest.param("if self.mask is None:\n            self.mask == x", False, id="compared"),
    ],
)  # fmt: skip
def test_whether_a_cache_may_be_filled_shows_in_the_bytes(code: str, expected: bool) -> None:
    text = FORWARD.format(code)
    compile(text, "net.py", "exec")
    assert may_fill(text.encode()) is expected


def test_no_further_file_is_read_where_no_model_fills_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = model_following.ModelFollowing.asked
    monkeypatch.setattr(
        model_following.ModelFollowing, "asked", lambda self, project: read.append("asked") or real(self, project)
    )
    (tmp_path / "net.py").write_text(FORWARD.format("x = x + 1"))
    (tmp_path / "evaluate.py").write_text(
        "import torch\nfrom net import Net\nnet = Net()\nwith torch.inference_mode():\n    net(1)\nprint(net)\n"
    )
    check([str(tmp_path)], Options(workers=1))
    assert read == []
    (tmp_path / "net.py").write_text(FORWARD.format(f"if self.mask is None:\n            {MAKES}"))
    check([str(tmp_path)], Options(workers=1))
    assert read
    read.clear()
    (tmp_path / "net.py").write_text(FORWARD.format("x = x + 1"))
    check([str(tmp_path)], Options(select=("GF504",), workers=1))
    assert read


def test_the_walk_leaves_out_contexts_alone() -> None:
    tree = ast.parse(Path(__file__).read_text())
    contexts = (ast.expr_context,)
    assert list(walk(tree)) == [node for node in ast.walk(tree) if not isinstance(node, contexts)]
