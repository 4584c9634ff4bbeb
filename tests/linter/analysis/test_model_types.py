"""Which types are models, and which only look like it."""

from __future__ import annotations

import pytest

from cpp_snippets import facts_of
from guardfix.linter.analysis.model_types import is_model_type, loads_by_construction


@pytest.mark.parametrize(
    ("written", "model", "loads"),
    [
        ("torch::jit::Module", True, False),
        ("std::shared_ptr<torch::nn::Module>", True, False),
        ("torch::nn::Linear", True, False),
        ("std::vector<nn::Conv2d>", True, False),
        ("torch::nn::LinearOptions", False, False),
        ("torch::nn::functional::PadFuncOptions", False, False),
        ("torch::jit::GraphExecutor", True, False),
        ("torch::jit::Method", True, False),
        ("torch::jit::script::Method", True, False),
        ("torch::jit::Function*", True, False),
        ("torch::autograd::Function<F>", False, False),
        ("http::Method", False, False),
        ("torch::inductor::AOTIModelPackageLoader", True, True),
        ("app::Module", True, False),
        ("ModuleConfig", False, False),
        ("at::Tensor", False, False),
    ],
)
def test_types(written: str, model: bool, loads: bool) -> None:
    (class_,) = facts_of(f"struct Holder {{ {written} held; at::AutoNonVariableTypeMode guard; }};").classes
    type_ = next(member.type for member in class_.members if member.name == "held")
    assert (is_model_type(type_), loads_by_construction(type_)) == (model, loads)
