"""Rows of the table, as they must be: what ops make, write and save."""

from __future__ import annotations

import pytest

from guardfix.torch_ops import Op, function, method


def said(op: Op) -> str:
    """Results | writes | (saved, because), and whether the result is saved | options | differentiable; ~ in some calls."""
    writes = [*op.writes, *(f"~{name}" for name in op.may_write)]
    saves = [f"{saved}<{because}" for saved, because in op.saves]
    saves += [f"~{saved}<{because}" for saved, because in op.may_save]
    saves += {True: ["+result"], None: ["?result"], False: []}[op.saves_result]
    return " | ".join(map(" ".join, (op.results, writes, saves, op.options, op.differentiable)))


def one(overloads: tuple[Op, ...], overload: str) -> Op:
    (found,) = (op for op in overloads if op.overload == overload)
    return found


FUNCTIONS = [
    ("add", "Tensor", "new |  |  |  | self other"),
    ("add", "Scalar", "new |  |  |  | self"),
    ("sub", "Tensor", "new |  |  |  | self other"),
    ("sub", "Scalar", "new |  |  |  | self"),
    ("mul", "Tensor", "new |  | self<other other<self |  | self other"),
    ("mul", "Scalar", "new |  |  |  | self"),
    ("div", "Tensor", "new |  | self<other other<self other<other |  | self other"),
    ("div", "Scalar", "new |  |  |  | self"),
    ("mm", "", "new |  | self<mat2 mat2<self |  | self mat2"),
    ("bmm", "", "new |  | self<mat2 mat2<self |  | self mat2"),
    ("baddbmm", "", "new |  | batch1<batch2 batch2<batch1 |  | self batch1 batch2"),
    ("matmul", "", "new |  | self<other other<self |  | self other"),
    ("cat", "", "new |  |  |  | tensors"),
    ("stack", "", "new |  |  |  | tensors"),
    ("where", "self", "new |  | condition<self condition<other |  | self other"),
    ("where", "ScalarSelf", "new |  | condition<other |  | other"),
    ("where", "ScalarOther", "new |  | condition<self |  | self"),
    ("where", "Scalar", "new |  |  |  | "),
    ("where", "", "tensors |  |  |  | "),
    ("sum", "", "new |  |  |  | self"),
    ("sum", "dim_IntList", "new |  |  |  | self"),
    ("mean", "", "new |  |  |  | self"),
    ("mean", "dim", "new |  |  |  | self"),
    ("clone", "", "new |  |  |  | self"),
    ("log", "", "new |  | self<self |  | self"),
    ("exp", "", "new |  | +result |  | self"),
    ("sigmoid", "", "new |  | +result |  | self"),
    ("tanh", "", "new |  | +result |  | self"),
    ("sqrt", "", "new |  | +result |  | self"),
    ("sin", "", "new |  | self<self |  | self"),
    ("relu", "", "new |  | +result |  | self"),
    (
        "pow",
        "Tensor_Tensor",
        "new |  | self<self self<exponent exponent<self exponent<exponent +result |  | self exponent",
    ),
    ("pow", "Scalar", "new |  | exponent<exponent +result |  | exponent"),
    ("pow", "Tensor_Scalar", "new |  | self<self |  | self"),
    ("softmax", "int", "new |  | +result |  | self"),
    ("sort", "", "new new |  |  |  | self"),
    ("sort", "stable", "new new |  |  |  | self"),
    ("max", "dim", "new new |  |  |  | self"),
    ("max", "", "new |  | self<self +result |  | self"),
    ("max", "other", "new |  | self<self self<other other<self other<other |  | self other"),
    ("gather", "", "new |  | self<self index<self |  | self"),
    ("index_select", "", "new |  | index<self |  | self"),
    ("masked_fill", "Scalar", "new |  | mask<self |  | self"),
    ("masked_fill", "Tensor", "new |  | mask<self mask<value |  | self value"),
    ("clamp", "", "new |  | self<self |  | self"),
    (
        "clamp",
        "Tensor",
        "new |  | self<self self<min self<max min<self min<min min<max max<self max<min max<max |  | self min max",
    ),
    ("norm", "", "new |  | input<input +result |  | input"),
    ("prod", "", "new |  | self<self +result |  | self"),
    ("prod", "dim_int", "new |  | self<self +result |  | self"),
    ("maximum", "", "new |  | self<self self<other other<self other<other |  | self other"),
    ("cumsum", "", "new |  |  |  | self"),
    ("einsum", "", "maybe:operands |  | ~operands<operands |  | operands"),
    ("meshgrid", "", "views:tensors |  |  |  | tensors"),
    ("broadcast_tensors", "", "views:tensors |  |  |  | tensors"),
    ("atleast_2d", "", "maybe:x |  |  |  | x"),
    ("split", "", "views:tensor |  |  |  | tensor"),
    ("dropout", "", "maybe:input |  |  |  | input"),
    ("ones", "", "new |  |  |  | "),
    ("zeros_like", "", "new |  |  |  | "),
    ("as_tensor", "", "maybe:data |  |  |  | data"),
    ("tensor", "", "new |  |  |  | "),
    (
        "batch_norm",
        "",
        "new |  | input<input input<weight input<bias weight<input weight<weight weight<bias running_mean<input running_mean<weight running_mean<bias running_var<input running_var<weight running_var<bias |  | input weight bias",
    ),
    ("linalg.norm", "", "new |  | self<self +result |  | self"),
    ("linalg.norm", "ord_str", "new |  | ~self<self ?result |  | self"),
    ("linalg.inv", "", "new |  | +result |  | A"),
    ("special.expit", "", "new |  | +result |  | self"),
    ("fft.fft", "", "new |  | self<self | n dim | self"),
    ("nn.functional.linear", "", "new |  | input<weight weight<input |  | input weight bias"),
    (
        "nn.functional.conv2d",
        "",
        "new |  | input<input input<weight input<bias weight<input weight<weight weight<bias |  | input weight bias",
    ),
    (
        "nn.functional.conv2d",
        "padding",
        "new |  | input<input input<weight input<bias weight<input weight<weight weight<bias |  | input weight bias",
    ),
    ("nn.functional.kl_div", "", "new |  | input<target target<input target<target | log_target | input target"),
    ("nn.functional.mse_loss", "", "new |  | input<input input<target target<input target<target |  | input target"),
    ("nn.functional.l1_loss", "", "new |  |  |  | input target"),
    ("nn.functional.cross_entropy", "", "new |  | target<input |  | input target"),
    ("nn.functional.nll_loss", "", "new |  | input<input target<input weight<input |  | input"),
    (
        "nn.functional.binary_cross_entropy",
        "",
        "new |  | input<input input<target target<input target<target weight<input weight<target |  | input target",
    ),
    ("nn.functional.embedding", "", "new |  | input<weight |  | weight"),
    (
        "nn.functional.layer_norm",
        "",
        "new |  | input<input input<weight input<bias weight<input weight<weight weight<bias bias<input bias<weight bias<bias |  | input weight bias",
    ),
    ("nn.functional.dropout", "", "maybe:input |  |  |  | input"),
    ("nn.functional.dropout", "inplace", "maybe:input | ~input |  |  | input"),
    ("nn.functional.relu", "", "new |  | +result |  | input"),
    ("nn.functional.relu", "inplace", "maybe:input | ~input | +result |  | input"),
    ("nn.functional.gelu", "", "new |  | self<self |  | self"),
    ("nn.functional.normalize", "", "new |  | input<input |  | input"),
    ("nn.functional.interpolate", "", "new |  |  |  | input"),
    ("nn.functional.cosine_similarity", "", "new |  | x1<x1 x2<x2 |  | x1 x2"),
    (
        "nn.functional.scaled_dot_product_attention",
        "",
        "new |  | query<query query<key query<value key<query key<key key<value value<query value<key value<value value<attn_mask attn_mask<query attn_mask<key attn_mask<value ?result | dropout_p | query key value attn_mask",
    ),
    ("nn.functional.pad", "", "new |  |  |  | input"),
    ("nn.init.zeros_", "", "alias:tensor | tensor |  |  | "),
]


@pytest.mark.parametrize(("path", "overload", "row"), FUNCTIONS)
def test_a_function(path: str, overload: str, row: str) -> None:
    assert said(one(function(path), overload)) == row


METHODS = [
    ("expand", "", "view:self |  |  |  | self"),
    ("to", "", "maybe:self |  |  |  | self"),
    ("contiguous", "", "maybe:self |  |  |  | self"),
    ("reshape", "", "maybe:self |  |  |  | self"),
    ("float", "", "maybe:self |  |  |  | self"),
    ("type_as", "", "maybe:self |  |  |  | self"),
    ("flatten", "using_ints", "maybe:self |  |  |  | self"),
    ("squeeze", "", "view:self |  |  |  | self"),
    ("squeeze", "dim", "view:self |  |  |  | self"),
    ("squeeze", "dims", "view:self |  |  |  | self"),
    ("view", "", "view:self |  |  |  | self"),
    ("view", "dtype", "maybe:self |  |  |  | "),
    ("unbind", "int", "views:self |  |  |  | self"),
    ("chunk", "", "views:self |  |  |  | self"),
    ("item", "", "number |  |  |  | "),
    ("index_put_", "", "alias:self | self | indices<self indices<values |  | self values"),
    ("__setitem__", "", "none | self | key<self key<value |  | self value"),
    ("__getitem__", "", "maybe:self |  | key<self |  | self"),
    ("copy_", "", "alias:self | self |  |  | self src"),
    ("masked_fill_", "Scalar", "alias:self | self | mask<self |  | self"),
    ("masked_fill_", "Tensor", "alias:self | self | mask<self mask<value |  | self value"),
    ("fill_", "Scalar", "alias:self | self |  |  | self"),
    ("fill_", "Tensor", "alias:self | self |  |  | self value"),
    ("zero_", "", "alias:self | self |  |  | self"),
    ("detach", "", "view:self |  |  |  | "),
    ("detach_", "", "alias:self |  |  |  | "),
    ("requires_grad_", "", "alias:self |  |  |  | self"),
    ("transpose", "int", "view:self |  |  |  | self"),
    ("permute", "", "view:self |  |  |  | self"),
    ("t", "", "view:self |  |  |  | self"),
    ("unsqueeze", "", "view:self |  |  |  | self"),
    ("mul_", "Tensor", "alias:self | self | other<self |  | self other"),
    ("mul_", "Scalar", "alias:self | self |  |  | self"),
    ("add_", "Tensor", "alias:self | self |  |  | self other"),
    ("add_", "Scalar", "alias:self | self |  |  | self"),
    ("exp_", "", "alias:self | self | +result |  | self"),
    ("numpy", "", "other |  |  |  | "),
    ("tolist", "", "other |  |  |  | "),
]


@pytest.mark.parametrize(("name", "overload", "row"), METHODS)
def test_a_method(name: str, overload: str, row: str) -> None:
    assert said(one(method(name), overload)) == row


def test_what_was_not_probed_is_unknown() -> None:
    op = one(function("mm"), "dtype")
    assert (op.probed, op.saves_known, op.saves_result, op.saves) == (False, False, None, ())


def test_what_one_inference_argument_saves_may_be_a_copy() -> None:
    """group_norm makes its input contiguous first, and saves that."""
    assert "input" in one(function("nn.functional.group_norm"), "").copied
    assert one(function("mul"), "Tensor").copied == ()


def test_out_takes_no_gradient() -> None:
    op = one(function("mul"), "out")
    assert (op.results, op.writes, op.saves, op.differentiable) == (("alias:out",), ("out",), (), ())
    assert [argument.name for argument in op.arguments if argument.keyword_only] == ["out"]


def test_kinds_of_arguments() -> None:
    kinds = [(argument.name, argument.kind, argument.optional) for argument in one(function("add"), "Tensor").arguments]
    assert kinds == [("self", "tensor", False), ("other", "tensor", False), ("alpha", "number", True)]
    assert function("cat")[0].arguments[0].kind == "tensors"
    assert one(method("view"), "").arguments[1].variadic
    assert function("meshgrid")[0].arguments[0] == ("tensors", "tensors", False, False, True)


@pytest.mark.parametrize(
    "name", ["ones", "zeros", "rand", "randn", "arange", "full", "empty", "eye", "linspace", "tensor"]
)
def test_a_factory_makes_a_new_tensor(name: str) -> None:
    for op in function(name):
        assert op.overload.endswith("out") or op.results == ("new",), op
        of_tensors = any(argument.kind == "tensor" and not argument.keyword_only for argument in op.arguments)
        assert of_tensors or op.differentiable == (), op


@pytest.mark.parametrize("name", ["as_tensor", "asarray", "from_numpy"])
def test_a_factory_may_share(name: str) -> None:
    (op,) = function(name)
    assert op.results == (f"maybe:{op.arguments[0].name}",)
