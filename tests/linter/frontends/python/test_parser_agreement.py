"""The two parsers of Python read every fixture, and files of the standard library, alike."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

import parser_agreement
from fixture_files import ROOT
from guardfix.linter.files.sources import Source, decode
from guardfix.linter.files.workspace import DISK
from parser_agreement import compare_parsers

WORDS = "open Lock suppress contextmanager property wraps raises skipIf patch subTest append".split()
"""Taken for guards, so that code without PyTorch has uses in every form."""
FIXTURES = sorted((ROOT / "fixtures" / "python").glob("*.py"))
LIBRARY = """
    contextlib.py threading.py typing.py functools.py ast.py dataclasses.py unittest/mock.py asyncio/tasks.py
    asyncio/locks.py concurrent/futures/process.py importlib/_bootstrap_external.py tempfile.py zipfile.py
    test/test_with.py test/test_contextlib.py test/test_patma.py test/test_fstring.py
    test/test_asyncgen.py test/test_decorators.py
""".split()
"""Some are not in every installation, and `zipfile` became a package in Python 3.12."""


def shown(source: Source, words: list[str]) -> list[str]:
    return [
        f"{source.path}:{source.row(one.span.start)}: {one.proposed} / {one.confirmed}"
        for one in compare_parsers(source, words).disagreements
    ]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
@pytest.mark.some(8)
def test_both_parsers_read_every_fixture_alike(path: Path) -> None:
    source = DISK.read(str(path))
    assert shown(source, WORDS) == []


@pytest.mark.parametrize("name", LIBRARY)
@pytest.mark.few("contextlib.py", "test/test_with.py")
def test_both_parsers_read_the_standard_library_alike(name: str) -> None:
    source = DISK.read_or_none(str(Path(sysconfig.get_path("stdlib"), name)))
    if source is None:
        pytest.skip("not installed")
    assert len(source.text) > 1000
    assert shown(source, WORDS) == []


def test_every_form_is_compared() -> None:
    code = b"import torch\n@torch.no_grad()\ndef f():\n    with torch.no_grad() as g: torch.no_grad\n"
    # three names, each also a use
    assert compare_parsers(decode(code, "module.py")).compared == 6


ONE_SIDED = [
    pytest.param("parse_python", None, ("no module", "a module"), id="libcst alone reads it"),
    pytest.param("whole", None, ("a module", "no module"), id="ast alone reads it"),
]


@pytest.mark.parametrize(("reader", "result", "words"), ONE_SIDED)
def test_a_file_that_one_parser_reads_alone_is_a_disagreement(
    reader: str, result: None, words: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = parser_agreement if reader == "parse_python" else parser_agreement.LibcstTrees
    monkeypatch.setattr(owner, reader, lambda argument: result)
    (found,) = compare_parsers(decode(b"import torch\n", "module.py")).disagreements
    assert (found.proposed, found.confirmed) == words


@pytest.mark.parametrize(
    "line",
    ["from x.no_grad import y", "from x.no_grad.z import y", "import x.no_grad.z", "import no_grad.x as no_grad"],
)
def test_the_path_in_an_import_is_no_name_to_compare(line: str) -> None:
    text = f"{line}\nx.no_grad.y\n".encode()
    assert compare_parsers(decode(text, "module.py")).disagreements == ()


def test_a_name_that_one_parser_reads_alone_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    real = parser_agreement._names_of_libcst
    monkeypatch.setattr(parser_agreement, "_names_of_libcst", lambda *arguments: list(real(*arguments))[1:])
    found = compare_parsers(decode(b"import torch\ntorch.no_grad()\n", "module.py")).disagreements
    assert [(one.proposed, one.confirmed) for one in found] == [("called name", "no such name")]


@pytest.mark.parametrize("code", [b"print 'x'\n", b"x = (\n"], ids=["Python 2", "an open bracket"])
def test_a_file_that_neither_reads_is_no_disagreement(code: bytes) -> None:
    assert compare_parsers(decode(code, "module.py")).disagreements == ()
