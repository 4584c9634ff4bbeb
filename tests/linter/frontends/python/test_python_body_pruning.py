"""Leaving the functions out that name no guard changes nothing that is known of a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from guardfix.linter import guards
from guardfix.linter.facts import Facts
from guardfix.linter.files.sources import Source
from guardfix.linter.files.workspace import DISK
from guardfix.linter.frontends.python import python_body_pruning, python_extraction

FIXTURES = Path(__file__).parents[4] / "fixtures"
HEAD = "import torch\n"
GUARDED = "def g(x):\n    with torch.no_grad():\n        return x\n"

LEFT_OUT = {
    "a function": (
        "def f(x):\n    y = x + 1\n    return y\n",
        "def f(x):\n    (\n           )\n",
    ),
    "one row": ("def f(x):\n    return x\n", "def f(x):\n    (      )\n"),
    "a comment behind the last statement": (
        "def f(x):\n    return x\n    # done\n\n# next\n",
        "def f(x):\n    (      )\n    # done\n\n# next\n",
    ),
    "a comment in front of the first": (
        "def f(x):\n    # first\n\n    return x\n",
        "def f(x):\n    # first\n\n    (      )\n",
    ),
    "comments at the left margin in the middle": (
        "def f(x):\n    y = x\n# no end\n    return y\n",
        "def f(x):\n    (\n\n           )\n",
    ),
    "a docstring": ('def f(x):\n    """Says: def g()."""\n    return x\n', "def f(x):\n    (\n           )\n"),
    "a header on several rows": (
        'def f(\n    x: int = max(1, 2),\n    y: str = "a",\n) -> list[int]:\n    return x\n',
        'def f(\n    x: int = max(1, 2),\n    y: str = "a",\n) -> list[int]:\n    (      )\n',
    ),
    "a coroutine": ("async def f(x):\n    await x\n", "async def f(x):\n    (     )\n"),
    "columns count bytes": ('def f(x):\n    y = "ä"\n    return "ö"\n', "def f(x):\n    (\n              )\n"),
    "methods": (
        "class A:\n    n = 1\n\n    def f(self):\n        return 1\n\n    @staticmethod\n    def h():\n        return 22\n",
        "class A:\n    n = 1\n\n    def f(self):\n        (      )\n\n    @staticmethod\n    def h():\n        (       )\n",
    ),
    "only the method without a guard": (
        "class A:\n    def f(self):\n        return 1\n\n    def h(self):\n        with torch.enable_grad():\n"
        "            return 2\n",
        "class A:\n    def f(self):\n        (      )\n\n    def h(self):\n        with torch.enable_grad():\n"
        "            return 2\n",
    ),
}

KEPT = {
    "a guard": GUARDED,
    "a guard that decorates": "@torch.no_grad()\ndef f(x):\n    yield x\n",
    "a guard on a row of its own in front": "torch.no_grad()\ndef f(x):\n    yield x\n",
    "a function in a function with a guard": (
        "def f(x):\n    with torch.no_grad():\n        def h():\n            return x\n        return h\n"
    ),
    "a name of the module": "def f(x):\n    global torch\n    torch = x\n",
    "a string that goes on": "def f(x):\n    return '''\n    a\n'''\n",
    "two strings": 'def f(x):\n    y = """a"""\n    return y\n',
    "a comment on the last row": "def f(x):\n    return x  # done\n",
    "a row that goes on": "def f(x):\n    return x + \\\n1\n",
    "a semicolon": "def f(x):\n    return x;\n",
    "a body on the header's row": "def f(x): return x\n",
    "a comment in the header": "def f(x,  # one\n      y):\n    return x\n",
    "a class in a class": "class A:\n    class B:\n        def f(self):\n            return 1\n",
    "a function in an if": "if torch:\n    def f(x):\n        return x\n",
    "tabs": "def f(x):\n\treturn x\n",
}


@pytest.fixture(autouse=True)
def small_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_body_pruning, "FOCUS_FROM", 0)


@pytest.mark.parametrize(("text", "expected"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_bodies_without_guards_are_left_out(text: str, expected: str) -> None:
    found = python_body_pruning.without_idle_bodies((HEAD + text + GUARDED).encode(), guards.PYTHON)
    assert found == HEAD + expected + GUARDED
    whole, part = (ast.parse(one) for one in (HEAD + text + GUARDED, found))
    places = [[_extent(node) for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)] for tree in (whole, part)]
    assert places[0] == places[1]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _extent(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[object, ...]:
    return node.name, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, node.body[0].col_offset


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_what_may_matter_elsewhere_is_kept(text: str) -> None:
    assert python_body_pruning.without_idle_bodies((HEAD + text).encode(), guards.PYTHON) is None


@pytest.mark.parametrize(
    "text",
    ["with torch.inference_mode():\n    pass\n", "x = 1\r\n", "\f\n"],
    ids=["a guard with more rules", "CR LF", "form feed"],
)
def test_a_whole_file_is_kept(text: str) -> None:
    assert (
        python_body_pruning.without_idle_bodies((HEAD + "def f(x):\n    return x\n" + text).encode(), guards.PYTHON)
        is None
    )


def test_small_files_are_parsed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (HEAD + "def f(x):\n    return x\n").encode()
    monkeypatch.setattr(python_body_pruning, "FOCUS_FROM", len(text) + 1)
    assert python_body_pruning.without_idle_bodies(text, guards.PYTHON) is None


READ_WHOLE = {
    "an alias": "from torch import no_grad as quiet\ndef f(x):\n    with quiet():\n        yield x\n",
    "an attribute": (
        "class A:\n    def __init__(self):\n        self.guard = torch.no_grad()\n\n"
        "    def f(self):\n        self.guard.__enter__()\n"
    ),
    "a variable at the top": "guard = torch.no_grad()\ndef f(x):\n    guard.__enter__()\n",
    "a class": "@torch.no_grad()\nclass A:\n    x = 1\n    def f(self):\n        yield 1\n    def h(self):\n        yield 2\n",
    "a generator that is stepped elsewhere": (
        "def kept():\n    for y in steps(1):\n        last = y\n    return last\n"
        "def steps(x):\n    with torch.no_grad():\n        yield x\n"
    ),
    "a text that doesn't parse": (
        "def f(x):\n    y = [x,\n]\n    return y\ndef h(x):\n    with torch.no_grad():\n        yield x\n"
    ),
}


@pytest.mark.parametrize("text", READ_WHOLE.values(), ids=READ_WHOLE.keys())
def test_what_becomes_of_a_guard_elsewhere_is_seen(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("a.py", (HEAD + "def left_out():\n    return 1\n" + text).encode())
    assert python_body_pruning.without_idle_bodies(source.text, guards.PYTHON) is not None
    assert _known(source) == _known_whole(source, monkeypatch)


PYTHON_FIXTURES = sorted(path for path in FIXTURES.rglob("*.py"))


def test_there_are_fixtures() -> None:
    assert len(PYTHON_FIXTURES) > 50


@pytest.mark.parametrize("path", PYTHON_FIXTURES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_the_same_is_known_of_a_fixture(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = DISK.read(str(path))
    assert _known(source) == _known_whole(source, monkeypatch)


def _known(source: Source) -> list[str] | None:
    facts: Facts | None = python_extraction.extract_python(source)
    if facts is None:
        return None
    return [repr(getattr(facts, name)) for name in facts.__struct_fields__]


def _known_whole(source: Source, monkeypatch: pytest.MonkeyPatch) -> list[str] | None:
    monkeypatch.setattr(python_extraction, "without_idle_bodies", lambda text, words: None)
    return _known(source)
