"""Calls with arguments that PyTorch refuses, and results that are easy to get wrong in silence.

Each case runs on PyTorch itself too, where that is installed.
"""

from __future__ import annotations

import copy
import importlib
import io
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(params=["guardfix.runtime_shim", pytest.param("torch", marks=pytest.mark.oracle)])
def torch(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "torch":
        pytest.importorskip("torch")
    return importlib.import_module(request.param)


def evaluate(torch: ModuleType, expression: str) -> Any:
    names = {"torch": torch, "t": torch.ones(2, 3), "i": torch.tensor([1, 2]), "w": torch.ones(2, requires_grad=True)}
    return eval(expression, names)


REFUSED = {
    "a list is not an operand": ("t + [1, 2, 3]", TypeError, "unsupported operand type(s) for +: 'Tensor' and 'list'"),
    "nor on the left": ("[1, 2, 3] * t", TypeError, "only integer tensors of a single element can be converted to an index"),
    "a list is not an operand of a function": ("torch.exp([1.0])", TypeError, "exp(): argument 'input' (position 1) must be Tensor, not list"),
    "a complex number does not fit a float": ("t.__setitem__(0, 1j)", RuntimeError, "value cannot be converted to type float without overflow"),
    "nor by fill_": ("t.fill_(1j)", RuntimeError, "value cannot be converted to type float without overflow"),
    "nor an integer": ("i.fill_(2j)", RuntimeError, "value cannot be converted to type int64_t without overflow"),
    "a list cannot be assigned": ("t.__setitem__(0, [1, 2, 3])", TypeError, "can't assign a list to a torch.FloatTensor"),
    "index_put_ wants a tuple": ("t.index_put_(i, torch.ones(1))", TypeError, "index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor"),
    "cat names the element": ("torch.cat([t, 1])", TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    "matmul counts self": ("torch.matmul(t, 2)", TypeError, "matmul(): argument 'other' (position 2) must be Tensor, not int"),
    "a dim that is not an integer": ("t.cumsum('a')", TypeError, "cumsum(): argument 'dim' (position 1) must be int, not str"),
    "invert of floats": ("~t", TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    "random integers by randn": ("torch.randn(2, dtype=torch.int64)", NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
    "an empty range": ("torch.randint(5, 3, (2,))", RuntimeError, "random_ expects 'from' to be less than 'to', but got from=5 >= to=3"),
    "fewer than no steps": ("torch.linspace(0, 1, -1)", RuntimeError, "number of steps must be non-negative"),
    "like of a number": ("torch.zeros_like(1)", TypeError, "zeros_like(): argument 'input' (position 1) must be Tensor, not int"),
    "linear with two dtypes": ("torch.addmm(torch.ones(3), torch.ones(2, 2).double(), t)", RuntimeError, "mat1 and mat2 must have the same dtype, but got Double and Float"),
    "a bool is not scaled and subtracted": ("torch.sub(t, t > 1, alpha=2)", RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported."),
    "a block does not fit a mask": ("t.__setitem__(t > 0, torch.ones(1, 2, 2))", RuntimeError, "shape mismatch: value tensor of shape [2, 2] cannot be broadcast to indexing result of shape [6]"),
}  # fmt: skip


@pytest.mark.parametrize(("expression", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_in_pytorchs_words(torch: ModuleType, expression: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        evaluate(torch, expression)
    assert str(caught.value).partition("\n")[0].startswith(message)


@pytest.mark.parametrize(
    ("call", "values", "version"),
    [
        ("torch.arange(3, out=out)", [0.0, 1.0, 2.0], 1),
        ("torch.full((2,), 3.0, out=out)", [3.0, 3.0], 1),
        ("torch.linspace(0, 1, 3, out=out)", [0.0, 0.5, 1.0], 1),
        ("torch.eye(2, out=out)", [[1.0, 0.0], [0.0, 1.0]], 1),
        ("torch.zeros(2, 2, out=out)", [[0.0, 0.0], [0.0, 0.0]], 1),
        ("torch.matmul(torch.ones(1, 2), torch.ones(2, 1), out=out)", [[2.0]], 1),
        ("torch.mean(torch.ones(2, 2), 0, out=out)", [1.0, 1.0], 1),
        ("torch.std(torch.arange(3.0), out=out)", 1.0, 1),
        ("torch.where(torch.tensor([True, False]), torch.ones(2), torch.zeros(2), out=out)", [1.0, 0.0], 1),
        ("torch.softmax(torch.zeros(2), 0, out=out)", [0.5, 0.5], 1),
    ],
    ids=["arange", "full", "linspace", "eye", "zeros", "matmul", "mean", "std", "where", "softmax"],
)
def test_out_is_written_and_counts_one_write(torch: ModuleType, call: str, values: Any, version: int) -> None:
    out = torch.empty(0)
    assert eval(call, {"torch": torch, "out": out}) is out
    assert (out.tolist(), out._version) == (values, version)


def test_out_of_an_op_with_two_results(torch: ModuleType) -> None:
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    found = torch.sort(torch.tensor([3.0, 1.0, 2.0]), out=(values, indices))
    assert found[0] is values
    assert (values.tolist(), indices.tolist()) == ([1.0, 2.0, 3.0], [1, 2, 0])


def test_out_refuses_what_would_be_recorded(torch: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"mean\(\): functions with out=... arguments don't support automatic diff"):
        torch.mean(x, 0, out=torch.empty(0))
    with torch.no_grad():
        assert torch.mean(x, 0, out=torch.empty(0)).item() == 1.0


@pytest.mark.parametrize(
    ("call", "values"),
    [("clamp_min_(0)", [1.0, 0.0]), ("clamp_max_(0)", [0.0, -2.0]), ("clip_(-1, 1)", [1.0, -1.0])],
    ids=["from below", "from above", "both, by the other name"],
)
def test_limits_in_place(torch: ModuleType, call: str, values: list[float]) -> None:
    t = torch.tensor([1.0, -2.0])
    assert eval(f"t.{call}", {"t": t}) is t
    assert (t.tolist(), t._version) == (values, 1)


def test_copies_of_what_shares_memory_share_memory(torch: ModuleType) -> None:
    base = torch.arange(4.0)
    buffer = io.BytesIO()
    torch.save([base, base[1:]], buffer)
    buffer.seek(0)
    for whole, part in (copy.deepcopy([base, base[1:]]), torch.load(buffer)):
        whole[1] = 50
        assert part.tolist() == [50.0, 2.0, 3.0]
        assert part.storage_offset() == 1
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_tensors_hash_is_its_identity(torch: ModuleType) -> None:
    t = torch.ones(1)
    assert hash(t) == id(t)


def test_a_decorated_class_makes_its_instances_under_the_guard(torch: ModuleType) -> None:
    class Model:
        def __init__(self) -> None:
            self.recording = torch.is_grad_enabled()

    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
        make = torch.no_grad()(Model)
    assert make().recording is False
    assert torch.is_grad_enabled()


def test_an_argument_by_name_counts_as_an_input_of_a_custom_function(torch: ModuleType) -> None:
    seen = []

    class Scale(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, by: float = 2.0) -> Any:
            seen.append(ctx.needs_input_grad)
            ctx.by = by
            return x * by

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.by, None

    x = torch.ones(2, requires_grad=True)
    Scale.apply(x, by=3.0).sum().backward()
    assert seen == [(True, False)]
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_hook_may_not_change_the_shape(torch: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def shorten(grad: Any) -> Any:
        return grad[:1]

    y.register_hook(shorten)
    with pytest.raises(RuntimeError, match="hook 'shorten' has changed the size of value"):
        y.sum().backward()


def test_kernels_of_a_library_by_decorator(torch: ModuleType) -> None:
    library = torch.library.Library("guardfix_decorated", "DEF")
    library.define("twice(Tensor x) -> Tensor")

    @torch.library.impl(library, "twice", "CPU")
    def twice(x: Any) -> Any:
        return x + x

    assert torch.ops.guardfix_decorated.twice(torch.ones(2)).tolist() == [2.0, 2.0]
    assert twice(torch.ones(1)).tolist() == [2.0]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", ["std", "var"])
def test_spread_of_one_element_has_no_gradient_that_is_a_number(torch: ModuleType, name: str) -> None:
    one = torch.ones(1, requires_grad=True)
    getattr(torch, name)(one).backward()
    assert repr(one.grad) == "tensor([nan])"


@pytest.mark.parametrize("name", ["std", "var"])
def test_a_spread_of_one_number_is_nan_with_a_warning(torch: ModuleType, name: str) -> None:
    with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0"):
        assert str(getattr(torch.ones(1), name)().item()) == "nan"


def test_lists_of_modules_are_added(torch: Any) -> None:
    nn = torch.nn
    layers = same = nn.ModuleList([nn.ReLU()])
    layers += [nn.Tanh()]
    both = layers.__add__([nn.ReLU()])
    assert (same is layers, len(layers), type(both), len(both)) == (True, 2, nn.ModuleList, 3)
    with pytest.raises(TypeError, match="extend should be called with an iterable, but got int"):
        layers += 3
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        layers.__add__(3)


def test_normalize_writes_to_out(torch: Any) -> None:
    x, out = torch.tensor([3.0, 4.0]), torch.zeros(2)
    assert torch.nn.functional.normalize(x, dim=0, out=out) is out
    assert out.tolist() == pytest.approx([0.6, 0.8])


def test_options_that_are_required(torch: Any) -> None:
    Optimizer, required = torch.optim.Optimizer, importlib.import_module(f"{torch.__name__}.optim.optimizer").required
    assert repr(required) == "<required parameter>"
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Optimizer([torch.zeros(1)], {"lr": required})
    assert Optimizer([{"params": [torch.zeros(1)], "lr": 2}], {"lr": required}).param_groups[0]["lr"] == 2


@pytest.mark.parametrize(
    ("call", "names_the_argument"),
    [
        pytest.param(call, says, id=call)
        for call, says in [
            ("torch.mm(t, 'a')", True), ("torch.mm('a', t, t)", False), ("torch.sum('a')", True), ("torch.sum('a', 1)", False),
            ("torch.sort('a')", True), ("t.sort('a')", False), ("torch.mul('a', 2)", True), ("t.div('a')", True),
            ("torch.all('a')", False), ("t.all('a')", False), ("torch.topk('a', 1)", True), ("torch.eq('a', 1)", False),
            ("t.eq('a')", False), ("t.bitwise_and('a')", False), ("torch.cummax('a', 0)", True), ("torch.median('a')", True),
        ]
    ],
)  # fmt: skip
def test_an_error_names_the_argument_if_one_signature_takes_so_many(
    torch: ModuleType, call: str, names_the_argument: bool
) -> None:
    with pytest.raises(TypeError) as caught:
        evaluate(torch, call)
    assert ("must be Tensor, not str" in str(caught.value)) is names_the_argument, caught.value
