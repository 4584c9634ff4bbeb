"""Whatever text it is given, guardfix ends, breaks nothing and touches nothing that it does not understand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from invariants import broken
from mutations import mutant, sources

EVERY_DAY = 120
IN_CI = 2000


def _failures(numbers: range) -> dict[int, str]:
    files = sources()
    found = {number: broken(*mutant(number, files), twice=True) for number in numbers}
    return {number: what for number, what in found.items() if what}


@pytest.mark.parametrize("part", range(2))
def test_some_mutants(part: int) -> None:
    size = EVERY_DAY // 2
    assert _failures(range(part * size, (part + 1) * size)) == {}


FOUND = Path(__file__).parent / "found"


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_what_mutants_found_stays_fixed(path: Path) -> None:
    """Texts that `bench/mutants.py --save` and the fuzzers reduced, each of something that once did not hold."""
    assert broken(path.name, path.read_bytes(), twice=True) == ""


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(8))
def test_many_mutants(part: int) -> None:
    size = IN_CI // 8
    assert _failures(range(part * size, (part + 1) * size)) == {}


def test_the_checks_see_what_they_are_for() -> None:
    from invariants import _CHECKS

    text = b"/* a */\r\nint x; // \xc3\xa9\r\n#if 0x0\r\nint y;\r\n#endif\r\n"
    for what, after in {
        "a place that cannot be parsed is new": text.replace(b"x;", b"x }"),
        "the byte order mark changed": b"\xef\xbb\xbf" + text,
        "a line end is new": text + b"int z;\n",
        "the last line's end changed": text.rstrip(b"\r\n"),
        "a character that is not ASCII changed": text.replace(b"\xc3", b""),
        "a comment, a literal or dead code changed": text.replace(b"int y", b"int z"),
    }.items():
        assert _CHECKS[what]("a.cpp", text, text)
        assert not _CHECKS[what]("a.cpp", text, after), what
    statements = b"void f() { PROTECT(g(); ::A (true); h();) }\n"
    unparsed = _CHECKS["a place that cannot be parsed is new"]
    assert unparsed("a.cpp", statements, statements.replace(b"::A (true)", b"c10::A guard"))
    assert not unparsed("a.cpp", statements, statements.replace(b"::A (true)", b"c10::A guard["))
    assert not _CHECKS["it does not compile any more"]("a.py", b"x = 1\n", b"x = \n")


def test_a_failure_is_reduced_to_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check is planted that an `int` does not survive the edit of a file."""
    from invariants import _CHECKS, reduced

    monkeypatch.setitem(_CHECKS, "planted", lambda name, before, after: b"int b" not in after)
    text = (
        b"#include <torch/script.h>\n// nothing to do with it\nint a;\nint b;\n\nstatic int c = 7;\n"
        b"void run(torch::jit::Module& m, at::Tensor x) {\n  at::AutoNonVariableTypeMode guard(true);\n"
        b"  m.forward({x});\n}\nint d;\n"
    )
    small = reduced("a.cpp", text, broken("a.cpp", text), twice=False)
    assert broken("a.cpp", small) == "planted"
    assert b"int b" in small
    assert b"AutoNonVariableTypeMode" in small
    assert len(small) < len(text) / 2
