"""What ops are: in-place ops, view ops and factories, by the names and signatures that PyTorch gives them."""

from __future__ import annotations

from ..facts import Call, Function
from ..lazy_regex import lazy_regex
from .declared_types import mentions_tensor

# Ops whose autograd kernels must leave view tracking and version bumps on below them
# (torch/csrc/autograd/VariableTypeManual.cpp; the view ops of ATen/native/native_functions.yaml).
_VIEW_OPS = frozenset(
    """_fw_primal _make_dual alias as_strided detach diagonal expand expand_as movedim narrow permute real imag
    reshape_alias select slice split split_with_sizes squeeze swapaxes swapdims t transpose unbind unfold unsqueeze
    values view view_as view_as_real view_as_complex chunk tensor_split indices crow_indices col_indices""".split()
)
_FACTORIES = frozenset(
    """arange empty empty_like empty_strided eye from_blob full full_like linspace logspace ones ones_like rand
    rand_like randint randn randn_like randperm scalar_tensor tensor zeros zeros_like scalar_to_tensor
    wrapped_scalar_tensor make_tensor""".split()
)
_EMPTY_OF_A_BACKEND = lazy_regex(r"_?empty_\w+$")
"""`at::native::empty_cpu`, `_empty_affine_quantized`: what makes the tensors of one backend."""
_FROM_DATA = lazy_regex(r"(?:\w+_)?tensor_(?:from_\w+|ctor|new)$|(?:\w+_)?new_from_\w+$")
"""`torch::utils::indexing_tensor_from_data`, `tensor_ctor`, `internal_new_from_data`: what Python's data becomes."""
_SELF_IS_AMONG_THE_FIRST = 3
"""An in-place kernel takes `Tensor& self` after at most a context and a key set."""


def is_in_place_or_view(function: Function, operator: str = "") -> bool:
    """Whether the function implements an in-place or a view op, by its op's name and its signature."""
    name = operator.rsplit("::", 1)[-1].split(".")[0] or function.name
    if name in _VIEW_OPS:
        return True
    if not name.endswith("_") or name.endswith("__"):
        return False
    first = function.parameters[:_SELF_IS_AMONG_THE_FIRST]
    return any(mentions_tensor(parameter.type) and "&" in parameter.type.marks for parameter in first)


def is_factory_by_name(call: Call) -> bool:
    """Whether the call makes a new tensor, or has the name of a function that does: `tensor(1.0)` after `using`."""
    return is_factory(call) or (call.receiver is None and len(call.path) == 1 and call.name in _FACTORIES)


def is_factory_name(name: str) -> bool:
    """Whether a function of torch with that name makes a new tensor."""
    return name in _FACTORIES


def is_factory(call: Call) -> bool:
    """Whether the call makes a new tensor: `at::empty(…)`, `torch::from_blob(…)`, `at::detail::make_tensor<…>(…)`."""
    if call.path[:1] not in (("at",), ("torch",), ("c10",)):
        return False
    return call.name in _FACTORIES or any(made.match(call.name) for made in (_EMPTY_OF_A_BACKEND, _FROM_DATA))
