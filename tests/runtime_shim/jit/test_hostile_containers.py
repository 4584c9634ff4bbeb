"""Archives whose container is damaged or means harm: one error type, with the record and the reason."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from guardfix.runtime_shim import jit

from .forging import (
    CODE,
    EMPTY_MODEL,
    FORWARD,
    HEADER,
    model,
    patched,
    refused,
    zipped,
)

# The container.


@pytest.mark.parametrize("name", ["../x", "../../etc/passwd", "a/../b", "./x", "a//b", "a\\b", ""])
def test_names_that_leave_the_folder(name: str) -> None:
    refused(zipped(model(more={name: b"x"})), "is not a plain path")


def test_a_name_with_a_nul() -> None:
    data = zipped(model(more={"extra/xZy": b"x"}))
    refused(data.replace(b"extra/xZy", b"extra/x\0y"), "is not a plain path")


@pytest.mark.parametrize("name", ["/model/x", "C:/x", "../model/x"])
def test_absolute_names(name: str) -> None:
    out = io.BytesIO(zipped(model()))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(name, b"x")
    refused(out.getvalue(), "is not a plain path")


def test_a_record_in_no_folder() -> None:
    out = io.BytesIO(zipped(model()))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("data.pkl", b"x")
    refused(out.getvalue(), "is in no folder")


def test_two_folders() -> None:
    out = io.BytesIO(zipped(model()))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("other/data.pkl", b"x")
    refused(out.getvalue(), "expected one folder at the top, found model, other")


def test_a_name_that_stands_twice() -> None:
    out = io.BytesIO(zipped(model()))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("model/data.pkl", EMPTY_MODEL)
    refused(out.getvalue(), "stands twice")


@pytest.mark.parametrize("kept", [0, 10, 100, -1, -10, -30])
def test_a_file_cut_short(kept: int) -> None:
    refused(zipped(model())[:kept], "not a readable zip file")


def test_a_text_file_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_text("not a model")
    error = refused_path(path)
    assert str(path) in str(error)
    assert "not a readable zip file" in str(error)


def refused_path(path: Path) -> jit.ArchiveError:
    with pytest.raises(jit.ArchiveError) as caught:
        jit.load(path)
    return caught.value


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        jit.load(tmp_path / "none.pt")


def test_a_text_stream_is_a_wrong_argument() -> None:
    with pytest.raises(TypeError, match="binary mode"):
        jit.load(io.StringIO("x"))  # type: ignore[arg-type]


def test_a_compressed_bomb_by_its_ratio() -> None:
    data = zipped(model(more={"extra/zeros": bytes(30_000_000)}), kind=zipfile.ZIP_DEFLATED)
    assert len(data) < 40_000
    refused(data, "zip bomb")


def test_many_compressed_records_together() -> None:
    records = {f"extra/{i}": bytes(60_000) for i in range(40)}
    data = zipped(model(more=records), kind=zipfile.ZIP_DEFLATED)
    refused(data, "compressed records declare", deflated=1_000_000)


def central_entry(data: bytes, name: str) -> int:
    """The position of a record's entry in the central directory."""
    at = data.index(name.encode(), data.index(b"PK\1\2")) - 46
    assert data[at : at + 4] == b"PK\1\2"
    return at


def declare(data: bytes, name: str, *, compressed: int | None = None, size: int | None = None) -> bytes:
    def change(out: bytearray) -> None:
        at = central_entry(data, name)
        if compressed is not None:
            struct.pack_into("<I", out, at + 20, compressed)
        if size is not None:
            struct.pack_into("<I", out, at + 24, size)

    return patched(data, change)


def test_a_stored_record_that_declares_more_than_it_has() -> None:
    data = declare(zipped(model(more={"extra/x": b"12345678"})), "model/extra/x", size=1 << 30)
    refused(data, "is stored, but declares")


def test_a_stored_record_beyond_the_end() -> None:
    data = declare(zipped(model(more={"extra/x": b"1"})), "model/extra/x", size=1 << 30, compressed=1 << 30)
    refused(data, "reaches beyond the data")


@pytest.mark.parametrize("size", [10, 5000], ids=["declares less than it unpacks to", "declares more"])
def test_a_compressed_record_with_a_wrong_size(size: int) -> None:
    code = (HEADER + FORWARD + "    return x\n" + "# filler\n" * 100).encode()
    data = zipped(model(code.decode()), kind=zipfile.ZIP_DEFLATED)
    error = refused(declare(data, f"model/{CODE}", size=size), "")
    assert error.record == CODE


def test_overlapping_records() -> None:
    records = model(more={"extra/a": b"A" * 100, "extra/b": b"B" * 100})
    data = zipped(records)

    def change(out: bytearray) -> None:
        first = struct.unpack_from("<I", data, central_entry(data, "model/extra/a") + 42)[0]
        struct.pack_into("<I", out, central_entry(data, "model/extra/b") + 42, first)

    refused(patched(data, change), "overlaps another")


def test_a_flipped_bit_fails_the_checksum() -> None:
    data = zipped(model())

    def change(out: bytearray) -> None:
        out[data.index(b"return x")] ^= 1

    error = refused(patched(data, change), "Bad CRC-32")
    assert error.record == CODE


def test_an_encrypted_record() -> None:
    data = zipped(model())

    def change(out: bytearray) -> None:
        out[central_entry(data, "model/data.pkl") + 8] |= 1

    refused(patched(data, change), "is encrypted")


def test_an_unusual_compression() -> None:
    refused(zipped(model(), kind=zipfile.ZIP_LZMA), "compression method 14")


# What is in it.


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        ("data.pkl", "has no data.pkl"),
        ("constants.pkl", "looks like a file of torch.save"),
        ("version", "has no version record"),
        (CODE, "which code/ does not declare"),
    ],
)
def test_a_missing_record(gone: str, message: str) -> None:
    records = model()
    del records[gone]
    refused(zipped(records), message)


def test_an_export_archive_is_named() -> None:
    refused(zipped({"archive_format": b"pt2", "version": b"1"}), "of torch.export")


@pytest.mark.parametrize("version", [b"2", b"11", b"", b"x", b"1" * 50, b"\xff"])
def test_a_file_format_that_is_not_read(version: bytes) -> None:
    error = refused(zipped(model(more={"version": version})), "file format")
    assert error.record == "version"


def test_a_byte_order_that_is_neither() -> None:
    refused(zipped(model(more={"byteorder": b"middle"})), "neither little nor big")


def test_compressed_garbage_is_named() -> None:
    data = zipped(model(), kind=zipfile.ZIP_DEFLATED)
    raw = zlib.compressobj(wbits=-15)
    packed = raw.compress(model()[CODE]) + raw.flush()
    at = data.index(packed[:20])

    def change(out: bytearray) -> None:
        out[at : at + 20] = b"\xff" * 20

    assert refused(patched(data, change), "cannot be read").record == CODE
