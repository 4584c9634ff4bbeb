"""Whether a stretch of code handles plain data alone: numbers, strings, files, containers of these, and no tensor."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, Function, Span
from ..facts.expressions import CallExpression, Expression, NamePath, TypeName, variable_of, words_of
from ..facts.index import index_of
from .declared_types import declared_type

_DEPTH = 3
"""How many functions of the file are followed."""
_BUILT_IN = frozenset(
    """bool char double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t string string_view
    uint8_t uint16_t uint32_t uint64_t unsigned void wchar_t""".split()
)
_OF_STD = frozenset(
    """std array chrono deque filesystem fstream ifstream istream istringstream list map multimap ofstream optional
    ostream ostringstream pair path set stringstream tuple unordered_map unordered_set vector""".split()
)
"""Types whose constructors and destructors do nothing to a tensor."""
_RUNS_SOMETHING = frozenset({"apply", "async", "bind", "call_once", "function", "invoke", "jthread", "thread"})
_OF_TORCH = frozenset({"torch", "at", "c10", "caffe2", "jit", "Tensor", "Module", "IValue", "Variable", "auto"})


def handles_plain_data_alone(span: Span, function: int | None, facts: Facts, depth: int = _DEPTH) -> bool:
    """Whether nothing in the span can reach a tensor: all types are in sight and plain, as is all that is called."""
    here = index_of(facts)
    if here.calls.first(span) is None and here.assignments.first(span) is None:
        return False
    if any(here.functions.within(span)) or any(words_of(one.value) & _OF_TORCH for one in here.returns.within(span)):
        return False
    return all(_is_plain_assignment(one, facts) for one in here.assignments.within(span)) and all(
        _is_plain_call(call, function, facts, depth) for call in here.calls.within(span)
    )


def is_plain(type_: TypeName | None, facts: Facts) -> bool:
    """Whether a type is a number, a string, a struct of such, or of the standard library and made of these."""
    return type_ is not None and bool(type_.path) and _names_plain_types(type_, facts)


def _names_plain_types(written: Expression, facts: Facts) -> bool:
    return words_of(written) <= _BUILT_IN | _OF_STD | _plain_structs(facts)


@answered_once
def _plain_structs(facts: Facts) -> frozenset[str]:
    """The names of the file's structs that have plain members and nothing else."""
    words: dict[str, set[str]] = {}
    for class_ in facts.classes:
        words.setdefault(class_.name, set()).update(*(words_of(member.type) for member in class_.members))
    others = {class_.name for class_ in facts.classes if class_.bases or not class_.only_data or not class_.members}
    users: dict[str, list[str]] = {}
    for name, used in words.items():
        for word in used - _BUILT_IN - _OF_STD:
            users.setdefault(word, []).append(name)
    refuted = [*others, *users.keys() - words.keys()]
    plain = words.keys() - others - {""}
    while refuted:
        for name in users.pop(refuted.pop(), ()):
            if name in plain:
                plain.discard(name)
                refuted.append(name)
    return frozenset(plain)


def _is_plain_assignment(given: Assignment, facts: Facts) -> bool:
    if words_of(given.value) & (_OF_TORCH - {"auto"}):
        return False
    if given.declares:
        value = given.value
        by_call = (
            isinstance(value, CallExpression) and isinstance(value.callee, NamePath) and value.callee.path[0] == "std"
        )
        return is_plain(given.type, facts) or by_call
    return _is_plain_variable(given.target, given.function, given.span.start, facts)


def _is_plain_variable(value: Expression | None, function: int | None, place: int, facts: Facts) -> bool:
    name = variable_of(value).removeprefix("this->")
    return bool(name) and is_plain(declared_type(name, function, place, facts), facts)


def _is_plain_call(call: Call, function: int | None, facts: Facts, depth: int) -> bool:
    if any(words_of(argument) & (_OF_TORCH - {"auto"}) for argument in call.arguments):
        return False
    if call.receiver is not None:
        return _is_plain_variable(call.receiver, function, call.span.start, facts)
    if call.path[:1] == ("std",):
        made = (call.called.template_arguments or ()) if isinstance(call.called, NamePath) else ()
        return call.name not in _RUNS_SOMETHING and all(_names_plain_types(one, facts) for one in made)
    if call.name in _BUILT_IN:
        return True
    found = index_of(facts).functions_named.get(call.name, []) if call.path else []
    return depth > 0 and len(found) == 1 and _is_plain_function(found[0], facts, depth - 1)


def _is_plain_function(function: Function, facts: Facts, depth: int) -> bool:
    """Whether a function of the file takes, gives and handles plain data alone; not so one that was not read."""
    if not function.declared_as or function.returns is None or not is_plain(function.returns, facts):
        return False
    if not all(is_plain(parameter.type, facts) for parameter in function.parameters):
        return False
    here = index_of(facts)
    index = here.function_numbers.get(id(function))
    empty = not any(here.calls.within(function.body)) and not any(here.assignments.within(function.body))
    return empty or handles_plain_data_alone(function.body, index, facts, depth)
