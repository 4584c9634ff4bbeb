"""From what a program writes to the rows, and silence where there is none."""

from __future__ import annotations

import pytest

from guardfix.torch_ops import (
    TENSOR_PROPERTIES,
    Layer,
    Op,
    cpp,
    cpp_method,
    function,
    layer,
    method,
    modules_have,
    only_tensors_have,
    operator,
)


def names(overloads: tuple[Op, ...]) -> str:
    return " ".join(f"{op.name}.{op.overload}" if op.overload else op.name for op in overloads)


FUNCTIONS = {
    "mul": "mul.Tensor mul.out mul.Scalar",
    "ops.aten.mul.Tensor": "mul.Tensor",
    "ops.aten.exp.default": "exp",
    "ops.aten.mul": "mul.Tensor mul.out mul.Scalar",
    "linalg.inv": "linalg_inv linalg_inv.out",
    "special.expit": "special_expit special_expit.out",
    "fft.rfft": "fft_rfft fft_rfft.out",
    "nn.functional.conv2d": "conv2d conv2d.padding",
    "nn.functional.logsigmoid": "log_sigmoid.out log_sigmoid",
    "nn.functional.relu": "nn.functional.relu nn.functional.relu.inplace",
    "nn.init.kaiming_uniform_": "nn.init.kaiming_uniform_",
    "Tensor.exp_": "exp_",
    "concat": "concat concat.out",
}


@pytest.mark.parametrize("path", FUNCTIONS)
def test_functions(path: str) -> None:
    assert names(function(path)) == FUNCTIONS[path]


METHODS = {
    "mul_": "mul_.Tensor mul_.Scalar",
    "__iadd__": "add_.Tensor add_.Scalar",
    "__neg__": "neg",
    "__mul__": "mul.Tensor mul.Scalar",
    "__rsub__": "Tensor.__rsub__",
    "__getitem__": "Tensor.__getitem__",
    "__iter__": "Tensor.__iter__",
    "float": "Tensor.float",
    "split": "Tensor.split",
    "unsqueeze": "unsqueeze",
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    assert names(method(name)) == METHODS[name]


OPERATORS = {
    "+": "add.Tensor add.Scalar Tensor.__radd__",
    "*": "mul.Tensor mul.Scalar Tensor.__rmul__",
    "@": "matmul",
    "**": "pow.Tensor_Tensor pow.Scalar pow.Tensor_Scalar Tensor.__rpow__",
    "unary -": "neg",
    "~": "bitwise_not",
    "==": "eq.Scalar eq.Tensor",
    "[]": "Tensor.__getitem__",
    "[]=": "Tensor.__setitem__",
    "*=": "mul_.Tensor mul_.Scalar",
    "@=": "matmul",
}


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators(symbol: str) -> None:
    assert names(operator(symbol)) == OPERATORS[symbol]


def test_a_number_on_the_left_is_the_first_argument() -> None:
    """`2 / x` is `x.reciprocal() * 2`: only an intermediate result is saved."""
    (reflected,) = (op for op in operator("/") if op.name == "Tensor.__rtruediv__")
    assert [argument.kind for argument in reflected.arguments] == ["number", "tensor"]
    assert reflected.saves == ()


CPP = {
    "at::mul": "mul.Tensor mul.Scalar",
    "::torch::mul": "mul.Tensor mul.Scalar",
    "at::mul_out": "mul.out",
    "at::mul_outf": "mul.out",
    "at::_ops::mul_Tensor::call": "mul.Tensor",
    "at::_ops::exp": "exp",
    "at::einsum": "einsum",
    "at::linalg_inv": "linalg_inv",
    "torch::linalg::inv": "linalg_inv linalg_inv.out",
    "torch::special::expit": "special_expit special_expit.out",
    "torch::nn::functional::kl_div": "nn.functional.kl_div",
    "torch::tensor": "tensor",
}


@pytest.mark.parametrize("name", CPP)
def test_cpp(name: str) -> None:
    assert names(cpp(name)) == CPP[name]


def test_out_comes_first_in_cpp() -> None:
    (out,) = cpp("at::mul_out")
    assert [argument.name for argument in out.arguments] == ["out", "self", "other"]
    (last,) = cpp("at::mul_outf")
    assert [argument.name for argument in last.arguments] == ["self", "other", "out"]


def test_cpp_methods() -> None:
    assert names(cpp_method("index_put_")) == "index_put_"
    assert names(cpp_method("split")) == "split.Tensor split.sizes"


UNKNOWN = [
    "",
    "nope",
    "nn.functional.nope",
    "nn.Linear",
    "load",
    "no_grad",
    "manual_seed",
    "ops.aten",
    "Tensor",
    "Tensor.nope",
]


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_has_no_rows(name: str) -> None:
    assert (function(name), method(name), operator(name), cpp(name), cpp_method(name), layer(name)) == ((),) * 5 + (
        None,
    )


@pytest.mark.parametrize(
    "name", ["std::mul", "mul", "at::", "at::nope_out", "at::_ops::nope", "torch::nn::functional::nope"]
)
def test_unknown_in_cpp(name: str) -> None:
    assert cpp(name) == ()


LAYERS = [
    Layer("Linear", True, True, True, "new"),
    Layer("Conv2d", True, True, True, "new"),
    Layer("Embedding", True, True, True, "new"),
    Layer("LayerNorm", True, True, True, "new"),
    Layer("BatchNorm2d", True, True, True, "new"),
    Layer("LSTM", True, True, True, "other"),
    Layer("ReLU", False, False, False, "new", True),
    Layer("Identity", False, False, False, "maybe"),
    Layer("Dropout", False, False, False, "maybe", True),
    Layer("Flatten", False, False, False, "maybe"),
    Layer("MSELoss", False, False, False, "new"),
    Layer("Transformer", True, None, None, "new"),
]


@pytest.mark.parametrize("expected", LAYERS)
def test_layers(expected: Layer) -> None:
    assert layer(expected.name) == expected


def test_attributes_of_tensors() -> None:
    shown = "T mT H mH real imag data grad shape device dtype requires_grad is_leaf grad_fn itemsize ndim"
    kinds = [TENSOR_PROPERTIES[name] for name in shown.split()]
    assert kinds == ["view"] * 7 + ["other"] * 4 + ["number", "number", "other", "number", "number"]
    assert "unsqueeze" not in TENSOR_PROPERTIES
    assert len(TENSOR_PROPERTIES) == len([*TENSOR_PROPERTIES])


def test_names_that_only_tensors_have() -> None:
    only = "requires_grad_ unsqueeze backward detach numpy masked_fill_ zero_ matmul unbind"
    shared = "view sum copy reshape T item mean max split index add sub log mul eq median where sqrt nope"
    assert [name for name in only.split() if not only_tensors_have(name)] == []
    assert [name for name in shared.split() if only_tensors_have(name)] == []


def test_names_that_modules_have_too() -> None:
    assert [name for name in ("requires_grad_", "to", "cuda", "unsqueeze") if modules_have(name)] == [
        "requires_grad_",
        "to",
        "cuda",
    ]
