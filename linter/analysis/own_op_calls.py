"""Whether a kernel for an Autograd key calls its own op again, with nothing on the way that hides the key.

The dispatcher then comes back to the same kernel, for ever. A call is followed through `Function::apply` and plain
functions. It counts only where the op is given what the kernel was given: a kernel that calls its op for a part of its
input, or for a changed one, may come to an end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import guards
from ..facts import Call, Facts, Function, GuardUse, Registration
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    Operation,
    Subscript,
    nodes_of,
    pointee,
    simple_name,
    without_brackets,
)
from ..facts.index import index_of
from ..guards import Effect
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple
from .calls import QUERIES
from .names import names_agree
from .project import Project

_DEPTH = 4
"""Calls from a kernel to the call of the op: `apply`, and up to two plain functions."""
_FINDS_SCHEMA = frozenset({"findSchemaOrThrow", "findSchema", "findOp"})
_CALLS_HANDLE = frozenset({"call", "callBoxed"})
_HANDLES = frozenset({"OperatorHandle", "TypedOperatorHandle"})
_NOT_HIDING = frozenset({Effect.GRAD_MODE})
_MAY_HIDE = lazy_regex(r"Guard|Exclude|Below|Skip|NonVariable|Dispatch|Mode")
_NEVER_HIDES = lazy_regex(
    r"^(?:NoGradGuard|AutoGradMode|AutoFwGradMode|lock_guard)$|Device\w*Guard|(?:CUDA|Cuda|HIP|XPU|NPU|Stream)\w*Guard"
)
_SETS_KEYS = frozenset(
    {"tls_set_dispatch_key_excluded", "tls_set_dispatch_keyset_excluded", "_force_tls_local_dispatch_key_set"}
)
_KEEPS = QUERIES | frozenset(
    "contiguous detach clone move forward value value_or get toTensor variable_data tensor_data alias".split()
)
"""What a kernel does to an argument without giving its op another task."""


class OwnOpCall(NamedTuple):
    """The call that leads back to the kernel."""

    call: Call
    facts: Facts
    operator: str


def own_op_call(function: Function, facts: Facts, registration: Registration, project: Project) -> OwnOpCall | None:
    """The call by which a kernel that is registered there calls its own op again; None if it isn't shown to."""
    found = _Search(registration, project).leads_back(function, facts, _DEPTH)
    return OwnOpCall(*found, _name_of(registration)) if found is not None else None


def _name_of(registration: Registration) -> str:
    name = registration.operator
    return name if "::" in name or not registration.namespace or not name else f"{registration.namespace}::{name}"


class _Search:
    def __init__(self, registration: Registration, project: Project) -> None:
        self._operator = _name_of(registration)
        self._project = project
        self._seen: set[tuple[str, int]] = set()

    def leads_back(self, function: Function, facts: Facts, depth: int) -> tuple[Call, Facts] | None:
        """The first unguarded call in a function that comes to the op, or to what comes to it."""
        number = index_of(facts).function_numbers.get(id(function))
        if depth == 0 or number is None or (facts.path, number) in self._seen or not function.is_read:
            return None
        self._seen.add((facts.path, number))
        calls = [call for call in index_of(facts).calls.within(function.body) if _runs_in(call, number, facts)]
        if any(call.name in _SETS_KEYS for call in calls):
            return None
        for call in calls:
            if not _is_given_the_same(call, function, number, facts) or _is_guarded(call, function, facts):
                continue
            if self._is_own_op(call, function, facts):
                return call, facts
            reached = [self.leads_back(*callee, depth - 1) for callee in self._called(call, facts)]
            if reached and all(reached):
                inner = reached[0]
                assert inner is not None
                # Where a node of the graph computes its result, the guard belongs into its `forward`.
                return inner if call.path[-1:] == ("apply",) and inner[1].path == facts.path else (call, facts)
        return None

    # -- calls of the op

    def _is_own_op(self, call: Call, function: Function, facts: Facts) -> bool:
        if call.name in _CALLS_HANDLE:
            handles = [*([call.receiver] if call.receiver is not None else ()), *call.arguments[:1]]
            return any(self._is_own(handle, function, facts, 3) for handle in handles)
        return self._is_own_aten_op(call, function)

    def _is_own(self, handle: Expression, function: Function, facts: Facts, depth: int) -> bool:
        """Whether an expression is the handle of the op."""
        handle = pointee(handle)
        schema = _schema_in(handle)
        if schema is not None:
            return self._is_named(schema)
        if depth == 0:
            return False
        name = simple_name(handle)
        if name:
            if any(given.name == name and given.type.last in _HANDLES for given in function.parameters):
                return not self._operator  # of a fallback: the op that was called
            return self._is_own_variable(name, function, facts)
        if isinstance(handle, CallExpression) and isinstance(handle.callee, NamePath):
            makers = functions_named(handle.callee.path, facts, self._project)
            return bool(makers) and all(self._gives_own(maker, where, depth - 1) for maker, where in makers)
        return False

    def _is_own_variable(self, name: str, function: Function, facts: Facts) -> bool:
        number = index_of(facts).function_numbers.get(id(function))
        given = [
            assignment
            for assignment in facts.assignments
            if assignment.variable == name and assignment.function in (number, None)
        ]
        local = [assignment for assignment in given if assignment.function is not None]
        schemas = [
            schema
            for assignment in local or given
            for call in index_of(facts).calls.within(assignment.span)
            if (schema := schema_of(call.expression)) is not None
        ]
        return bool(schemas) and all(map(self._is_named, schemas))

    def _gives_own(self, maker: Function, facts: Facts, depth: int) -> bool:
        number = index_of(facts).function_numbers.get(id(maker))
        returned = [one.value for one in facts.returns if one.function == number and one.value is not None]
        return bool(returned) and all(self._is_own(value, maker, facts, depth) for value in returned)

    def _is_named(self, schema: tuple[str, str]) -> bool:
        """Whether a name and an overload, as the dispatcher is asked for them, are those of the op."""
        name, overload = schema
        own, _, own_overload = self._operator.partition(".")
        if "::" not in own:
            name = name.rpartition("::")[2]
        return name == own and (not own_overload or own_overload == overload)

    def _is_own_aten_op(self, call: Call, function: Function) -> bool:
        """`at::add(self, other)`, `self.add(other)` in the kernel of `aten::add` that was given just these."""
        namespace, _, name = self._operator.partition("::")
        if namespace != "aten" or call.name != name.partition(".")[0]:
            return False
        if call.path and call.path[0] not in ("at", "torch"):
            return False
        given = [*([call.receiver] if call.receiver is not None else ()), *call.arguments]
        own = [one.name for one in function.parameters if one.type.last != "AutogradContext"]
        return bool(own) and [simple_name(one) for one in given] == own

    # -- other calls

    def _called(self, call: Call, facts: Facts) -> list[tuple[Function, Facts]]:
        """The functions of the project that a free call can mean; of `F::apply`, the `forward` of F."""
        path = call.path
        if path[-1:] == ("apply",) and len(path) > 1:
            return [
                (function, where)
                for function, where in functions_named((path[-2], "forward"), facts, self._project)
                if self._project.autograd_method(where, function) == "forward"
            ]
        if not path or path[0] in ("at", "std", "c10"):
            return []
        found = functions_named(path, facts, self._project)
        fitting = [one for one in found if len(one[0].parameters) == len(call.arguments)]
        return fitting or [one for one in found if len(one[0].parameters) > len(call.arguments)]


def functions_named(path: tuple[str, ...], facts: Facts, project: Project) -> list[tuple[Function, Facts]]:
    """The functions that a name can mean in a file; its own come first."""
    own = [
        (function, facts)
        for function in index_of(facts).functions_named.get(path[-1], ())
        if not function.is_lambda and names_agree(path, function.qualified)
    ]
    if own:
        return own
    return [
        (function, where)
        for where in project
        if where.language == facts.language and path[-1] in index_of(where).function_names
        for function in index_of(where).functions_named[path[-1]]
        if not function.is_lambda
        and names_agree(path, function.qualified)
        and project.linkage.of_function(where, function, facts, path)
    ]


def _schema_in(handle: Expression) -> tuple[str, str] | None:
    """(name, overload) in `Dispatcher::singleton().findSchemaOrThrow("ns::op", "").typed<…>()`."""
    return next(filter(None, map(schema_of, nodes_of(handle))), None)


def schema_of(node: Expression) -> tuple[str, str] | None:
    if not isinstance(node, CallExpression) or not isinstance(node.callee, MemberAccess):
        return None
    if node.callee.name not in _FINDS_SCHEMA:
        return None
    texts = [_string(argument) for argument in _flat(node.arguments)]
    return (texts[0], texts[1] if len(texts) > 1 else "") if texts and texts[0] else None


def _flat(arguments: Sequence[Expression]) -> Iterator[Expression]:
    """Also what is in the braces of `findSchema({"ns::op", ""})`."""
    for argument in arguments:
        if isinstance(argument, Bracketed):
            yield from argument.items
        else:
            yield argument


def _string(expression: Expression) -> str:
    is_text = isinstance(expression, LiteralExpression) and expression.kind is LiteralKind.STRING
    return str(expression).strip('"') if is_text else ""


def _runs_in(call: Call, number: int, facts: Facts) -> bool:
    """Whether a call is made when the function runs, and not only when a lambda in it does."""
    inner = call.function
    while inner is not None and inner != number:
        if not facts.functions[inner].immediately_invoked:
            return False
        inner = facts.functions[inner].parent
    return inner == number


# -- what keeps the call from coming back


def _is_guarded(call: Call, function: Function, facts: Facts) -> bool:
    """Whether something in front of the call hides the Autograd key, or may."""
    index = index_of(facts)
    for use in index.uses.within(function.body):
        if use.type_span.start < call.span.start and use.scope.holds(call.span) and _hides(use):
            return True
    return any(
        assignment.declares
        and assignment.type is not None
        and assignment.span.start < call.span.start
        and _MAY_HIDE.search(assignment.type.last) is not None
        and _NEVER_HIDES.search(assignment.type.last) is None
        and assignment.type.last not in guards.CPP
        for assignment in index.assignments.within(function.body)
    )


def _hides(use: GuardUse) -> bool:
    guard = guards.CPP.get(use.guard)
    if guard is None:
        return True  # a type or macro of the project's own, made of guards
    if guard.name == "ExcludeDispatchKeyGuard" and use.argument is not None:
        return "utocast" not in str(use.argument.expression)
    return guard.effect not in _NOT_HIDING and guard.name not in (
        "GraphOptimizerEnabledGuard",
        "IncludeDispatchKeyGuard",
        "NoTracerDispatchMode",
    )


def _is_given_the_same(call: Call, function: Function, number: int, facts: Facts) -> bool:
    """Whether the arguments are those of the function, so that the call is the same task again."""
    several_ways = sum(one.function == number for one in facts.returns) > 1
    return all(_is_kept(argument, number, facts, several_ways, 3) for argument in call.arguments)


def _is_kept(argument: Expression, number: int, facts: Facts, several_ways: bool, depth: int) -> bool:
    argument = without_brackets(argument)
    name = simple_name(argument)
    if name and depth:
        given = [one for one in facts.assignments if one.function == number and one.variable == name]
        return all(
            one.value is None or _is_kept(one.value, number, facts, several_ways, depth - 1) for one in given
        ) and (len(given) <= 1)
    for node in nodes_of(argument):
        if isinstance(node, Subscript) or (isinstance(node, Operation) and len(node.operands) == 2):
            return False
        if isinstance(node, CallExpression):
            called = node.callee.name if isinstance(node.callee, (NamePath, MemberAccess)) else ""
            if called not in _KEEPS or several_ways:
                return False
    return True
