"""Files that are hard to read: a finding or silence, never a crash, and no edit where the parser was lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.bounded_work import BoundedWork
from guardfix.linter.engine import Options, check
from guardfix.linter.frontends.forked_readers import FileLimits

GUARD = "import torch\nwith torch.no_grad:\n    pass\n"
NESTED_QUOTES = "name = f'{table['key']}'\n"


def found(tmp_path: Path, data: bytes) -> tuple[list[tuple[str, int]], Path]:
    path = tmp_path / "module.py"
    path.write_bytes(data)
    report = check([str(path)], Options(workers=1))
    rows = [(finding.code, report.project.files[finding.path].row(finding.span.start)) for finding in report.findings]
    return rows, path


READABLE = [
    pytest.param(GUARD.encode(), 2, id="plain"),
    pytest.param(b"\xef\xbb\xbf" + GUARD.encode(), 2, id="UTF-8 byte order mark"),
    pytest.param(b"\xff\xfe" + GUARD.encode("utf-16-le"), 2, id="UTF-16"),
    pytest.param(GUARD.replace("\n", "\r\n").encode(), 2, id="CRLF"),
    pytest.param(GUARD.replace("\n", "\r").encode(), 2, id="lone carriage returns"),
    pytest.param(GUARD.replace("    ", "\t").encode(), 2, id="tabs"),
    pytest.param(b"\x0cimport os\n\x0c\n" + GUARD.encode(), 4, id="form feeds"),
    pytest.param(b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + GUARD.encode(), 4, id="Latin-1 with a cookie"),
    pytest.param("# -*- coding: latin-1 -*-\nx = 'é'\n".encode() + GUARD.encode(), 4, id="a cookie that is wrong"),
    pytest.param(("x = 'äöü'; " + "import torch\nwith torch.no_grad: y = 'é'\n").encode(), 2, id="wide characters"),
    pytest.param((NESTED_QUOTES + GUARD).encode(), 3, id="nested quotes in an f-string (3.12)"),
    pytest.param(("x = f'''{\n    a['b']\n}''' f'{a['b']}é'\n" + GUARD).encode(), 5, id="f-string over several lines"),
    pytest.param(("type Pair[T] = tuple[T, T]\n" + GUARD).encode(), 3, id="type alias (3.12)"),
    pytest.param(("def first[T](x: T) -> T: return x\nclass A[T]: pass\n" + GUARD).encode(), 4, id="type parameters"),
    pytest.param(GUARD.rstrip().encode() + b" \\\n\n", 2, id="continued line at the end"),
    pytest.param(("x = '\\d'\n" + GUARD).encode(), 3, id="invalid escape"),
    pytest.param((GUARD + "if a: pass\n" + "elif b: pass\n" * 900).encode(), 2, id="a long chain of elif"),
    pytest.param((GUARD + "x = " + "(" * 150 + "1" + ")" * 150).encode(), 2, id="150 nested brackets"),
    pytest.param((GUARD + "x = a" + ".b" * 2000).encode(), 2, id="2,000 attributes"),
    *(
        pytest.param(GUARD.replace("pass", inside).encode(), 2, id=f"{inside[:12]}... under the guard")
        for inside in ("x = 1" + " + 1" * 900, "x = y" + ".z" * 900, "x = y" + "[0]" * 900, "x = " + "not " * 900 + "y")
    ),
]

UNREADABLE = [
    pytest.param((GUARD + "def broken(:\n").encode(), id="syntax error"),
    pytest.param((GUARD + "print 'Python 2'\n").encode(), id="Python 2"),
    pytest.param((GUARD + "except ValueError, error:\n    pass\n").encode(), id="Python 2's except"),
    pytest.param((GUARD + "\tx = 1\n        y = 2\n").encode(), id="tabs and spaces mixed"),
    pytest.param((GUARD + "x = " + "(" * 10_000 + ")" * 10_000).encode(), id="10,000 nested brackets"),
    pytest.param(
        (GUARD + NESTED_QUOTES + "x = " + "(" * 10_000 + ")" * 10_000).encode(), id="the same in 3.12's syntax"
    ),
    pytest.param((GUARD + "x = " + "-" * 50_000 + "1").encode(), id="50,000 signs"),
    pytest.param((GUARD + NESTED_QUOTES + "x = a" + ".b" * 50_000).encode(), id="50,000 attributes in 3.12's syntax"),
    pytest.param((GUARD + "'''never closed").encode(), id="open string"),
    pytest.param((GUARD + "x = (1,\n").encode(), id="open bracket"),
    pytest.param((GUARD + "x = \x01\n").encode(), id="control character"),
]


@pytest.mark.parametrize(("data", "row"), READABLE)
@pytest.mark.some(2)
def test_finds_and_mends_what_can_be_read(data: bytes, row: int, tmp_path: Path) -> None:
    rows, path = found(tmp_path, data)
    assert rows == [("GF403", row)]
    apply_fixes(fixes_for(check([str(path)], Options(workers=1)), choice=FixChoice(unsafe=True)))
    after = path.read_bytes()
    wide = data.startswith(b"\xff\xfe")
    old, new = ("no_grad:", "no_grad():")
    assert after == (
        data.replace(old.encode("utf-16-le"), new.encode("utf-16-le"))
        if wide
        else data.replace(old.encode(), new.encode())
    )


@pytest.mark.parametrize("data", UNREADABLE)
def test_says_nothing_and_edits_nothing_where_the_parser_was_lost(data: bytes, tmp_path: Path) -> None:
    rows, path = found(tmp_path, data)
    assert rows == []
    report = fixes_for(check([str(path)], Options(workers=1)), choice=FixChoice(unsafe=True))
    assert [facts.path for facts in report.partial] == [str(path)]
    apply_fixes(report)
    assert path.read_bytes() == data


def test_binary_and_empty_files_are_passed_over(tmp_path: Path) -> None:
    assert found(tmp_path, b"torch.no_grad()\0")[0] == []
    assert found(tmp_path, b"")[0] == []


@pytest.mark.parametrize(
    ("piece", "after"),
    [
        pytest.param("  y = y + y\n", "  return y.sum().backward()\n", id="in one line"),
        pytest.param("  with torch.enable_grad():\n    y = y * x\n", "  return y.sum().backward()\n", id="in blocks"),
        pytest.param("  y += y * x\n", "  y.sum().backward()\n", id="in place"),
    ],
)
def test_what_a_value_was_computed_from_is_kept_once(
    piece: str, after: str, tmp_path: Path, own_megabytes: int
) -> None:
    """However often it went into it: with each of these lines the memory tripled."""
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\ndef f(model, x, w):\n  with torch.inference_mode():\n    x = model(x)\n"
        f"  y = x * w\n{piece * 40}{after}"
    )

    def codes(name: str) -> list[str]:
        return [finding.code for finding in check([name], Options(workers=1, select=("GF501",))).findings]

    # Allocators reserve a gigabyte of addresses before they need any.
    work = BoundedWork(FileLimits(seconds=60, megabytes=own_megabytes + 4000))
    (found,) = work.each(codes, [str(path)], "checking it")
    assert set(found) == {"GF501"}
