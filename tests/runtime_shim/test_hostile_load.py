"""Files for torch.load that mean harm: refused with a message, quickly, and nothing has run."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as torch

SHIM = b"guardfix.runtime_shim."
REBUILD = b"c" + SHIM + b"aten.pickling\nrebuild\n"
ARRAY = b"c" + SHIM + b"serialization\nstored_array\n"


def text(value: bytes) -> bytes:
    return b"X" + len(value).to_bytes(4, "little") + value


def data(value: bytes) -> bytes:
    return b"B" + len(value).to_bytes(4, "little") + value


def plain(value: Any) -> bytes:
    """The opcodes that push a value of numbers, texts and tuples."""
    return pickle.dumps(value, 2)[2:-1]


def array(kind: bytes = b"float32", shape: Any = (2,), content: bytes = bytes(8), order: bytes = b"C") -> bytes:
    return ARRAY + b"(" + text(kind) + plain(shape) + text(order) + data(content) + b"tR"


def tensor(window: Any = ((2,), (4,), 0), *, storage: bytes = b"", flag: bytes = b"\x89", more: bytes = b"}") -> bytes:
    storage = storage or b"]" + b"(" + plain(0) + array() + b"e"
    return REBUILD + b"(" + storage + plain(window) + flag + more + b"tR"


def file(opcodes: bytes) -> io.BytesIO:
    return io.BytesIO(b"\x80\x02" + opcodes + b".")


def test_the_untouched_tensor_loads() -> None:
    assert torch.load(file(tensor())).tolist() == [0.0, 0.0]


class Reduces:
    """Pickled as a call."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def repeated(setup: bytes, once: bytes, times: int) -> bytes:
    """A tuple of what `setup` leaves, and of so many values that `once` makes of it."""
    return b"(" + setup + once * times + b"t"


LARGE = 1 << 20
"""Bytes of a value of which copies are asked for."""
NUMBERS = b"}(" + b"".join(plain(i) + b"N" for i in range(20_000)) + b"uq\x00"
TOWER: Any = ()
for _ in range(60):
    TOWER = (TOWER, TOWER)

HOSTILE = [
    pytest.param(pickle.dumps(Reduces(np.ndarray, (1,), "O", bytearray(8))), "numpy", id="an array of objects over bytes"),
    pytest.param(pickle.dumps(np.zeros(2)), "numpy", id="an array as numpy pickles it"),
    pytest.param(pickle.dumps(np.float64(1)), "numpy", id="a number as numpy pickles it"),
    pytest.param(pickle.dumps(np.dtype("O")), "numpy", id="a dtype of numpy's"),
    pytest.param(tensor(((2,), (4,), -8)), "sizes, strides and an offset", id="an offset before the storage"),
    pytest.param(tensor(((2,), (-4,), 4)), "sizes, strides and an offset", id="a stride that runs backwards"),
    pytest.param(tensor(((2,), (4,), 4)), "leaves its storage", id="an offset too far"),
    pytest.param(tensor(((3,), (4,), 0)), "leaves its storage", id="a size too large"),
    pytest.param(tensor(((2,), (1 << 40,), 0)), "leaves its storage", id="a stride too large"),
    pytest.param(tensor(((2,), (3,), 0)), "leaves its storage", id="a stride between the elements"),
    pytest.param(tensor(((2,), (4, 4), 0)), "sizes, strides and an offset", id="more strides than sizes"),
    pytest.param(tensor(((1 << 40,), (0,), 0)), "bytes of memory", id="one element a million million times"),
    pytest.param(tensor(((1,) * 65, (0,) * 65, 0)), "sizes, strides and an offset", id="too many dimensions"),
    pytest.param(tensor((TOWER, TOWER, TOWER)), "sizes, strides and an offset", id="sizes that share their parts"),
    pytest.param(tensor(((True,), (4,), 0)), "sizes, strides and an offset", id="a truth value for a size"),
    pytest.param(tensor(((2,), (8,), 0, "float64")), "leaves its storage", id="a larger dtype than the storage has room for"),
    pytest.param(tensor(((1,), (4,), 0, "object")), "not a dtype", id="a dtype of objects for a window"),
    pytest.param(tensor(((1,), (4,), 0, "<f4,<f4")), "not a dtype", id="a record for a dtype"),
    pytest.param(tensor(((1,), (4,), 0, "int8", "int8")), "sizes, strides and an offset", id="two dtypes"),
    pytest.param(tensor(((1,), (4,), 0, "int32"), flag=b"\x88"), "requires_grad", id="a view as integers with gradients"),
    pytest.param(tensor(storage=b"]"), "storage", id="an empty storage"),
    pytest.param(tensor(storage=b"]" + b"(" + plain(0) + plain("x") + b"e"), "storage", id="a text for a storage"),
    pytest.param(tensor(storage=b"]" + b"(" + plain(0) + array(b"int64", (1,)) + b"e", flag=b"\x88", window=((1,), (8,), 0)), "requires_grad", id="integers with gradients"),
    pytest.param(tensor(flag=plain(TOWER)), "requires_grad", id="a flag that is none"),
    pytest.param(tensor(more=b"}" + text(b"backward") + plain(1) + b"s"), "hide its own", id="an attribute in place of a method"),
    pytest.param(tensor(more=b"}" + text(b"_array") + plain(1) + b"s"), "hide its own", id="an attribute in place of the elements"),
    pytest.param(array(b"object", (1,)), "not a dtype", id="a dtype of objects"),
    pytest.param(array(shape=(3,)), "8 bytes for an array", id="too few bytes"),
    pytest.param(array(shape=(-2,)), "an array that is not made of", id="a negative extent"),
    pytest.param(array(shape=(1 << 61, 1 << 61)), "8 bytes for an array", id="extents whose product is huge"),
    pytest.param(array(order=b"K"), "an array that is not made of", id="an order that is none"),
    pytest.param(array(shape=(0, 1 << 62), content=b""), "an array that is not made of|Maximum|array is too big|too large", id="nothing of a huge extent"),
    pytest.param(b"cbuiltins\nbytearray\n" + plain((1 << 40,)) + b"R", "int where bytes is expected", id="a million million bytes"),
    pytest.param(b"cbuiltins\nset\ncbuiltins\nrange\n" + plain((1 << 40,)) + b"R\x85R", "range where list is expected", id="a set of a range"),
    pytest.param(b"ccollections\nCounter\ncbuiltins\nrange\n" + plain((1 << 40,)) + b"R\x85R", "range where dict is expected", id="a counter of a range"),
    pytest.param(repeated(b"cbuiltins\nbytearray\nq\x00" + data(bytes(LARGE)) + b"q\x01", b"h\x00h\x01\x85R", 1000), "bytes of memory", id="copies of bytes"),
    pytest.param(repeated(b"c_codecs\nencode\nq\x00" + text(b"a" * LARGE) + b"q\x01" + text(b"latin1") + b"q\x02", b"h\x00h\x01h\x02\x86R", 2000), "bytes of memory", id="encodings of a text"),
    pytest.param(repeated(NUMBERS + b"ccollections\nCounter\nq\x01", b"h\x01h\x00\x85R", 5000), "steps|bytes of memory", id="copies of a counter"),
    pytest.param(repeated(b"cbuiltins\nset\nq\x00](" + b"".join(map(plain, range(20_000))) + b"eq\x01", b"h\x00h\x01\x85R", 3000), "steps|bytes of memory", id="copies of a set"),
    pytest.param(repeated(b"}(" + b"".join(text(b"z%d" % i) + b"N" for i in range(20_000)) + b"uq\x32](" + plain(0) + array() + b"eq\x33", REBUILD + b"(h\x33" + plain(((2,), (4,), 0)) + b"\x89h\x32tR", 3000), "steps|bytes of memory", id="copies of attributes"),
    pytest.param(b"c" + SHIM + b"nn.state_dict\nStateDict\n" + plain((TOWER,)) + b"R", "not called like that|takes 0", id="a state dict of what shares its parts"),
    pytest.param(b"c" + SHIM + b"nn.state_dict\nStateDict\n](" + b"".join(plain((i * ((1 << 61) - 1), None)) for i in range(1, 20_000)) + b"e\x85R", "not called like that|takes 0", id="a state dict of keys of one hash"),
    pytest.param(b"(", "a value is missing", id="a mark alone"),
    pytest.param(b"c" + SHIM + b"core.dtypes\nSize\ncbuiltins\nrange\n" + plain((9,)) + b"R\x85\x81", "not made like that", id="a size of a range"),
    pytest.param(b"ccollections\ndefaultdict\nccollections\ndefaultdict\n\x85R", "something else than", id="a default dict of default dicts"),
    pytest.param(b"c" + SHIM + b"nn.state_dict\nStateDict\n)R}" + text(b"__class__") + plain(1) + b"sb", "a state for", id="a state with another attribute"),
    pytest.param(REBUILD + b"}" + text(b"__defaults__") + plain((1,)) + b"sb", "a state for", id="a state for a function"),
    pytest.param(b"}" + plain(TOWER) + plain(1) + b"s", "parts, counted", id="a key that shares its parts"),
    pytest.param(b"\x8f(" + plain(TOWER) + b"\x90", "parts, counted", id="an element of a set that shares its parts"),
    pytest.param(b"}]" + plain(1) + b"s", "a key of type list", id="a list for a key"),
    pytest.param(b"]q\x00h\x00a" + b"}h\x00" + plain(1) + b"s", "a key of type list", id="a list that contains itself for a key"),
    pytest.param(b"cos\nsystem\n" + text(b"touch ran") + b"\x85R", "os.system", id="a call of os"),
    pytest.param(b"(" + text(b"touch ran") + b"ios\nsystem\n", "INST", id="the old way to make an instance"),
    pytest.param(b"\x95" + b"\xff" * 8, "leaves 0 values", id="a frame of any size"),
    pytest.param(b"\x8d" + b"\xff" * 8, "not a complete pickle", id="a text of any size"),
    pytest.param(b"\x96" + b"\xff" * 7 + b"\x7f", "not a complete pickle", id="a byte array of any size"),
    pytest.param(b"I" + b"9" * 100_000 + b"\n", "INT|not a complete pickle", id="a number of many digits"),
    pytest.param(b"(" * 200_000, "leaves 200000 values", id="many marks"),
    pytest.param(b")" + b"\x85" * 100_000 + b"}q\x00h\x00", "leaves 3 values", id="a deep tuple"),
    pytest.param(b"h\x05", "BINGET", id="a memo that was never put"),
    pytest.param(b"Nr\xff\xff\xff\xff0", "POP", id="a huge memo index"),
]  # fmt: skip


@pytest.mark.parametrize(("opcodes", "message"), HOSTILE)
def test_a_file_that_means_harm(opcodes: bytes, message: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = opcodes if opcodes.startswith(b"\x80") else b"\x80\x02" + opcodes + b"."
    start = time.process_time()
    with pytest.raises(pickle.UnpicklingError, match=message) as caught:
        torch.load(io.BytesIO(content))
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 2000
    assert not list(tmp_path.iterdir())


def test_a_path_is_named(tmp_path: Any) -> None:
    path = tmp_path / "weights.pt"
    path.write_bytes(b"\x80\x02K.")
    with pytest.raises(pickle.UnpicklingError, match=r"weights\.pt: not a complete pickle"):
        torch.load(path)


@pytest.mark.parametrize(
    ("start", "value", "end"),
    [
        pytest.param(b"}(", b"N", b"u", id="a dict"),
        pytest.param(b"\x8f(", b"", b"\x90", id="a set"),
        pytest.param(b"cbuiltins\nset\n](", b"", b"e\x85R", id="a call of set"),
    ],
)
def test_numbers_with_one_hash_are_refused_in_time(start: bytes, value: bytes, end: bytes) -> None:
    """Python's dicts and sets compare each with all others then."""
    prime = (1 << 61) - 1
    values = b"".join(pickle.dumps(number * prime, 2)[2:-1] + value for number in range(1, 20_000))
    begin = time.process_time()
    with pytest.raises(pickle.UnpicklingError, match="steps"):
        torch.load(file(start + values + end))
    assert time.process_time() - begin < 1.5


def test_few_numbers_of_one_hash_in_many_dicts() -> None:
    value = {number: {0: "a", (1 << 61) - 1: "b", -1: 1, -2: 2, 0.5: 3} for number in range(2000)}
    written = io.BytesIO()
    torch.save(value, written)
    assert torch.load(io.BytesIO(written.getvalue())) == value
