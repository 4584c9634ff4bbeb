"""Archives that are damaged or mean harm: one error type, file and reason in it, and nothing has run."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from guardfix.runtime_shim import jit

from .forging import (
    CODE,
    EMPTY_MODEL,
    FORWARD,
    HEADER,
    Records,
    integer,
    model,
    records_of,
    refused,
    tensor,
    with_attribute,
    zipped,
)

TWO_FLOATS = {"data/0": bytes(8)}


def test_the_untouched_model_loads() -> None:
    module = jit.load(io.BytesIO(zipped(model())))
    assert module.training is True
    assert module.forward.schema == "forward(__torch__.M self, Tensor x) -> Tensor"


def test_an_attribute_of_the_forge_loads() -> None:
    module = jit.load(io.BytesIO(zipped(with_attribute("Tensor", tensor(), TWO_FLOATS))))
    assert module.a.tolist() == [0.0, 0.0]


# The pickle.


class Bomb:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch ran",)


@pytest.mark.parametrize(
    "pickled",
    [
        pickle.dumps(Bomb(), 2),
        pickle.dumps(Bomb(), 0),
        pickle.dumps(Bomb(), 4),
        b"\x80\x02cos\nsystem\nX\x09\x00\x00\x00touch ran\x85R.",
        b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02c__builtin__\nexec\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02(X\x09\x00\x00\x00touch ranios\nsystem\n.",
        b"\x80\x02cbuiltins\ngetattr\n.",
        b"\x80\x02ctorch\nload\n.",
        b"\x80\x02ctorch.jit._pickle\nrestore_type_tag.__globals__\n.",
        b"\x80\x02c__torch__.os\nsystem\n)\x81}b.",
        b"\x80\x02c__torch__\nM\nX\x09\x00\x00\x00touch ran\x85R.",
        b"\x80\x02ctorch\nFloatStorage\n)R.",
        b"\x80\x02ccollections\nOrderedDict\n)\x81.",
        b"\x80\x02ccollections\nOrderedDict\n}b.",
        b"\x80\x02K\x01)R.",
    ],
    ids=lambda data: ascii(data)[:60],
)
@pytest.mark.parametrize("record", ["data.pkl", "constants.pkl"])
def test_code_in_a_pickle(pickled: bytes, record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused(zipped(model(more={record: pickled})), "")
    assert error.record == record
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "pickled",
    [
        b"",
        b".",
        b"\x80\x02",
        b"\x80\x02}",
        b"\x80\x02t.",
        b"\x80\x02h\x05.",
        b"\x80\x02]K\x01u.",
        b"\x80\x02X\xff\xff\xff\x7fabc.",
        b"\x80\x02}(]K\x01u.",
        b"\x80\x02K\x01K\x02.",
        b"\x80\x02" + b"(" * 100_000 + b".",
        b"\x80\x02" + b")" + b"\x85" * 100_000 + b".",
        b"\x80\x02Nr\xff\xff\xff\xff0.",
        b"\x80\x02\x8a\xff" + b"\xff" * 255 + b".",
        EMPTY_MODEL[:-1],
        EMPTY_MODEL[:20],
        EMPTY_MODEL[:-1] + b"}b.",
        b"\x80\x02c__torch__\nM\n)\x81.",
        b"\x80\x02c__torch__\nM\n)\x81}b.",
        b"\x80\x02c__torch__\nM\n)\x81K\x01b.",
        b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00trainingK\x01sb.",
        b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x88sX\x01\x00\x00\x00zNsb.",
        b"\x80\x02}.",
        b"\x80\x02N.",
    ],
    ids=lambda data: ascii(data)[:60],
)
def test_a_malformed_pickle(pickled: bytes) -> None:
    refused(zipped(model(more={"data.pkl": pickled})), "data.pkl")


def test_a_list_that_contains_itself() -> None:
    refused(zipped(with_attribute("List[List[int]]", b"]q\x00h\x00a")), "a value that contains itself")


def test_a_module_that_contains_itself() -> None:
    code = HEADER + "  child : __torch__.M\n" + FORWARD + "    return x\n"
    pickled = EMPTY_MODEL[:-3].replace(b"\x81}", b"\x81q\x00}") + b"X\x05\x00\x00\x00childh\x00ub."
    refused(zipped(model(code, pickled=pickled)), "contains itself")


# Attributes and tensors.


@pytest.mark.parametrize(
    ("type_", "opcodes"),
    [
        ("int", b"G\x3f\xf0\x00\x00\x00\x00\x00\x00"),
        ("int", b"X\x01\x00\x00\x00a"),
        ("int", b"\x8a\x09" + b"\xff" * 8 + b"\x01"),
        ("Tensor", b"K\x01"),
        ("List[int]", b"]X\x01\x00\x00\x00aa"),
        ("Dict[str, int]", b"}X\x01\x00\x00\x00aNs"),
        ("Tuple[int, int]", b"K\x01\x85"),
        ("__torch__.M", b"K\x01"),
        ("__torch__.Missing", b"K\x01"),
        ("Optional[int]", b"X\x01\x00\x00\x00a"),
    ],
)
def test_a_value_that_is_not_of_its_type(type_: str, opcodes: bytes) -> None:
    refused(zipped(with_attribute(type_, opcodes)), "declared as")


@pytest.mark.parametrize(
    ("opcodes", "message"),
    [
        (tensor((3,)), "leaves its storage"),
        (tensor((2,), (2,)), "leaves its storage"),
        (tensor((2,), (1,), 1), "leaves its storage"),
        (tensor((0,), (1,), 3), "leaves its storage"),
        (tensor((-1,)), "offset 0, sizes (-1,)"),
        (tensor((2,), (-1,), 1), "strides (-1,)"),
        (tensor((2,), ()), "strides ()"),
        (tensor((1 << 61,), (0,)), "a tensor of"),
        (tensor((1 << 20,) * 3, (0,) * 3), "a tensor of"),
        (tensor((1,) * 1000, (0,) * 1000), "a tensor with offset"),
        (tensor(length=3), "holds 8 bytes, but 3 elements of float32 need 12"),
        (tensor(length=1), "holds 8 bytes"),
        (tensor(length=-1), "holds 8 bytes"),
        (tensor(length=1 << 62), "holds 8 bytes"),
        (tensor(key=b"1"), "record of this storage is missing"),
        (tensor(key=b"../data.pkl"), "is not a number"),
        (tensor(key=b"0/../../x"), "is not a number"),
        (tensor(storage=b"QInt8Storage"), "not supported"),
        (tensor(storage=b"EvilStorage"), "not supported"),
        (tensor(storage=b"LongStorage", length=1, size=(1,), requires_grad=b"\x88"), "that requires grad"),
        (tensor(location=b"cuda:0"), "map_location"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_tensor_that_does_not_fit_its_storage(opcodes: bytes, message: str) -> None:
    refused(zipped(with_attribute("Tensor", opcodes, TWO_FLOATS)), message)


def test_one_storage_with_two_types() -> None:
    both = tensor() + tensor(storage=b"LongStorage", length=1, size=(1,)) + b"\x86"
    refused(zipped(with_attribute("Tuple[Tensor, Tensor]", both, TWO_FLOATS)), "declared twice")


def test_another_device_loads_when_told_where_to() -> None:
    data = zipped(with_attribute("Tensor", tensor(location=b"cuda:0"), TWO_FLOATS))
    assert jit.load(io.BytesIO(data), map_location="cpu").a.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="only 'cpu'"):
        jit.load(io.BytesIO(data), map_location="cuda:0")


def test_big_endian_tensors_are_turned() -> None:
    records = with_attribute("Tensor", tensor(), {"data/0": struct.pack(">2f", 1.5, -2.0), "byteorder": b"big"})
    assert jit.load(io.BytesIO(zipped(records))).a.tolist() == [1.5, -2.0]


def test_bytes_of_a_bool_are_zero_or_one() -> None:
    flags = tensor((3,), storage=b"BoolStorage", length=3)
    module = jit.load(io.BytesIO(zipped(with_attribute("Tensor", flags, {"data/0": b"\x00\x02\xff"}))))
    assert (module.a | module.a).tolist() == [False, True, True]


# The code.


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import os\n", 1),
        ("from os import system\n", 1),
        ("open('ran', 'w')\n", 1),
        ("x = 1\n", 1),
        ("if 1:\n  import os\n", 1),
        (HEADER + "  open('ran', 'w')\n", 5),
        (HEADER + "  x = open('ran', 'w')\n", 5),
        (HEADER + "  K : Final[int] = open('ran')\n", 5),
        (HEADER + "  __slots__ = ['a']\n", 5),
        ("class M(open('ran', 'w')):\n  pass\n", 1),
        ("class M(Module, metaclass=type):\n  pass\n", 1),
        ("@open\nclass M(Module):\n  pass\n", 2),
        (HEADER + "  @staticmethod\n  def f(self) -> int:\n    return 1\n", 6),
        (HEADER + "  def f(self, *x) -> int:\n    return 1\n", 5),
        (HEADER + "  def f(self, x: int=open('ran')) -> int:\n    return x\n", 5),
        (HEADER + "  def f(self, x: open('ran')) -> int:\n    return x\n", 5),
        (HEADER + "  def f() -> int:\n    return 1\n", 5),
        (HEADER + HEADER, 5),
        ("class N(NamedTuple):\n  _x : int\n", 1),
        ("def f(:\n", 1),
        ("def f(x: int) -> int:\n  return " + "(" * 300 + "x" + ")" * 300 + "\n", 2),
        ("def f(x: int) -> int:\n" + "".join(" " * (i + 1) + "if x:\n" for i in range(150)), None),
        ("\0", None),
        ("x = " + "9" * 10_000 + "\n", None),
        ("\udcff", None),
    ],
    ids=lambda value: ascii(value)[-50:] if isinstance(value, str) else None,
)
def test_a_file_that_is_not_declarations(
    code: str, line: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused(zipped(model(code)), CODE)
    assert error.record == CODE
    if line is not None:
        assert error.line == line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import os", "is not TorchScript"),
        ("return os.system('touch ran')", "the name `os` is not known"),
        ("return __import__('os')", "unknown function `__import__`"),
        ("return open('ran', 'w')", "unknown function `open`"),
        ("return eval('1')", "unknown function `eval`"),
        ("return getattr(x, '__class__')", "`__class__` is an attribute of Python"),
        ("return getattr(x, torch.add('a', 'b'))", "unknown function `getattr`"),
        ("return x.__class__", "`__class__` is an attribute of Python"),
        ("return self.__dict__", "`__dict__` is an attribute of Python"),
        ("return x.__class__()", "`__class__` is an attribute of Python"),
        ("return (x).__reduce__()", "`__reduce__` is an attribute of Python"),
        ("return (self).forward.__globals__", "`__globals__` is an attribute of Python"),
        ("return ().__class__.__bases__", "is an attribute of Python"),
        ("return (x).tofile('ran')", "no class of the archive has a method `tofile`"),
        ("x.data = x\nreturn x.__init__", "is an attribute of Python"),
        ("return torch.load('ran')", "unknown op `torch.load`"),
        ("return torch.save(x, 'ran')", "unknown op `torch.save`"),
        ("return torch.from_file('ran')", "unknown op `torch.from_file`"),
        ("return torch.os.system('touch ran')", "unknown op `torch.os.system`"),
        ("return torch.__builtins__", "is an attribute of Python"),
        ("return torch.nn.Module()", "unknown op `torch.nn.Module`"),
        ("return ops.aten.save(x, 'ran')", "unknown op `ops.aten.save`"),
        ("return ops.os.system('touch ran')", "unknown op `ops.os.system`"),
        ("return torch.frobnicate(x)", "unknown op `torch.frobnicate`"),
        ("return torch.ad(x)", "torch.add"),
        ("return __torch__.os.system(x)", "`__torch__.os.system` is not in the archive"),
        ("return __torch__.M.__new__(__torch__.M)", "makes no instance here"),
        ("return lambda: x", "is not TorchScript"),
        ("return [y for y in x]", "is not TorchScript"),
        ("return f'{x}'", "is not TorchScript"),
        ("return (y := x)", "is not TorchScript"),
        ("return x + x", "is not a constant"),
        ("return x if x else y", "the name `y` is not known"),
        ("return b'x'", "is not TorchScript"),
        ("return ...", "is not TorchScript"),
        ("return torch.add(*x)", "is not TorchScript"),
        ("return torch.add(**x)", "`**` in a call"),
        ("global x", "is not TorchScript"),
        ("del x", "is not TorchScript"),
        ("try:\n  pass\nexcept:\n  pass", "is not TorchScript"),
        ("raise x", "is not TorchScript"),
        ("yield x", "is not TorchScript"),
        ("x[0] = x", "cannot be assigned to"),
        ("x += 1", "is not TorchScript"),
        ("for y in x:\n  pass", "is not TorchScript"),
        ("while x:\n  break", "is not TorchScript"),
        ("class A:\n  pass", "is not TorchScript"),
        ("def f(y):\n  return y", "is not TorchScript"),
        ("return CONSTANTS.c0", "CONSTANTS.c0 is not in constants.pkl"),
        ("return CONSTANTS.__class__", "is not in constants.pkl"),
        ("return annotate(os.system, x)", "is not a TorchScript type"),
        ("return annotate(" + "List[" * 60 + "int" + "]" * 60 + ", x)", "nested more than 50 deep"),
        ("return fork(x)", "unknown function `fork`"),
        ("return x()", "unknown function `x`"),
        ("return (torch.add)(x, x)()", "cannot be called"),
    ],
    ids=lambda value: value[:40],
)
def test_code_that_is_not_torchscript(body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refused(zipped(model(body=body)), message)
    assert error.record == CODE
    assert error.line is not None
    assert error.line >= 7
    assert not list(tmp_path.iterdir())


def test_an_unknown_op_is_refused_with_place_and_what_there_is() -> None:
    error = refused(zipped(model(body="y = torch.add(x, 1)\nreturn torch.sigmoide(y)")), "")
    assert (error.record, error.line) == (CODE, 8)
    known = "supported ops with a name like it: torch.sigmoid"
    assert error.reason.startswith(f"unknown op `torch.sigmoide`: {known}")


def test_an_unknown_op_of_a_function_that_is_always_called() -> None:
    code = HEADER + FORWARD + "    return __torch__.f(x, )\ndef f(x: Tensor) -> Tensor:\n  return torch.frobnicate(x)\n"
    error = refused(zipped(model(code)), "unknown op `torch.frobnicate`")
    assert error.line == 9


def test_an_unknown_op_in_a_branch_waits_for_its_call() -> None:
    body = "if torch.gt(torch.dim(x), 1):\n  y = torch.frobnicate(x)\nelse:\n  y = torch.add(x, 1)\nreturn y"
    module = jit.load(io.BytesIO(zipped(model(body=body))))
    backend = __import__("guardfix.runtime_shim", fromlist=["ones"])
    assert module(backend.ones([2])).tolist() == [2.0, 2.0]
    with pytest.raises(jit.ArchiveError, match=r"code/__torch__\.py:8: unknown op `torch\.frobnicate`"):
        module(backend.ones([2, 2]))


def test_recursion_ends_with_a_clear_error() -> None:
    module = jit.load(io.BytesIO(zipped(model(body="return (self).forward(x, )"))))
    backend = __import__("guardfix.runtime_shim", fromlist=["ones"])
    with pytest.raises(jit.ArchiveError, match="calls nest more than"):
        module(backend.ones([1]))


SET_STATE = """  def __setstate__(self: __torch__.M,
    state: int) -> NoneType:
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("while True:\n  pass", "code/__torch__.py:7: takes more than 1"),
        ("for i in range(9223372036854775807):\n  self.training = True", "takes more than 1"),
        ("return (self).__setstate__(state, )", "calls nest more than"),
        ("pass", "has no value for training"),
        ("self.training = 3.5", "declared as bool"),
        ("self.other = 1", "not an attribute that can be set"),
        ("ops.prim.RaiseException('no')", "failed"),
        ("x = torch.frobnicate(state)", "unknown op"),
    ],
)
def test_code_that_runs_while_loading(body: str, message: str) -> None:
    text = HEADER + SET_STATE + "".join(f"    {line}\n" for line in body.splitlines())
    refused(zipped(model(text, pickled=b"\x80\x02c__torch__\nM\n)\x81K\x01b.")), message)


# Each of these could end the process, so each has its own.

CRASHES: dict[str, Records] = {
    "a long chain of attributes": model(body="return x" + ".a" * 200_000),
    "a long chain of calls": model(body="return x" + "()" * 200_000),
    "many unary operators": model(body="return " + "-" * 200_000 + "1"),
    "many binary operators": model(body="return 1" + "+1" * 200_000),
    "a deep chain of subscripts": model(body="return x" + "[0]" * 100_000),
    "a deep type": with_attribute("List[" * 90 + "int" + "]" * 90, b"]"),
    "deeply nested lists": with_attribute("Any", b"]" * 50_000 + b"a" * 49_999),
    "a huge memo index": model(pickled=b"\x80\x02Nr\xff\xff\xff\xff."),
    "a long elif chain": model(body="if True:\n  pass\n" + "elif True:\n  pass\n" * 20_000 + "return x"),
}


@pytest.mark.parametrize("name", CRASHES)
@pytest.mark.few("a long chain of calls", "a deep type")
def test_depth_does_not_end_the_process(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(zipped(CRASHES[name]))
    script = (
        "import sys\nfrom guardfix.runtime_shim import jit\n"
        "try:\n    jit.load(sys.argv[1])\nexcept jit.ArchiveError as error:\n    print('refused', error)\n"
        "else:\n    print('loaded')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("loaded" if name == "deeply nested lists" else "refused")


def test_records_of_the_archives_survive_the_forge() -> None:
    """The forge itself is sound: an archive taken apart and put together is the same model."""
    module = jit.load(io.BytesIO(zipped(records_of("tree"))))
    assert [name for name, _ in module.named_parameters()][:2] == ["blocks.0.weight", "blocks.1.weight"]
    assert integer(300) == b"M,\x01"
