"""Which functions a member of a class can hold: a `std::function`, a pointer, a map or a list of these.

What it is given is looked for where the code gives it: `loop.body = [m](…) {…}`, `handlers_["run"] = &Net::run`,
`steps_.push_back(…)`, `Loop(Body b) : body(std::move(b))`. A parameter is followed to the calls of its function: of a
setter, or a constructor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, Function, Span
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Construction,
    Expression,
    LambdaExpression,
    LiteralExpression,
    MemberAccess,
    NamePath,
    NewExpression,
    Subscript,
    TypeName,
    is_this,
    last_name,
    pointee,
    simple_name,
)
from ..facts.index import declarations_of, index_of
from ..named_tuples import NamedTuple
from .call_names import MOST_METHODS, CallNames, FunctionNode, class_around
from .declared_types import declared_type
from .function_outlines import MAKERS
from .project import Project

_DEPTH = 4
"""Parameters and variables that are followed from a member to what it is given."""
_ADDS = frozenset({"push_back", "emplace_back", "push", "emplace", "insert", "insert_or_assign", "try_emplace"})
_HANDS_ON = frozenset({"move", "forward", "ref", "cref", "function", "packaged_task", "bind", "bind_front", "mem_fn"})


class Gift(NamedTuple):
    """What a member is given in a place."""

    target: Expression
    value: Expression
    span: Span
    function: int | None


class _Unclear(Exception):
    """What is given isn't in sight."""


class HeldFunctions:
    """Answers for one state of a project; `want` is called with functions of other files that may be given.

    `sought` are the names that have to be looked for in all files first: there something else may be given.
    """

    def __init__(self, project: Project, names: CallNames, want: Callable[[str], None]) -> None:
        self._project, self._names, self._want = project, names, want
        self.sought: set[str] = set()
        self._gifts: dict[str, list[tuple[Facts, Gift]]] = defaultdict(list)
        for facts in project:
            for name, gifts in _gifts_in(facts).items() if facts.linked else ():
                self._gifts[name] += ((facts, gift) for gift in gifts)

    def of(self, class_: str, member: str, facts: Facts) -> tuple[FunctionNode, ...]:
        """What that member of a class, as a file means it, can hold; nothing where some of it isn't in sight.

        Both files have to include the class: of a name alone, nothing shows whose member it is.
        """
        self._names.asked.update((class_, member))
        found: dict[FunctionNode, None] = {}
        try:
            if not member.endswith("_") and not member.startswith("m_"):  # other classes leave these alone
                self._seek(member)
            for where, gift in self._gifts.get(member, ()):
                if self._is_of(gift, class_, where) and self._names.share(class_, facts, where):
                    found |= dict.fromkeys(self._in(gift.value, where, gift.span, gift.function, _DEPTH))
        except _Unclear:
            return ()
        return tuple(found)[:MOST_METHODS]

    def _seek(self, name: str) -> None:
        """Makes sure that a name has been looked for in all files."""
        self._names.asked.add(name)
        if name not in self._project.asked:
            self.sought.add(name)
        if name not in self._project.asked or name in self._project.common:
            raise _Unclear

    def _is_of(self, gift: Gift, class_: str, facts: Facts) -> bool:
        """Whether what is given something is a member of that class."""
        chain = facts.enclosing(gift.function)
        if isinstance(gift.target, MemberAccess) and not is_this(gift.target.object):
            name = simple_name(pointee(gift.target.object))
            type_ = declared_type(name, gift.function, gift.span.start, facts) if name else None
            return type_ is not None and type_.last == class_
        return bool(chain) and class_around(chain) == class_

    def _in(
        self, value: Expression, facts: Facts, span: Span, function: int | None, depth: int
    ) -> Iterator[FunctionNode]:
        """The functions that an expression in a place can be."""
        value = pointee(value)
        if isinstance(value, LiteralExpression):
            return  # `nullptr`
        if isinstance(value, LambdaExpression):
            yield from _lambdas_in(facts, span)
        elif isinstance(value, Bracketed) and value.items:
            yield from self._in(value.items[-1], facts, span, function, depth)  # `{"name", f}`
        elif isinstance(value, CallExpression) and last_name(value.callee) in _HANDS_ON and value.arguments:
            yield from self._in(value.arguments[0], facts, span, function, depth)
        elif isinstance(value, Construction):
            yield from self._in(value.arguments, facts, span, function, depth)
        elif isinstance(value, NamePath) and depth:
            yield from self._named(value, facts, function, depth)
        else:
            raise _Unclear

    def _named(self, value: NamePath, facts: Facts, function: int | None, depth: int) -> Iterator[FunctionNode]:
        name = simple_name(value)
        for around in facts.enclosing(function) if name else ():
            for number, parameter in enumerate(around.parameters):
                if parameter.name == name:
                    yield from self._given(facts, around, number, depth - 1)
                    return
        local = _declaration(name, facts, function)
        if local is not None:
            if local.value is None:
                raise _Unclear
            yield from self._in(local.value, facts, local.span, local.function, depth - 1)
            return
        self._want(value.name)
        found = self._names.functions(value.path)
        if not found or (len(value.path) == 1 and len(found) > 1):
            raise _Unclear
        yield from found

    def _given(self, facts: Facts, function: Function, number: int, depth: int) -> Iterator[FunctionNode]:
        """What the calls of a setter, or those that build an object, give a parameter."""
        if function.is_lambda:
            raise _Unclear
        self._seek(function.name)
        owner = class_around((function,))
        given = False
        for where, call, _ in self._project.callers_of(facts, function, MOST_METHODS):
            if owner and owner != function.name and not self._is_on(call, owner, facts, where):
                continue
            if number < len(call.arguments):
                given = True
                yield from self._in(call.arguments[number], where, call.span, call.function, depth)
        for where in self._project if owner == function.name else ():
            for items, span, place in _built_in(where).get(function.name, ()):
                if number < len(items) and self._names.share(function.name, facts, where):
                    given = True
                    yield from self._in(items[number], where, span, place, depth)
        if not given:
            raise _Unclear

    def _is_on(self, call: Call, class_: str, facts: Facts, where: Facts) -> bool:
        """Whether a method's call is on an object of its class, as far as the file of the call shows."""
        name = simple_name(pointee(call.receiver)) if call.receiver is not None else ""
        type_ = declared_type(name, call.function, call.span.start, where) if name else None
        if type_ is not None and type_.last != class_ and self._names.is_class(type_.last):
            return False
        return self._names.share(class_, facts, where)


def names_given(facts: Facts) -> Iterator[str]:
    """The names of which `HeldFunctions` says something else when a file comes, goes or changes."""
    if facts.linked:
        yield from _gifts_in(facts)
        yield from _built_in(facts)
        for call in facts.calls:
            if any(map(_may_be_function, call.arguments)):
                yield call.name


@answered_once
def _gifts_in(facts: Facts) -> dict[str, list[Gift]]:
    """What members are given, by their names."""
    found: dict[str, list[Gift]] = defaultdict(list)
    for one in facts.assignments:
        if not one.declares and one.operator == "=" and one.value is not None and _may_be_function(one.value):
            target = _container(one.target)
            found[last_name(target)].append(Gift(target, one.value, one.span, one.function))
    for call in facts.calls:
        if call.name in _ADDS and call.receiver is not None and call.arguments and _may_be_function(call.arguments[-1]):
            target = _container(call.receiver)
            found[last_name(target)].append(Gift(target, call.arguments[-1], call.span, call.function))
    return found


def _may_be_function(value: Expression) -> bool:
    """Whether a value isn't of another kind by its looks."""
    value = pointee(value)
    if isinstance(value, Bracketed):
        return bool(value.items) and _may_be_function(value.items[-1])
    if isinstance(value, CallExpression):
        return last_name(value.callee) in _HANDS_ON
    return isinstance(value, (LambdaExpression, NamePath, Construction))


@answered_once
def _built_in(facts: Facts) -> dict[str, list[tuple[tuple[Expression, ...], Span, int | None]]]:
    """The arguments with which objects are built otherwise than by `T(…)`, by their class."""
    found: dict[str, list[tuple[tuple[Expression, ...], Span, int | None]]] = defaultdict(list)
    for one in facts.assignments:
        if one.builds and isinstance(one.value, Bracketed) and one.type is not None:
            found[one.type.last].append((one.value.items, one.span, one.function))
        elif isinstance(one.value, NewExpression) and isinstance(one.value.arguments, Bracketed):
            found[last_name(one.value.type)].append((one.value.arguments.items, one.span, one.function))
    for call in facts.calls:
        if call.name in MAKERS and isinstance(call.called, (NamePath, MemberAccess)) and call.called.template_arguments:
            made = call.called.template_arguments[0]
            found[last_name(made.name if isinstance(made, TypeName) else made)].append(
                (call.arguments, call.span, call.function)
            )
    return found


def _lambdas_in(facts: Facts, span: Span) -> Iterable[FunctionNode]:
    """The outermost lambdas in a place."""
    numbers = index_of(facts).function_numbers
    end = span.start
    for function in index_of(facts).functions.within(span):
        if function.is_lambda and function.span.start >= end:
            end = function.span.end
            yield FunctionNode(facts.path, numbers[id(function)])


def _declaration(name: str, facts: Facts, function: int | None) -> Assignment | None:
    """The first declaration of a local variable in the outermost function around."""
    declared, around = declarations_of(facts).get(name), facts.enclosing(function)[-1:]
    return next(declared.within(around[0].body), None) if declared is not None and around else None


def _container(expression: Expression) -> Expression:
    """`handlers_` of `handlers_["run"]`."""
    bare = pointee(expression)
    return _container(bare.object) if isinstance(bare, Subscript) else bare


def holding_member(expression: Expression, facts: Facts, function: int | None) -> str:
    """The member that holds what is called: `handlers_` of `handlers_.at(name)(x)`, of `it->second(x)`, of `f(x)`."""
    for _ in range(_DEPTH):
        bare = _container(expression)
        if isinstance(bare, CallExpression) and isinstance(bare.callee, MemberAccess):
            expression = bare.callee.object  # `steps_.at(0)`, `handlers_.find(name)`
        elif isinstance(bare, MemberAccess) and bare.name == "second":
            expression = bare.object
        elif isinstance(bare, MemberAccess):
            return bare.name if is_this(bare.object) else ""
        elif isinstance(bare, CallExpression) and last_name(bare.callee) in _HANDS_ON and bare.arguments:
            expression = bare.arguments[0]
        else:
            name = simple_name(bare)
            given = _declaration(name, facts, function)
            if given is None or given.value is None:
                return name
            expression = given.value
    return ""
