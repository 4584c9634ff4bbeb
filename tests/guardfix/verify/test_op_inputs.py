"""Inputs made from a signature, and bent by what the op's checks refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from guardfix.verify.exercising.op_inputs import Candidate, PlainInput, TensorInput, search_inputs
from guardfix.verify.exercising.op_programs import OpProgram, program_text, tensor_expression
from guardfix.verify.exercising.op_signatures import (
    ArgumentType,
    CallableOp,
    NotUnderstood,
    OpArgument,
    callable_op,
    type_of_annotation,
    type_of_schema,
)

SCHEMA_TYPES = {
    "Tensor": ArgumentType("Tensor"),
    "Tensor(a!)": ArgumentType("Tensor"),
    "Tensor?": ArgumentType("Tensor", optional=True),
    "Tensor[]": ArgumentType("Tensor", True),
    "SymInt": ArgumentType("int"),
    "int[2]": ArgumentType("int", True, 2),
    "float[]?": ArgumentType("float", True, optional=True),
    "Scalar": ArgumentType("Scalar"),
    "ScalarType?": ArgumentType("ScalarType", optional=True),
    "Generator?": ArgumentType("None", optional=True),
}
ANNOTATIONS = {
    "torch.Tensor": ArgumentType("Tensor"),
    "Tensor": ArgumentType("Tensor"),
    "Optional[torch.Tensor]": ArgumentType("Tensor", optional=True),
    "torch.Tensor | None": ArgumentType("Tensor", optional=True),
    "typing.SupportsInt | typing.SupportsIndex": ArgumentType("int"),
    "collections.abc.Sequence[typing.SupportsInt]": ArgumentType("int", True),
    "List[torch.Tensor]": ArgumentType("Tensor", True),
    "tuple[float, float]": ArgumentType("float", True, 2),
    "Annotated[list[int], FixedSize(3)]": ArgumentType("int", True),
    "Union[Number, torch.Tensor]": ArgumentType("Scalar"),
}


@pytest.mark.parametrize("text", SCHEMA_TYPES)
def test_types_of_schemas(text: str) -> None:
    assert type_of_schema(text) == SCHEMA_TYPES[text]


@pytest.mark.parametrize("text", ANNOTATIONS)
def test_types_of_annotations(text: str) -> None:
    assert type_of_annotation(text) == ANNOTATIONS[text]


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (type_of_schema, "__torch__.torch.classes.my.Net"),
        (type_of_schema, "Dict(str, Tensor)"),
        (type_of_schema, "Generator"),
        (type_of_annotation, "my.Net"),
        (type_of_annotation, "list[list[int]]"),
    ],
)
def test_types_that_no_input_can_be_made_for(read: Callable[[str], ArgumentType], text: str) -> None:
    with pytest.raises(NotUnderstood, match="it takes"):
        read(text)


def test_what_pybind11_says() -> None:
    doc = "forward(x: torch.Tensor, sizes: list[int], eps: float = 1e-05, net: my.Net = None) -> torch.Tensor\n\nText"
    op = callable_op({"kind": "binding", "name": "ext.forward", "call": "ext.forward", "signature": doc})
    assert [(one.name, one.type.name, one.type.is_list, one.required) for one in op.arguments] == [
        ("x", "Tensor", False, True),
        ("sizes", "int", True, True),
        ("eps", "float", False, False),
        ("net", "default", False, False),
    ]


def op_of(**types: str) -> CallableOp:
    arguments = tuple(OpArgument(name, type_of_schema(text)) for name, text in types.items())
    return CallableOp("my::op", "torch.ops.my.op", "my::op", arguments)


def tensors(candidate: Candidate) -> list[TensorInput]:
    return [one for one in candidate if isinstance(one, TensorInput)]


def wants_rank_4(candidate: Candidate) -> str | None:
    return None if len(tensors(candidate)[0].sizes) == 4 else "x must be 4D"


def wants_index_below_rows(candidate: Candidate) -> str | None:
    rows, index = tensors(candidate)
    if len(rows.sizes) != 2:
        return "Expected rows.dim() == 2 to be true, but got false."
    if index.dtype != "int64":
        return "expected index to be of type Long"
    if len(index.sizes) != 1:
        return "index should be one-dimensional"
    return None if index.below <= rows.sizes[0] else "index out of range"


def wants_matching_channels(candidate: Candidate) -> str | None:
    x, weight = tensors(candidate)
    if len(x.sizes) != 4 or len(weight.sizes) != 4:
        return "both have rank 4"
    if x.sizes[1] != weight.sizes[1]:
        return "Expected x.size(1) == weight.size(1) to be true, but got false."
    if weight.sizes[2] != 3:
        return "weight.size(2) == 3 is required"
    return None


def wants_a_mode(candidate: Candidate) -> str | None:
    [mode] = [one for one in candidate if isinstance(one, PlainInput)]
    return None if mode.text == "'mean'" else "unknown mode"


REFUSING = {
    "a rank in digits": (op_of(x="Tensor"), wants_rank_4),
    "a rank, a dtype, a rank in words": (op_of(rows="Tensor", index="Tensor"), wants_index_below_rows),
    "two sizes that are one": (op_of(x="Tensor", weight="Tensor"), wants_matching_channels),
    "a word": (op_of(x="Tensor", mode="str"), wants_a_mode),
}


@pytest.mark.parametrize("case", REFUSING)
def test_checks_lead_to_inputs_that_pass_them(case: str) -> None:
    op, refusal_of = REFUSING[case]
    found = search_inputs(op, refusal_of)
    assert found.accepted, found.refusals
    assert all(refusal_of(candidate) is None for candidate in found.accepted)
    assert search_inputs(op, refusal_of) == found, "the search is the same each time"


def test_what_no_input_passes_ends() -> None:
    found = search_inputs(op_of(x="Tensor"), lambda candidate: "never", budget=50)
    assert (found.accepted, found.tried, found.refusals) == ([], 50, ["never"])


def test_a_device_that_is_not_there_ends_the_search_early() -> None:
    found = search_inputs(op_of(x="Tensor"), lambda candidate: "x must be a CUDA tensor", budget=500)
    assert found.tried < 20


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (TensorInput((2, 3)), "torch.linspace(0.5, 2.0, 6).reshape(2, 3)"),
        (TensorInput((4,), "float64"), "torch.linspace(0.5, 2.0, 4, dtype=torch.float64)"),
        (TensorInput(()), "torch.tensor(1.5)"),
        (TensorInput((3,), "int64", 2), "(torch.arange(3) % 2)"),
        (TensorInput((2, 2), "bool"), "(torch.arange(4) % 2 == 0).reshape(2, 2)"),
    ],
)
def test_tensors_as_they_are_written(tensor: TensorInput, text: str) -> None:
    assert tensor_expression(tensor) == text


def test_the_plainest_program_is_the_call() -> None:
    op = op_of(x="Tensor", n="int")
    candidate: Candidate = (TensorInput((2,)), PlainInput("3"))
    assert program_text(op, OpProgram(candidate), ["float"]) == (
        "x = torch.linspace(0.5, 2.0, 2)\ny = torch.ops.my.op(x, 3)\nprint(y.requires_grad, y.tolist())\n"
    )


def test_a_program_with_everything() -> None:
    program = OpProgram(
        (TensorInput((2,)), PlainInput("3")),
        ("view", "plain"),
        mode="torch.no_grad()",
        kept=True,
        use="saved for backward",
        backward="double",
    )
    assert program_text(op_of(x="Tensor", n="int"), program, ["float"]).splitlines() == [
        "x_leaf = torch.linspace(0.5, 2.0, 2).requires_grad_()",
        "x = x_leaf * 1",
        "x = x.view_as(x)",
        "kept = x * x",
        "with torch.no_grad():",
        "    y = torch.ops.my.op(x, 3)",
        "print(y.requires_grad, y.tolist())",
        "print(x.tolist())",
        "v = torch.full_like(y, 2.0, requires_grad=True)",
        "loss = (y * v).sum() + kept.sum()",
        "grads = torch.autograd.grad(loss, [x_leaf, v], create_graph=True, allow_unused=True)",
        "sum((g * g).sum() for g in grads if g is not None).backward()",
        "print([t.grad.tolist() for t in [x_leaf, v] if t.grad is not None])",
    ]
