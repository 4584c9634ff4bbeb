"""`torch.load` of files that PyTorch itself saved: as PyTorch has them, or refused with the reason."""

from __future__ import annotations

import collections
import io
import pickle
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as shim


def _text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def _storage(kind: str, key: str, count: int) -> bytes:
    """The persistent id of a storage."""
    name = f"ctorch\n{kind}\n".encode()
    return b"(" + _text("storage") + name + _text(key) + _text("cpu") + b"K" + bytes([count]) + b"tQ"


def _tensor(storage: bytes, offset: int, size: int, stride: int) -> bytes:
    """A vector over a storage."""
    window = b"K" + bytes([offset]) + b"K" + bytes([size]) + b"\x85K" + bytes([stride]) + b"\x85"
    hooks = b"ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + window + b"\x89" + hooks + b"tR"


def _file(pickled: bytes, records: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m/data.pkl", b"\x80\x02" + pickled + b".")
        for name, data in records.items():
            archive.writestr(f"m/{name}", data)
    return file.getvalue()


_FLOATS = {"data/0": np.arange(4, dtype=np.float32).tobytes(), "byteorder": b"little"}
_FLOAT = _storage("FloatStorage", "0", 4)


def test_two_tensors_of_one_storage() -> None:
    data = _file(_tensor(_FLOAT, 0, 4, 1) + _tensor(_FLOAT, 1, 2, 2) + b"\x86", _FLOATS)
    whole, part = shim.load(io.BytesIO(data))
    assert part.tolist() == [1, 3]
    whole[3] = 9
    assert part.tolist() == [1, 9]
    assert shim.load(io.BytesIO(data), weights_only=False)[1].stride() == (2,)


REFUSED = [
    pytest.param(_tensor(_FLOAT, 3, 2, 1), _FLOATS, "leaves its storage of 4 elements", id="beyond the storage"),
    pytest.param(_tensor(_storage("FloatStorage", "0", 5), 0, 5, 1), _FLOATS, "holds 16 bytes", id="a longer storage"),
    pytest.param(_tensor(_storage("FloatStorage", "7", 4), 0, 4, 1), _FLOATS, "data/7: the record of", id="none"),
    pytest.param(_tensor(_storage("OddStorage", "0", 4), 0, 4, 1), _FLOATS, "torch.OddStorage", id="of another type"),
    pytest.param(_tensor(_storage("FloatStorage", "../0", 4), 0, 4, 1), _FLOATS, "is not a number", id="a path"),
    pytest.param(_tensor(b"N", 0, 4, 1), _FLOATS, "a tensor without a storage", id="no storage"),
    pytest.param(b"cposix\nsystem\n" + _text("true") + b"\x85R", {}, "the global posix.system", id="a function"),
    pytest.param(b"ctorch\nnn\n)R", {}, "the global torch.nn", id="another name of torch's"),
    pytest.param(b"ctorch\nFloatStorage\n)R", {}, "is not called like that", id="a storage type that is called"),
    pytest.param(b"ctorch._utils\n_rebuild_tensor_v2\nN\x85R", {}, "missing", id="too few arguments"),
    pytest.param(b"N", {"constants.pkl": b""}, "which torch.jit.load reads", id="of torch.jit.save"),
    pytest.param(b"N", {"byteorder": b"middle"}, "byte order 'middle'", id="byte order"),
    pytest.param(b"N", {"data.pkl": b"N."}, "twice", id="a record twice"),
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("pickled", "records", "message"), REFUSED)
def test_a_file_that_means_harm(pickled: bytes, records: Mapping[str, bytes], message: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=message):
        shim.load(io.BytesIO(_file(pickled, records)))


@pytest.mark.parametrize("cut", [5, 60, 200, -30, -1])
def test_a_file_that_is_cut_short(cut: int) -> None:
    with pytest.raises(pickle.UnpicklingError):
        shim.load(io.BytesIO(_file(_tensor(_FLOAT, 0, 4, 1), _FLOATS)[:cut]))


def test_the_format_before_zip_files_is_refused() -> None:
    data = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)
    for weights_only in (True, False):
        with pytest.raises(pickle.UnpicklingError, match=r"before PyTorch 1\.6"):
            shim.load(io.BytesIO(data), weights_only=weights_only)


def _saved(torch: Any) -> dict[str, Callable[[], Any]]:
    """What is saved, by what it is."""
    nn = torch.nn
    base = torch.arange(24.0).reshape(2, 3, 4)
    whole = torch.arange(24).reshape(4, 6)
    kinds = [
        "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "complex128",
        "uint16", "uint32", "uint64", "complex32", "float8_e4m3fn",
    ]  # fmt: skip
    return {
        **{kind: lambda kind=kind: torch.tensor([0, 1, 1]).to(getattr(torch, kind)) for kind in kinds},
        **{f"empty {kind}": lambda kind=kind: torch.empty(0, 2, dtype=getattr(torch, kind)) for kind in kinds[:12]},
        "a number": lambda: torch.tensor(3.5),
        "special values": lambda: torch.tensor([float("nan"), float("inf"), -0.0]),
        "views of one storage": lambda: [whole, whole[1:], whole.t(), whole[:, ::2], whole.flatten()[5], whole[0:0]],
        "expanded": lambda: torch.ones(1, 3).expand(4, 3),
        "channels last": lambda: torch.rand(1, 2, 3, 3).to(memory_format=torch.channels_last),
        "conjugate": lambda: torch.ones(2, dtype=torch.complex64).conj(),
        "negative": lambda: torch.ones(2, dtype=torch.complex64).conj().imag,
        "a parameter": lambda: nn.Parameter(base),
        "a frozen parameter": lambda: nn.Parameter(base, requires_grad=False),
        "a tied parameter": lambda: (lambda p: {"a": p, "b": p, "data": p.data})(nn.Parameter(base)),
        "a buffer": lambda: nn.Buffer(base),
        "requires grad": lambda: base.clone().requires_grad_(),
        "a state dict": lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).state_dict(),
        "an optimizer": lambda: _stepped(torch).state_dict(),
        "containers": lambda: {"o": collections.OrderedDict(b=1, a=2), "l": [(), (1,), None, True, 2**70, -1, 1.5, "é", b"\0", 1j]},
        "more containers": lambda: [{1, 2}, collections.Counter("aab"), bytearray(b"ab")],
        "torch's own": lambda: [torch.Size([1, 2]), torch.device("cpu"), torch.float16, torch.bool],
        "sparse": lambda: torch.eye(2).to_sparse(),
        "quantized": lambda: torch.quantize_per_tensor(base, 0.1, 0, torch.qint8),
        "meta": lambda: torch.empty(2, device="meta"),
        "a module": lambda: nn.Linear(1, 1),
        "an array": lambda: np.ones(2),
        "a tensor with an attribute": lambda: _with_attribute(torch),
        "typed storage": lambda: base.untyped_storage(),
        "a layout": lambda: torch.strided,
    }  # fmt: skip


_REFUSED = {
    "uint16", "uint32", "uint64", "complex32", "float8_e4m3fn", "conjugate", "negative", "sparse", "quantized", "meta", "a module", "an array",
    "a tensor with an attribute", "typed storage", "a layout", "a buffer",
}  # fmt: skip
"""What may be refused."""


def _stepped(torch: Any) -> Any:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(2)).backward()
    optimizer.step()
    return optimizer


def _with_attribute(torch: Any) -> Any:
    made = torch.ones(2)
    made.note = "x"
    return made


def _plain(value: Any, seen: dict[int, int]) -> Any:
    """A value as texts and numbers; `seen` numbers the storages."""
    if hasattr(value, "untyped_storage"):
        address = value.untyped_storage().data_ptr()
        shared = seen.setdefault(address, len(seen)) if value.numel() else -1
        kind = type(value).__name__, str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset()
        wide = value.detach().resolve_conj()
        numbers = repr((wide.float() if "bfloat16" in str(value.dtype) else wide).tolist())
        return (*kind, value.requires_grad, value.is_leaf, value._version, shared, numbers)
    if isinstance(value, dict):
        metadata = _plain(getattr(value, "_metadata", None), seen)
        factory = getattr(value, "default_factory", None)
        return type(value).__name__, [(_plain(k, seen), _plain(v, seen)) for k, v in value.items()], metadata, factory
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_plain(one, seen) for one in value]
    return type(value).__name__, repr(value)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch_loads_it() -> None:
    torch = pytest.importorskip("torch")
    wrong = {}
    for name, make in _saved(torch).items():
        file = io.BytesIO()
        torch.save(make(), file)
        data = file.getvalue()
        try:
            found = shim.load(io.BytesIO(data))
        except pickle.UnpicklingError as error:
            if name not in _REFUSED:
                wrong[name] = str(error)
            continue
        expected = _plain(torch.load(io.BytesIO(data), weights_only=True), {})
        if (seen := _plain(found, {})) != expected:
            wrong[name] = f"{seen} instead of {expected}"
    assert wrong == {}


def test_what_is_wrong_is_said_with_its_place_once(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(_file(b"N", {"version": b"3", "constants.pkl": b"", "byteorder": b"middle"}))
    with pytest.raises(pickle.UnpicklingError) as raised:
        shim.load(path)
    assert str(raised.value) == f"{path}: an archive of torch.jit.save, which torch.jit.load reads"
    path.write_bytes(_file(b"N", {"version": b"3", "byteorder": b"middle"}))
    with pytest.raises(pickle.UnpicklingError) as raised:
        shim.load(path)
    assert str(raised.value) == f"{path}: byteorder: byte order 'middle', neither little nor big"
