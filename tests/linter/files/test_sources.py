"""Bytes -> text and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import check
from guardfix.linter.files.sources import BinaryFile, Unreadable, decode

TEXT = (
    "// Größe\r\n#include <torch/torch.h>\r\n"
    "struct F : torch::autograd::Function<F> {\n"
    "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {\r\n"
    "    at::AutoNonVariableTypeMode g(true);\t// é\r\n    return f(x);\n  }\r\n};\r\n// end"
)
MIGRATED = TEXT.replace("at::AutoNonVariableTypeMode g(true)", "at::AutoDispatchBelowADInplaceOrView g")

ENCODINGS = [
    pytest.param("utf-8", b"", id="UTF-8"),
    pytest.param("utf-8", b"\xef\xbb\xbf", id="UTF-8 with byte order mark"),
    pytest.param("utf-16-le", b"\xff\xfe", id="UTF-16 little endian"),
    pytest.param("utf-16-be", b"\xfe\xff", id="UTF-16 big endian"),
    pytest.param("latin-1", b"", id="Latin-1"),
]


@pytest.mark.parametrize(("encoding", "bom"), ENCODINGS)
def test_migration_keeps_encoding_mark_and_line_ends(encoding: str, bom: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_bytes(bom + TEXT.encode(encoding))
    outcome = apply_fixes(fixes_for(check([str(path)])))
    assert len(outcome.written) == 1
    assert path.read_bytes() == bom + MIGRATED.encode(encoding)


def test_latin_1_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(TEXT.encode("latin-1"))
    (facts,) = check([str(tmp_path)]).project
    assert facts.notes == ("not valid UTF-8 (byte 5); read as Latin-1",)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        pytest.param(b"\xff\xfea", Unreadable, id="half a UTF-16 character"),
        pytest.param(b"\xef\xbb\xbf\xff", Unreadable, id="a UTF-8 mark before other bytes"),
        pytest.param(b"a\0b", BinaryFile, id="NUL"),
    ],
)
def test_what_is_no_text(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        decode(data, "a.cpp")


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\r\nb\rc\n", "é\n🙂".encode()])
def test_encode_is_the_way_back(data: bytes) -> None:
    source = decode(data, "a.cpp")
    assert source.encode(source.text) == data


def test_rows_and_columns() -> None:
    source = decode("a\r\né🙂b\rc\n".encode(), "a.cpp")
    text = source.text
    assert source.position(text.index(b"b")) == (2, 3)
    assert source.position(text.index(b"c")) == (3, 1)
    assert source.position(len(text)) == (4, 1)
    assert [source.line(row) for row in (1, 2, 3)] == ["a", "é🙂b", "c"]


def test_binary_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"at::AutoNonVariableTypeMode g;\0")
    assert check([str(tmp_path)]).findings == []
