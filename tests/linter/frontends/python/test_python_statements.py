"""Python's statements in the form that both languages share, as they are printed."""

from __future__ import annotations

import textwrap

from guardfix.linter.facts import Facts
from guardfix.linter.facts.packing import pack, unpack
from guardfix.linter.facts.statements import Body
from guardfix.linter.files.sources import decode
from guardfix.linter.frontends.python.python_extraction import extract_python

HEAD = "import torch\nG = torch.no_grad()\n"


def body_of(code: str) -> Body:
    """The body of a module that has a guard besides this code."""
    facts = extract_python(decode((HEAD + code).encode(), "a.py"), with_models=True)
    assert facts is not None
    assert unpack(Facts, pack(facts)).bodies == facts.bodies
    (body,) = facts.bodies
    return body


def printed(code: str) -> str:
    lines = str(body_of(code)).splitlines()
    assert lines[:3] == ["module:", "    import torch as torch", "    G = torch.no_grad()"]
    return textwrap.dedent("\n".join(lines[3:]))


SAME = {
    "assignment": "a = b = f(x)",
    "unpacking": "(a, *b) = [c, d] = f(x)",
    "to an attribute and an element": "a.b = a[0].c = 1",
    "changing": "x += y",
    "an annotation with a value": "declare x: int = 1",
    "return": "def f(x):\n    return",
}


def test_a_module_is_one_body() -> None:
    assert printed("x = 1\n") == "x = 1"
