"""Calls of autograd's own bookkeeping: a function with one of them builds the graph by hand."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Call, Facts, Span
from ..facts.index import index_of

_BOOKKEEPING = frozenset(
    {
        "collect_next_edges",
        "set_history",
        "rebase_history",
        "compute_requires_grad",
        "check_inplace",
        "increment_version",
        "as_view",
        "make_variable_differentiable_view",
        "create_gradient_edge",
        "set_next_edges",
        "_set_fw_grad",
        "throw_error_for_complex_autograd",
        "throw_error_out_requires_grad",
        "isFwGradDefined",
    }
)
_OF_IN_PLACE_AND_VIEW_OPS = frozenset(
    {"check_inplace", "rebase_history", "as_view", "make_variable_differentiable_view"}
)
"""What the kernels of ops that write to their arguments, or return views of them, call."""
_METHODS = frozenset({"set_next_edges", "_set_fw_grad"})
_SPACES = frozenset("torch at c10 autograd impl jit generated details VariableTypeUtils graph".split())


def builds_graph(call: Call, facts: Facts) -> bool:
    """Whether the call is one of autograd's own bookkeeping functions, not another library's of that name."""
    if call.name not in _BOOKKEEPING:
        return False
    if call.receiver:
        return call.name in _METHODS
    if not _SPACES.issuperset(call.path[:-1]):
        return False
    if call.name == "as_view" and len(call.arguments) < 2:
        return False  # autograd's takes the base and the view
    own = index_of(facts).functions_named.get(call.name, [])
    return not own or any(function.qualified[0] in ("at", "torch", "c10") for function in own)


@answered_once
def is_kernel_of_in_place_or_view(facts: Facts, span: Span) -> bool:
    """Whether a function does the bookkeeping of an in-place or a view op, whatever its name is."""
    return any(
        call.name in _OF_IN_PLACE_AND_VIEW_OPS and builds_graph(call, facts)
        for call in index_of(facts).calls.within(span)
    )


@answered_once
def first_bookkeeping_in(facts: Facts, span: Span) -> Call | None:
    """A function may hold many guards: what it says is found once."""
    return next((call for call in index_of(facts).calls.within(span) if builds_graph(call, facts)), None)
