"""Code under a C++ guard that computes no tensor: it makes callables that are called later, or handles raw memory.

What isn't known to be idle isn't: an object of a class, a call of an unknown function, an operator on what may be a
tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import guards
from ..facts import Call, Facts, GuardUse
from ..facts.bodies import AnyStatement, Assign, Body, Evaluate, If, Loop, Raise, ReturnStatement
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    CastExpression,
    Construction,
    Expression,
    LambdaExpression,
    LiteralExpression,
    MemberAccess,
    NamePath,
    Operation,
    Subscript,
    TypeName,
    last_name,
    nodes_of,
    pointee,
    simple_name,
    words_of,
)
from ..facts.index import index_of
from ..guards import Effect
from ..lazy_regex import lazy_regex
from .calls import QUERIES, computes_nothing, is_load, is_run
from .covered_statements import covered_statements
from .declared_types import declared_type
from .plain_data import is_plain
from .training_calls import training_in

_HANDS_ON = frozenset({"move", "ref", "cref", "forward", "function", "packaged_task", "make_shared", "make_unique"})
_IDLE_CAPTURE = lazy_regex(r"&?\s*\w+\s*=\s*(?:std::move\([\w.]+\)|\*?[\w.]+)")
_BINDS = frozenset({"bind", "bind_front", "mem_fn", "not_fn"})


# -- the guard itself


def fills_the_guard_alone(use: GuardUse, facts: Facts) -> bool:
    """Whether all that is done with an optional or a pointer is to give it the guard: `guard.emplace();`."""
    covered = covered_statements(use, facts)
    if covered is None or use.holder is None or not use.holder.name:
        return False
    _, statements = covered
    return all(_fills(statement, use.holder.name) for statement in statements)


def _fills(statement: AnyStatement, name: str) -> bool:
    if isinstance(statement, Assign):
        return not statement.declares and all(simple_name(target) == name for target in statement.targets)
    if isinstance(statement, ReturnStatement):
        return statement.value is None or _is_idle_value(statement.value)
    if isinstance(statement, If):
        return _is_idle_value(statement.condition) and all(
            _fills(one, name) for one in (*statement.then, *statement.otherwise)
        )
    value = statement.value if isinstance(statement, Evaluate) else None
    callee = value.callee if isinstance(value, CallExpression) else None
    return isinstance(callee, MemberAccess) and simple_name(callee.object) == name


# -- models


def loads_a_model_alone(use: GuardUse, facts: Facts) -> Call | None:
    """Where the file runs a model outside every guard, if this one covers only the load of one; else None.

    What loads a model records nothing, and what is loaded requires grad all the same. Under inference mode parameters
    would become inference tensors: such a guard does something.
    """
    covered = covered_statements(use, facts)
    guard = guards.CPP.get(use.guard)
    if covered is None or guard is None or guard.effect is not Effect.GRAD_MODE:
        return None
    _, statements = covered
    places = index_of(facts)
    calls = [call for call in places.calls.within(use.live) if call.span.start > use.span.end]
    loads = [call for call in calls if is_load(call)]
    if not loads or not all(isinstance(statement, (Assign, Evaluate, ReturnStatement)) for statement in statements):
        return None
    if not all(is_load(call) or call.name in _MOVES_A_MODEL or computes_nothing(call) for call in calls):
        return None
    if any(map(training_in, facts.calls)):
        return None
    runs = (call for call in facts.calls if is_run(call) and not is_load(call))
    return next((call for call in runs if not any(places.uses_around(call.span))), None)


_MOVES_A_MODEL = frozenset({"eval", "to", "cuda", "cpu", "c_str", "string", "str"})
"""What is called, of models and of their files' names, where one is loaded; the table knows tensors' methods."""


# -- callables


def makes_callables_alone(use: GuardUse, facts: Facts) -> bool:
    """Whether all that is under the guard is callables that are made there: nothing calls them before it ends.

    Those with their own guard need no other.
    """
    covered = covered_statements(use, facts)
    if covered is None:
        return False
    body, statements = covered
    makes = False
    names: set[str] = set()
    for statement in statements:
        if _switches_module(statement) or _declares_callable(statement, facts):
            continue
        given = _given(statement, body, facts)
        if given is None or (isinstance(statement, Assign) and not _takes_callable(statement, facts)):
            return False
        if _is_callable(given, body, names, facts):
            makes = True
            if isinstance(statement, Assign):
                names |= {simple_name(target) for target in statement.targets} - {""}
        elif not _is_idle_value(given):
            return False
    return makes


def _switches_module(statement: AnyStatement) -> bool:
    """`net->eval();`"""
    value = statement.value if isinstance(statement, Evaluate) else None
    if not isinstance(value, CallExpression) or not isinstance(value.callee, MemberAccess):
        return False
    return value.callee.name in ("eval", "train") and all(map(_is_idle_value, (value.callee.object, *value.arguments)))


def _declares_callable(statement: AnyStatement, facts: Facts) -> bool:
    """`std::function<at::Tensor()> predict;`, which holds nothing yet."""
    return (
        isinstance(statement, Assign)
        and statement.declares
        and statement.value is None
        and statement.type is not None
        and _is_function_type(statement.type.last, facts)
    )


def _given(statement: AnyStatement, body: Body, facts: Facts) -> Expression | None:
    """What a statement stores or gives back; None of one that does anything else."""
    if isinstance(statement, ReturnStatement) and statement.value is not None:
        return statement.value
    if isinstance(statement, Assign) and statement.operator == "=":
        return statement.value
    value = statement.value if isinstance(statement, Evaluate) else None
    callee = value.callee if isinstance(value, CallExpression) else None
    if isinstance(callee, MemberAccess) and callee.name in ("push_back", "emplace_back"):
        assert isinstance(value, CallExpression)
        type_ = declared_type(simple_name(callee.object), body.function, statement.span.start, facts)
        inner = next((node for node in nodes_of(type_) if isinstance(node, NamePath) and node.template_arguments), None)
        held = inner.template_arguments[0] if inner is not None and inner.template_arguments else None
        name = held.last if isinstance(held, TypeName) else last_name(held)
        return value.arguments[0] if _is_function_type(name, facts) and len(value.arguments) == 1 else None
    return None


def _takes_callable(statement: Assign, facts: Facts) -> bool:
    """Whether what is stored stays as it is: a variable of an own class may run what it is given."""
    if not all(isinstance(target, (NamePath, MemberAccess)) for target in statement.targets):
        return False
    type_ = statement.type
    return type_ is None or type_.last in ("auto", "packaged_task") or _is_function_type(type_.last, facts)


def _is_function_type(name: str, facts: Facts) -> bool:
    """`std::function`, or `Predictor` of `using Predictor = std::function<at::Tensor(at::Tensor)>;`."""
    return name == "function" or any(alias.name == name and alias.path[-1:] == ("function",) for alias in facts.aliases)


def _is_callable(value: Expression, body: Body, names: set[str], facts: Facts) -> bool:
    """A lambda, `std::bind(…)`, a variable that holds one, and what hands one on."""
    if isinstance(value, Bracketed) and len(value.items) == 1:
        return _is_callable(value.items[0], body, names, facts)
    if isinstance(value, LambdaExpression):
        return value.body is not None and _is_unguarded(body.inner[value.body], facts)
    if isinstance(value, CallExpression) and isinstance(value.callee, NamePath) and value.callee.path[0] == "std":
        name = value.callee.name
        if name in _BINDS:
            return bool(value.arguments) and all(map(_is_idle_value, value.arguments))
        return name in _HANDS_ON and len(value.arguments) == 1 and _is_callable(value.arguments[0], body, names, facts)
    return simple_name(value) in names


def _is_unguarded(made: Body, facts: Facts) -> bool:
    """Whether a lambda captures what is there already, and sets no mode by itself."""
    computes = any("=" in captured[1:] and not _IDLE_CAPTURE.fullmatch(captured) for captured in made.captures)
    return not computes and index_of(facts).uses.first(made.span) is None


def _is_idle_value(value: Expression) -> bool:
    """A name, a literal, a member, an address: nothing runs."""
    if isinstance(value, Operation) and value.is_address:
        return _is_idle_value(value.operands[0])
    if isinstance(value, MemberAccess):
        return _is_idle_value(value.object)
    if isinstance(value, CallExpression):
        moved = isinstance(value.callee, NamePath) and value.callee.path in (("std", "move"), ("std", "ref"))
        return moved and all(map(_is_idle_value, value.arguments))
    return isinstance(value, (NamePath, LiteralExpression))


# -- raw memory

_POINTERS = frozenset({"data_ptr", "mutable_data_ptr", "const_data_ptr"})
_RUNTIME = lazy_regex(r"(?:cuda|hip|cu|musa|acl|aclrt)[A-Z]\w*")
_MACRO = lazy_regex(r"(?:[A-Z][A-Z0-9]*_)*(?:CHECK|ASSERT|CHECK_\w+|ASSERT_\w+)")
_STREAMS = lazy_regex(r"getCurrent(?:CUDA|HIP|MUSA|NPU)Stream|ceil_div|current_device|stream|getDefault\w+Stream")
_GUARDS_OF_DEVICES = lazy_regex(r"(?:Optional)?(?:CUDA|HIP|Device|NPU|MUSA)(?:Stream)?Guard")
_DISPATCHES = lazy_regex(r"AT_DISPATCH_\w+")
_SIZES = frozenset({"dim3", "min", "max", "static_cast", "reinterpret_cast", "const_cast", "make_pair", "make_tuple"})
_OF_TORCH = frozenset({"torch", "at", "c10", "forward", "from_blob"})
_LAUNCHING = (".cu", ".cuh", ".hip")


def handles_raw_memory_alone(use: GuardUse, facts: Facts) -> bool:
    """Whether tensors are only asked for sizes and pointers, which loops or functions work on: no op is called."""
    covered = covered_statements(use, facts)
    if covered is None or use.function is None:
        return False
    body, statements = covered
    parameters = {parameter.name: parameter.annotation for parameter in body.parameters}
    plain = {
        name
        for name, type_ in parameters.items()
        if isinstance(type_, TypeName) and ("*" in type_.marks or is_plain(type_, facts))
    }
    reading = _RawReading(facts, plain)
    return reading.all_raw(statements, body) and reading.uses_pointers


class _RawReading:
    """Reads statements in their order, with the names that hold numbers and pointers."""

    def __init__(self, facts: Facts, plain: set[str]) -> None:
        self._facts = facts
        self._plain = plain
        self.uses_pointers = False

    def all_raw(self, statements: Sequence[AnyStatement], body: Body) -> bool:
        return all(self._is_raw_statement(statement, body) for statement in statements)

    def _is_raw_statement(self, statement: AnyStatement, body: Body) -> bool:
        if isinstance(statement, Raise):
            return True
        if isinstance(statement, ReturnStatement):
            return statement.value is None or _is_idle_value(statement.value) or self._is_raw(statement.value, body)
        if isinstance(statement, Evaluate):
            return self._is_raw(statement.value, body)
        if isinstance(statement, If):
            inside = (*statement.then, *statement.otherwise)
            return self._is_raw(statement.condition, body) and self.all_raw(inside, body)
        if isinstance(statement, Loop) and statement.iterable is None:
            asked = statement.condition is None or self._is_raw(statement.condition, body)
            return asked and self.all_raw(statement.block, body)
        if isinstance(statement, Assign):
            return self._is_raw_assignment(statement, body)
        return False

    def _is_raw_assignment(self, statement: Assign, body: Body) -> bool:
        if statement.type is not None and _GUARDS_OF_DEVICES.fullmatch(statement.type.last):
            return True
        if statement.value is not None and not self._is_raw(statement.value, body):
            return False
        if not statement.declares:
            return all(self._is_raw(target, body) for target in statement.targets)
        type_ = statement.type
        if type_ is None or not (
            "*" in type_.marks
            or type_.last in ("auto", "dim3")
            or "Stream" in type_.last
            or is_plain(type_, self._facts)
        ):
            return False
        self._plain |= {simple_name(target) for target in statement.targets} - {""}
        return True

    def _is_raw(self, value: Expression, body: Body) -> bool:
        match value:
            case LiteralExpression():
                return True
            case NamePath():
                return len(value.path) > 1 or value.name in self._plain or value.name.isupper()
            case MemberAccess():
                return self._is_raw(value.object, body)
            case Bracketed():
                return all(self._is_raw(item, body) for item in value.items)
            case Operation():
                return all(self._is_raw(operand, body) for operand in value.operands)
            case CastExpression():
                return self._is_raw(value.value, body)
            case Subscript():
                raw = all(self._is_raw(part, body) for part in (value.object, *value.indices))
                self.uses_pointers = self.uses_pointers or raw
                return raw
            case Construction():
                return last_name(value.type) == "dim3" and self._is_raw(value.arguments, body)
            case CallExpression():
                return self._is_raw_call(value, body)
        return False

    def _is_raw_call(self, call: CallExpression, body: Body) -> bool:
        callee = call.callee
        if isinstance(callee, MemberAccess):
            holder = pointee(callee.object)
            held = isinstance(holder, NamePath) or (isinstance(holder, MemberAccess) and _is_idle_value(holder))
            return (
                held
                and (callee.name in QUERIES or callee.name in _POINTERS or self._is_raw(callee.object, body))
                and all(self._is_raw(argument, body) for argument in call.arguments)
            )
        if not isinstance(callee, NamePath):
            return False
        if _DISPATCHES.fullmatch(callee.name):
            return all(self._is_dispatched(argument, body) for argument in call.arguments)
        if not all(self._is_raw(argument, body) for argument in call.arguments):
            return False
        name = callee.name
        known = name in _SIZES or any(one.fullmatch(name) for one in (_RUNTIME, _MACRO, _STREAMS))
        if known or (callee.path[0] == "std" and name not in ("async", "thread", "invoke", "apply")):
            return True
        if not self._works_on_memory(callee):
            return False
        self.uses_pointers = self.uses_pointers or any(
            last_name(node) in _POINTERS for argument in call.arguments for node in nodes_of(argument)
        )
        return True

    def _is_dispatched(self, argument: Expression, body: Body) -> bool:
        if isinstance(argument, LambdaExpression):
            inner = body.inner[argument.body] if argument.body is not None else None
            return inner is not None and inner.is_read and self.all_raw(inner.statements, inner)
        return self._is_raw(argument, body)

    def _works_on_memory(self, callee: NamePath) -> bool:
        """A function that is given no tensor: a kernel, which can't call an op, or one in sight that doesn't."""
        calls = index_of(self._facts).calls
        found = index_of(self._facts).functions_named.get(callee.name, [])
        if not found:
            return self._facts.path.endswith(_LAUNCHING) and len(callee.path) == 1
        return all(
            not function.is_lambda
            and (function.returns is None or function.returns.last == "void")  # None after `__global__`
            and not any(words_of(call.expression) & _OF_TORCH for call in calls.within(function.body))
            for function in found
        )
