"""Which invocations of wanted macros a file has, however many are wanted."""

from __future__ import annotations

import pytest

from guardfix.linter.frontends.cpp.macro_expansion import definitions, invocations, without_directives

MANY = {f"OTHER_{number}" for number in range(50)}


@pytest.mark.parametrize("others", [frozenset(), frozenset(MANY)], ids=["few", "many"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("REG_A(x)\nrest(4)\n", [("REG_A", ("x",))], id="directly"),
        pytest.param("#define BOTH(x) REG_A(x)\nBOTH(y)\n", [("REG_A", ("y",))], id="through another"),
        pytest.param(
            "#define BOTH(x) REG_A(x) REG_##x(1)\nBOTH(B)\n", [("REG_A", ("B",)), ("REG_B", ("1",))], id="pasted"
        ),
        pytest.param("#define EACH(m) m(1)\nEACH(REG_A)\n", [("REG_A", ("1",))], id="handed on"),
        pytest.param("#define BOTH(x) REG_C(x)\nBOTH(y)\n", [], id="another"),
    ],
)
def test_wanted_macros(text: str, found: list[tuple[str, tuple[str, ...]]], others: frozenset[str]) -> None:
    source = text.encode()
    wanted = frozenset({"REG_A", "REG_B"}) | others
    there = invocations(source, without_directives(source), wanted, definitions(source, source))
    assert [(one.macro, one.arguments) for one in there] == found
