"""The tree of a Python file is gone when the file has been read: no collection has to find it."""

from __future__ import annotations

import ast
import gc

import pytest

from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.garbage import collection_paused
from guardfix.linter.frontends.python.python_extraction import extract_python

TEXTS = {
    "functions in classes": "import torch\n\nclass Net:\n    def f(self):\n        with torch.inference_mode():\n"
    "            def g():\n                return self.x\n            return g()\n",
    "a cache": "import torch\n\nclass Net(torch.nn.Module):\n    @torch.inference_mode()\n    def fill(self):\n"
    "        if self.x is None:\n            self.x = torch.ones(1)\n\n    def forward(self, y):\n        self.fill()\n"
    "        return y * self.x\n",
    "declarations": "import torch\n\ndef f():\n    global x\n    x = 1\n\n@torch.no_grad()\ndef g():\n    yield x\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_no_tree_is_left(name: str) -> None:
    source = decode(TEXTS[name].encode(), "a.py")
    assert extract_python(source, named=("models",)) is not None  # what is made once is made here
    gc.collect()
    with collection_paused():
        before = {id(one) for one in gc.get_objects() if isinstance(one, ast.AST)}
        facts = extract_python(source, named=("models",))
        left = [one for one in gc.get_objects() if isinstance(one, ast.AST) and id(one) not in before]
    assert facts is not None
    assert [ast.dump(one) for one in left if one._fields] == []  # `Load` and the like are made once for all trees


@pytest.mark.parametrize("was_on", [True, False])
def test_collection_is_as_it_was_afterwards(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with collection_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()
