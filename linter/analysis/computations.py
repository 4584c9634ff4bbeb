"""Whether something in a stretch of code may compute a tensor: a call, or an expression with an operator."""

from __future__ import annotations

import re
from functools import lru_cache

from ..facts import Call, Facts, Span
from ..facts.index import index_of
from ..facts.spans import Sorted
from .calls import computes_nothing

_OPERATION = re.compile(
    r"\w\[|^[({]?\s*[-~]\s*[A-Za-z_(]|[\w)\]]\s*(?:[-+*/%@&|^]|<<|>>|[<>=!]=|[<>])=?\s*[-~]?[\w(]|\?\s*\w"
)
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)<[\w:,&* ]*(?:<[\w:,&* ]*>)?[\w:,&* ]*>(?=[({:])")


def first_computation_in(span: Span, facts: Facts) -> Call | str | None:
    """The first call that may compute a tensor, or else the first expression with an operator; None without either."""
    for call in index_of(facts).calls.within(span):
        if not computes_nothing(call):
            return call
    return next((text for _, text in _operations(facts).within(span)), None)


@lru_cache(maxsize=64)
def _operations(facts: Facts) -> Sorted[tuple[Span, str]]:
    """The assignments and returned values in which a tensor may be computed without a call."""
    found = [(returned.span, returned.value) for returned in facts.returns if _has_operation(returned.value)]
    for assignment in facts.assignments:
        if assignment.target.startswith(("ctx->", "ctx.")):
            continue
        if assignment.operator != "=" or assignment.target.endswith("]") or _has_operation(assignment.value):
            found.append((assignment.span, assignment.value or assignment.target))
    return Sorted(found, lambda operation: operation[0])


def _has_operation(value: str) -> bool:
    """Whether an operator of tensors may stand in the expression."""
    return _OPERATION.search(_TEMPLATE_ARGUMENTS.sub("", value)) is not None
