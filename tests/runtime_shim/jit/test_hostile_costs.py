"""Archives that ask for too much: refused with the place, quickly and in little memory, in a load and in a run."""

from __future__ import annotations

import io
import resource
import time
import zipfile

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim import jit

from .forging import FORWARD, HEADER, model, with_attribute, zipped

SET_STATE = """  def __setstate__(self: __torch__.M,
    state: int) -> NoneType:
"""

TOWER = "l = annotate(List[Any], [])\nfor i in range(60):\n  l = annotate(List[Any], [l, l])\n"
"""A list of two that are the same, on 60 levels."""

COSTLY = [
    pytest.param("x = torch.ones([100000, 100000])", "bytes of memory", id="a large tensor"),
    pytest.param("x = torch.zeros([10000000000])", "bytes of memory", id="a large tensor that is not touched"),
    pytest.param("x = torch.arange(0, 1000000000000)", "bytes of memory", id="a long range of numbers"),
    pytest.param("x = torch.arange(0., 1., 1e-15)", "bytes of memory", id="small steps"),
    pytest.param("x = torch.eye(1000000)", "bytes of memory", id="a large identity"),
    pytest.param("x = torch.randperm(100000000000)", "bytes of memory", id="a large permutation"),
    pytest.param("x = torch.randn([9000, 9000])\ny = torch.matmul(x, x)", "bytes of memory|takes longer", id="a product of large matrices"),
    pytest.param("x = torch.expand(torch.ones([1, 1]), [3000, 60000])\ny = torch.matmul(x, torch.t(x))", "takes longer|bytes of memory", id="a product of views of one element"),
    pytest.param("x = torch.ones([9000])\ny = torch.outer(x, x)", "bytes of memory", id="an outer product"),
    pytest.param("x = torch.ones([9000])\ny = torch.add(torch.unsqueeze(x, 0), torch.unsqueeze(x, 1))", "bytes of memory", id="a sum that is broadcast"),
    pytest.param("x = torch.repeat(torch.ones([1000]), [1000, 1000])", "bytes of memory", id="a tensor repeated"),
    pytest.param("x = torch.clone(torch.expand(torch.ones([1]), [100000000000]))", "bytes of memory", id="a copy of a view of one element"),
    pytest.param("x = torch.one_hot(torch.tensor([1, 2]), 100000000000)", "bytes of memory", id="many classes"),
    pytest.param("x = torch.pad(torch.ones([1]), [100000000000, 0])", "bytes of memory", id="much around a tensor"),
    pytest.param("x = torch.einsum('i,j,k->ijk', [torch.ones([900]), torch.ones([900]), torch.ones([900])])", "bytes of memory", id="einsum"),
    pytest.param("x = torch.upsample_nearest2d(torch.ones([1, 1, 1, 1]), [100000, 100000], None)", "bytes of memory", id="an image made larger"),
    pytest.param("x = torch.adaptive_avg_pool2d(torch.ones([1, 1, 1, 1]), [100000, 100000])", "bytes of memory", id="pooled to a larger one"),
    pytest.param("x = torch.conv2d(torch.ones([1, 1, 3, 3]), torch.ones([1, 1, 1, 1]), None, [1, 1], [100000, 100000])", "bytes of memory|takes longer", id="a convolution of padding"),
    pytest.param("x = torch.unbind(torch.expand(torch.ones([1]), [1000000000]))", "bytes of memory|takes longer", id="many views"),
    pytest.param("x = torch.split(torch.expand(torch.ones([1]), [1000000000]), 1)", "bytes of memory|takes longer", id="many pieces"),
    pytest.param("x = (torch.expand(torch.ones([1]), [1000000000])).tolist()", "steps|bytes of memory", id="a list of a view"),
    pytest.param("x = str(torch.expand(torch.ones([1]), [1000000000]))", "steps", id="the text of a view"),
    pytest.param("l = annotate(List[Tensor], [])\nfor i in range(100000):\n  l1 = torch.append(l, torch.ones([100000]))", "bytes of memory", id="many tensors"),
    pytest.param("s = 'ab'\nfor i in range(60):\n  s = torch.add(s, s)", "bytes of memory", id="a text doubled"),
    pytest.param("s = torch.mul('ab', 100000000000)", "bytes of memory", id="a text repeated"),
    pytest.param("s = torch.zfill('ab', 100000000000)", "bytes of memory", id="a text filled up"),
    pytest.param("s = torch.center('ab', 100000000000)", "bytes of memory", id="a text in the middle"),
    pytest.param("s = torch.expandtabs('\\t', 100000000000)", "bytes of memory", id="a wide tab"),
    pytest.param("a = torch.mul('a', 100000)\ns = torch.replace(a, 'a', a)", "bytes of memory", id="each letter replaced by all"),
    pytest.param("a = torch.mul('a', 100000)\ns = torch.replace(a, '', a)", "bytes of memory", id="a text between all letters"),
    pytest.param("a = torch.mul('a', 1000000)\nl = torch.mul(annotate(List[str], [a]), 1000)\ns = torch.join(a, l)", "bytes of memory", id="a text of parts"),
    pytest.param("a = torch.mul('a', 1000000)\nl = torch.mul(annotate(List[str], [a]), 1000)\ns = torch.format('{}', l)", "parts", id="a text of a list"),
    pytest.param("a = torch.mul('a b ', 10000000)\ns = torch.split(a)", "bytes of memory", id="the words of a long text"),
    pytest.param("a = torch.mul('a', 6000000)\nb = torch.add('ab', torch.mul('a', 3000000))\nc = torch.rfind(a, b)", "takes longer", id="a long text searched backwards"),
    pytest.param("a = torch.mul('a', 6000000)\nb = torch.add('ab', torch.mul('a', 3000000))\nc = torch.rsplit(a, b)", "takes longer|bytes of memory", id="and split backwards"),
    pytest.param("a = torch.mul('a', 1000000)\nb = torch.add(torch.mul('b', 1000000), 'a')\nc = torch.strip(a, b)", "takes longer", id="letters looked for among many"),
    pytest.param("s = torch.mul(torch.chr(128512), 180000000)", "bytes of memory", id="a text of wide letters"),
    pytest.param("s = torch.ljust('a', 180000000, torch.chr(128512))", "bytes of memory", id="a text filled up with wide letters"),
    pytest.param("s = torch.upper(torch.mul(torch.chr(223), 40000000))", "bytes of memory", id="letters that become two"),
    pytest.param("l = annotate(List[Tuple[complex, int]], [])\nfor i in range(20000):\n  l1 = torch.append(l, (torch.Complex(torch.neg(torch.mul(i, 1000003)), i), 1))\nd = torch.dict(l)", "steps", id="keys of one hash"),
    pytest.param("d = annotate(Dict[complex, int], {})\nfor i in range(20000):\n  ops.aten._set_item(d, torch.Complex(torch.neg(torch.mul(i, 1000003)), i), 1)", "steps", id="keys of one hash, one by one"),
    pytest.param("x = torch.quantile(torch.ones([8000, 2]), torch.expand(torch.tensor([0.5]), [20000]), 1)", "bytes of memory", id="many quantiles"),
    pytest.param("x = torch.erfinv(torch.rand([4000000]))", "takes longer|bytes of memory", id="a slow function"),
    pytest.param("x = torch.digamma(torch.rand([4000000]))", "takes longer|bytes of memory", id="another one"),
    pytest.param("l = ops.prim.rangelist(100000000000)", "steps|bytes of memory", id="a list of numbers"),
    pytest.param("l = torch.mul([1, 2], 100000000000)", "steps|bytes of memory", id="a list repeated"),
    pytest.param("l = [1]\nfor i in range(60):\n  l = torch.add(l, l)", "steps|bytes of memory", id="a list doubled", marks=pytest.mark.thorough),
    pytest.param("while True:\n  l = torch.factorial(1000000000)", "takes", id="factorials without an end"),
    pytest.param(TOWER + "b = torch.eq(l, torch.list(l))", "parts", id="towers compared"),
    pytest.param(TOWER + "s = str(l)", "parts", id="the text of a tower"),
    pytest.param(TOWER + "s = torch.format('{}', l)", "parts", id="a text with a tower"),
    pytest.param(TOWER + "b = torch.__contains__([l], torch.list(l))", "parts", id="a tower that is looked for"),
    pytest.param(TOWER + "b = torch.sorted([l, torch.list(l)])", "parts", id="towers sorted"),
    pytest.param(TOWER + "b = isinstance(l, " + "List[" * 40 + "int" + "]" * 40 + ")", "parts", id="the type of a tower"),
    pytest.param("t = annotate(Any, ())\nfor i in range(60):\n  t = annotate(Any, (t, t))\nd = annotate(Dict[Any, int], {})\nops.aten._set_item(d, t, 1)", "parts", id="a tower for a key"),
    pytest.param("l = annotate(List[Any], [])\nl1 = torch.append(l, l)\ns = str(l)", "contains itself", id="a list that contains itself"),
]  # fmt: skip

COSTLY_TO_LOAD = [
    pytest.param("x = torch.mode(torch.reshape(torch.arange(0, 4000000), [2000000, 2]))", "takes longer|bytes of memory", id="the most frequent of many rows"),
]  # fmt: skip
"""What a run may take, and a load may not."""


def _peak() -> int:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _refused(data: bytes, message: str, run: bool) -> jit.ArchiveError:
    before, start = _peak(), time.process_time()
    module = jit.load(io.BytesIO(data)) if run else None
    with pytest.raises(jit.ArchiveError, match=message) as caught:
        module(torch.ones([1])) if module is not None else jit.load(io.BytesIO(data))
    assert _peak() - before < 512
    assert len(str(caught.value)) < 5000
    assert time.process_time() - start < (20 if run else 4)
    assert caught.value.line is not None
    return caught.value


@pytest.mark.parametrize(("body", "message"), [*COSTLY, *COSTLY_TO_LOAD])
def test_a_load_that_asks_for_too_much(body: str, message: str) -> None:
    text = HEADER + SET_STATE + "".join(f"    {line}\n" for line in body.splitlines()) + "    self.training = True\n"
    error = _refused(zipped(model(text, pickled=b"\x80\x02c__torch__\nM\n)\x81K\x01b.")), message, run=False)
    assert error.record == "code/__torch__.py"


@pytest.mark.parametrize(("body", "message"), COSTLY)
def test_a_run_that_asks_for_too_much(body: str, message: str) -> None:
    if body.startswith("while True"):
        pytest.skip("takes as long as a run may")
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    code = HEADER + FORWARD.replace("x: Tensor", "x0: Tensor") + lines + "    return x0\n"
    error = _refused(zipped(model(code)), message, run=True)
    assert error.record == "code/__torch__.py"


def test_a_message_is_cut() -> None:
    body = "    ops.prim.RaiseException(torch.mul('a', 50000000))\n"
    with pytest.raises(jit.ArchiveError, match="aaa") as caught:
        jit.load(io.BytesIO(zipped(model(HEADER + SET_STATE + body, pickled=b"\x80\x02c__torch__\nM\n)\x81K\x01b."))))
    assert len(str(caught.value)) < 5000


def tower(levels: int) -> bytes:
    """The opcodes of a list of two that are the same, again and again."""
    found = b"]q\x00"
    for level in range(levels):
        # What is there is the first element of a list; a memo gives the second.
        found = b"](" + found + b"h" + bytes([level]) + b"eq" + bytes([level + 1])
    return found


@pytest.mark.parametrize(
    "type_", ["Any", "List[" * 25 + "int" + "]" * 25, "int", "Tensor", "Optional[" + "List[" * 25 + "int" + "]" * 26]
)
def test_a_list_that_is_shared_on_every_level(type_: str) -> None:
    start = time.process_time()
    with pytest.raises(jit.ArchiveError, match="parts, counted as often") as caught:
        jit.load(io.BytesIO(zipped(with_attribute(type_, tower(24)))))
    assert len(str(caught.value)) < 2000
    assert time.process_time() - start < 2


def test_modules_that_are_shared_on_every_level() -> None:
    """Names of parameters double on every level: nobody could write them down."""
    levels = 30
    classes = "".join(
        f"class M{i}(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
        + (f"  a : __torch__.M{i + 1}\n  b : __torch__.M{i + 1}\n" if i < levels else "  training : bool\n")
        for i in range(levels + 1)
    )
    assert "class M0" in classes
    pickled = _shared_modules(levels)
    start = time.process_time()
    with pytest.raises(jit.ArchiveError, match="share others so often"):
        jit.load(io.BytesIO(zipped(model(classes, pickled=pickled))))
    assert time.process_time() - start < 2


def _shared_modules(levels: int) -> bytes:
    def text(value: str) -> bytes:
        return b"X" + len(value).to_bytes(4, "little") + value.encode()

    found = b"c__torch__\nM" + str(levels).encode() + b"\n)\x81}" + text("training") + b"\x88sb"
    for level in reversed(range(levels)):
        mark = bytes([level])
        found = (
            b"c__torch__\nM%d\n)\x81}" % level
            + b"("
            + text("a")
            + found
            + b"q"
            + mark
            + text("b")
            + b"h"
            + mark
            + b"ub"
        )
    return b"\x80\x02" + found + b"."


def test_calls_that_double() -> None:
    functions = "".join(
        f"def f{i}(x: int) -> int:\n  a = __torch__.f{i + 1}(x, )\n  b = __torch__.f{i + 1}(x, )\n  return a\n"
        for i in range(60)
    )
    code = (
        HEADER
        + FORWARD
        + "    a = __torch__.f0(1, )\n    return x\n"
        + functions
        + "def f60(x: int) -> int:\n  return x\n"
    )
    module = jit.load(io.BytesIO(zipped(model(code))), limits=jit.Limits(run_steps=100_000))
    with pytest.raises(jit.ArchiveError, match=r"f\d+|takes more than 100000 steps"):
        module(torch.ones([1]))


def test_limits_can_be_raised() -> None:
    data = zipped(model(body="y = torch.ones([3000, 3000])\nreturn y"))
    small = jit.load(io.BytesIO(data), limits=jit.Limits(run_size=1 << 20))
    with pytest.raises(
        jit.ArchiveError, match=r"code/__torch__.py:7: `torch.ones` asks for 72000000 bytes .* `limits` of jit.load"
    ):
        small(torch.ones([1]))
    assert jit.load(io.BytesIO(data))(torch.ones([1])).shape == (3000, 3000)


def test_memory_that_is_freed_can_be_used_again() -> None:
    body = "y = x\nfor i in range(200):\n  y = torch.add(torch.ones([1000, 1000]), i)\nreturn y"
    module = jit.load(io.BytesIO(zipped(model(body=body))), limits=jit.Limits(run_size=60 << 20))
    assert module(torch.ones([1])).shape == (1000, 1000)


def test_a_source_that_is_large_only_when_unpacked() -> None:
    data = zipped(model(HEADER + FORWARD + "    return x\n" + "    return x\n" * 2_000_000), kind=zipfile.ZIP_DEFLATED)
    before = _peak()
    with pytest.raises(jit.ArchiveError, match=r"bytes of memory|zip bomb"):
        jit.load(io.BytesIO(data))
    assert _peak() - before < 512
