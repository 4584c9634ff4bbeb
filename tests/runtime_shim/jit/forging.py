"""Archives with a fault: a sound one is taken apart, changed and put together again."""

from __future__ import annotations

import io
import pickle
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guardfix.runtime_shim import jit

ARCHIVES = Path(__file__).parent / "archives"
CODE = "code/__torch__.py"

Records = dict[str, bytes]


def records_of(name: str) -> Records:
    with zipfile.ZipFile(ARCHIVES / f"{name}.pt") as archive:
        return {entry.partition("/")[2]: archive.read(entry) for entry in archive.namelist()}


def zipped(records: Records, folder: str = "model", kind: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}"), data, kind)
    return out.getvalue()


# A model without attributes, whose pickle is short enough to be written by hand.

EMPTY_MODEL = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x88ub."
HEADER = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
"""
FORWARD = """  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
"""


def model(
    code: str | None = None,
    *,
    body: str | None = None,
    pickled: bytes = EMPTY_MODEL,
    constants: bytes = b"\x80\x02).",
    more: Records | None = None,
) -> Records:
    """The records of a small model. `body` is the body of `forward(self, x)`; `code` the whole file."""
    lines = (body or "return x").splitlines()
    text = code if code is not None else HEADER + FORWARD + "".join(f"    {line}\n" for line in lines)
    return {
        "data.pkl": pickled,
        CODE: text.encode("utf-8", "surrogateescape"),
        "constants.pkl": constants,
        "version": b"3\n",
        "byteorder": b"little",
        **(more or {}),
    }


def with_attribute(type_: str, opcodes: bytes, more: Records | None = None) -> Records:
    """A model with one attribute `a` of a type, whose value the opcodes push."""
    text = HEADER + f"  a : {type_}\n" + FORWARD + "    return x\n"
    start, end = EMPTY_MODEL[:-3], EMPTY_MODEL[-3:]
    return model(text, pickled=start + b"X\x01\x00\x00\x00a" + opcodes + end, more=more)


def integer(value: int) -> bytes:
    """The opcode that pushes an int."""
    return pickle.dumps(value, 2)[2:-1]


def tensor(
    size: tuple[int, ...] = (2,),
    stride: tuple[int, ...] = (1,),
    offset: int = 0,
    *,
    storage: bytes = b"FloatStorage",
    key: bytes = b"0",
    length: int = 2,
    location: bytes = b"cpu",
    requires_grad: bytes = b"\x89",
) -> bytes:
    """The opcodes that push a tensor."""

    def text(value: bytes) -> bytes:
        return b"X" + len(value).to_bytes(4, "little") + value

    def ints(values: tuple[int, ...]) -> bytes:
        return b"(" + b"".join(integer(value) for value in values) + b"t"

    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(("
        + text(b"storage")
        + b"ctorch\n"
        + storage
        + b"\n"
        + text(key)
        + text(location)
        + integer(length)
        + b"tQ"
        + integer(offset)
        + ints(size)
        + ints(stride)
        + requires_grad
        + b"ccollections\nOrderedDict\n)RtR"
    )


def patched(data: bytes, change: Callable[[bytearray], None]) -> bytes:
    out = bytearray(data)
    change(out)
    return bytes(out)


def refused(data: bytes, message: str, **limits: Any) -> jit.ArchiveError:
    """Loads an archive that has to be refused, quickly, and checks the error."""
    start = time.process_time()
    with pytest.raises(jit.ArchiveError) as caught:
        jit.load(io.BytesIO(data), limits=jit.Limits(**limits))
    assert message in str(caught.value)
    assert caught.value.archive is not None
    assert time.process_time() - start < 5
    return caught.value
