"""What ops are: in-place ops, view ops and factories, by the names and signatures that PyTorch gives them."""

from __future__ import annotations

from functools import cache

import guardfix.torch_ops as torch_ops  # `from guardfix import …` would import the library

from ..answered_once import answered_once
from ..facts import Call, Facts, Function
from ..lazy_regex import lazy_regex
from .declared_types import mentions_tensor

_MORE_VIEWS = frozenset("""_fw_primal _make_dual reshape_alias real indices values crow_indices col_indices""".split())
"""Views that the table has otherwise: autograd's own, parts of sparse tensors, and `real`, which may give itself."""
_MORE_FACTORIES = frozenset({"from_blob", "make_tensor", "scalar_to_tensor", "tensor", "wrapped_scalar_tensor"})
"""What makes tensors of data, or inside of ATen: no op of the table."""
_EMPTY_OF_A_BACKEND = lazy_regex(r"_?empty_\w+$")
"""`at::native::empty_cpu`, `_empty_affine_quantized`: what makes the tensors of one backend."""
_FROM_DATA = lazy_regex(r"(?:\w+_)?tensor_(?:from_\w+|ctor|new)$|(?:\w+_)?new_from_\w+$")
"""`torch::utils::indexing_tensor_from_data`, `tensor_ctor`, `internal_new_from_data`: what Python's data becomes."""
_SCHEMA = lazy_regex(r'(?:R"\w*\(|")\s*(?:\w+::)?([\w.]+)\(')
_ALIASED = lazy_regex(r"\bTensor(?:!|\(\w)")
"""`Tensor(a)`, `Tensor(a!)`, `Tensor!`: autograd's kernel leaves views and counters to what is below it."""
_SELF_IS_AMONG_THE_FIRST = 3
"""An in-place kernel takes `Tensor& self` after at most a context and a key set."""


def is_in_place_or_view(function: Function, operator: str = "") -> bool:
    """Whether the function implements an in-place or a view op, by its op's name and its signature."""
    name = operator.rsplit("::", 1)[-1].split(".")[0] or function.name
    if _is_view(name):
        return True
    if not name.endswith("_") or name.endswith("__"):
        return False
    first = function.parameters[:_SELF_IS_AMONG_THE_FIRST]
    return any(mentions_tensor(parameter.type) and "&" in parameter.type.marks for parameter in first)


def says_that_it_aliases(operator: str, facts: Facts) -> bool:
    """Whether an op's schema in the file says that it writes to an argument, or gives a view of one."""
    return operator.rsplit("::", 1)[-1] in _aliasing_ops(facts)


@answered_once
def _aliasing_ops(facts: Facts) -> frozenset[str]:
    schemas = (str(call.arguments[0]) for call in facts.calls if call.name in ("def", "define") and call.arguments)
    found = (_SCHEMA.match(schema) for schema in schemas if _ALIASED.search(schema))
    return frozenset(schema[1] for schema in found if schema is not None)


@cache
def _is_view(name: str) -> bool:
    """Whether the op gives views: its autograd kernel must leave view tracking and version bumps on below it
    (torch/csrc/autograd/VariableTypeManual.cpp)."""
    rows = (*torch_ops.function(name), *torch_ops.method(name))
    return name in _MORE_VIEWS or any(result.startswith("view") for row in rows for result in row.results)


def is_factory_by_name(call: Call) -> bool:
    """Whether the call makes a new tensor, or has the name of a function that does: `tensor(1.0)` after `using`."""
    return is_factory(call) or (call.receiver is None and len(call.path) == 1 and is_factory_name(call.name))


@cache
def is_factory_name(name: str) -> bool:
    """Whether a function of torch with that name makes a new tensor of no other one, or like another one."""
    for row in torch_ops.function(name)[:1]:
        of_tensors = any(one.kind in ("tensor", "tensors") and not one.optional for one in row.arguments)
        if row.results == ("new",) and (name.endswith("_like") or not of_tensors):
            return True
    return name in _MORE_FACTORIES


def is_factory(call: Call) -> bool:
    """Whether the call makes a new tensor: `at::empty(…)`, `torch::from_blob(…)`, `at::detail::make_tensor<…>(…)`."""
    if call.path[:1] not in (("at",), ("torch",), ("c10",)):
        return False
    return is_factory_name(call.name) or any(made.match(call.name) for made in (_EMPTY_OF_A_BACKEND, _FROM_DATA))
