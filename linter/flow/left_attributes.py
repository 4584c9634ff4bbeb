"""What methods leave in the attributes of their object, for other methods to find.

If everything stored in an attribute is made under a guard, every method that reads the attribute gets what was made
there. That holds only if every write was followed: one in a method that wasn't run, or from outside the class, ends it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..answered_once import answered_once
from ..facts.bodies import AnyStatement, Assign, Body, BodyKind, Evaluate
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    LiteralExpression,
    LiteralKind,
    MemberAccess,
    NamePath,
    Subscript,
    is_this,
    last_name,
    simple_name,
)
from ..facts.statement_walk import all_statements
from ..named_tuples import NamedTuple
from . import unnoticed
from .paths import PathOutcome
from .program import File
from .state import State
from .values import NONE, Closure, Instance, Items, Opaque, Table, Tensor, Thing, Value

_ADDS = frozenset(
    "append appendleft push_back emplace_back push add insert emplace try_emplace insert_or_assign extend update "
    "setdefault put".split()
)
_EMPTY = frozenset("list dict set deque defaultdict OrderedDict Tensor vector map unordered_map nullopt".split())


class LeftTensor(NamedTuple):
    """What an attribute holds after every method that writes it."""

    container: str
    """`[]` or `{}` for a list or a table of such tensors."""
    tensor: Tensor | Opaque
    """An `Opaque` may be an inference tensor, if another guard stood somewhere."""
    by: Body
    doubt: str = ""
    """Why readers find it only perhaps."""


def attributes_at(names: Iterable[str], receiver: Value, state: State) -> dict[str, tuple[Value, Thing | None]]:
    """What these attributes of an object are at a moment: values, and the things that these refer to."""
    holder = state.thing(receiver)
    found = holder.attributes if isinstance(holder, Instance) else {}
    return {name: (found[name], state.thing(found[name])) for name in names if name in found}


class LeftAttributes:
    """By class name, what its methods leave in which attributes."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, str], list[LeftTensor | None]] = {}
        self._seen: set[int] = set()
        self._asks = False
        """What another guard would bring about is asked: then a single write is enough, for a doubt."""

    def note(
        self, closure: Closure, before: Mapping[str, tuple[Value, Thing | None]], outcomes: Iterable[PathOutcome]
    ) -> None:
        """What the attributes are after a method, on each of its paths."""
        body = closure.body
        self._asks = self._asks or bool(closure.program.instead)
        if id(body) in self._seen:
            return
        self._seen.add(id(body))
        for outcome in outcomes:
            holder = outcome.state.thing(closure.receiver)
            if outcome.kind == "raise" or not isinstance(holder, Instance) or holder.cls is None:
                continue
            for name in written_in(body, holder.cls.body):
                value = holder.attributes.get(name, NONE)
                thing = outcome.state.thing(value)
                known, was = before.get(name, (NONE, None))
                if value == NONE or (value == known and thing is was):
                    continue
                left = _left_in(was, thing, outcome.state, closure)
                self._left.setdefault((holder.cls.body.name, name), []).extend(left)

    def found(self, functions: list[tuple[File, Body | None, Body]]) -> Filled:
        """By class and attribute, what the methods that read it find: only what every write in sight has made."""
        written = {key: [one for one in left if one is not None] for key, left in self._left.items()}
        candidates = {key: left[0] for key, left in written.items() if left and None not in self._left[key]}
        if not candidates and not self._asks:
            return {}
        files = list({file.number: file for file, _, _ in functions}.values())
        classes: dict[str, list[Body]] = {}
        for cls in (one for file in files for one in (file.module.inner if file.module else file.bodies)):
            if cls.kind is BodyKind.CLASS:
                classes.setdefault(cls.name, []).append(cls)
        outside = set().union(*(_written_outside(file.module) for file in files if file.module is not None))
        for _, owner, body in functions:
            outside |= _written_outside(body)
            for cls in classes.get(class_of(owner, body), ()) if id(body) not in self._seen else ():
                for name in written_in(body, cls):
                    candidates.pop((cls.name, name), None)
        found: Filled = {}
        for (class_, name), left in candidates.items():
            if name not in outside and len(classes.get(class_, ())) == 1:
                found.setdefault(class_, {})[name] = left
        for (class_, name), several in written.items() if self._asks else ():
            for left in several[:1]:
                found.setdefault(class_, {}).setdefault(name, left._replace(doubt=_BEFORE))
        return found


_BEFORE = "it depends on which method runs first"


Filled = dict[str, dict[str, LeftTensor]]


def class_of(owner: Body | None, body: Body) -> str:
    """The name of a method's class."""
    return owner.name if owner is not None else "".join(body.qualified[-2:-1])


def _left_in(before: Thing | None, thing: Thing | None, state: State, closure: Closure) -> list[LeftTensor | None]:
    """What a value that was stored is, or those that were added to a container."""
    body = closure.body
    asked = bool(closure.program.instead) and unnoticed.perhaps_inference(thing) is not None
    if isinstance(thing, (Opaque, Tensor)) and asked:
        return [LeftTensor("", thing, body)]
    if isinstance(thing, Tensor):
        return [LeftTensor("", thing, body) if _tells(thing) else None]
    if isinstance(thing, (Items, Table)) and type(thing) is type(before):
        old, new = _held(before), _held(thing)
        added = [state.thing(value) for value in new if value not in old]
        kind = "[]" if isinstance(thing, Items) else "{}"
        return [LeftTensor(kind, one, body) if isinstance(one, Tensor) and _tells(one) else None for one in added]
    return [None]


def _held(thing: Thing | None) -> list[Value]:
    values = thing.values if isinstance(thing, Items) else ()
    values = tuple(value for _, value in thing.pairs) if isinstance(thing, Table) else values
    rest = thing.rest if isinstance(thing, (Items, Table)) else None
    return [*values, *([rest] if rest is not None else [])]


def _tells(tensor: Tensor) -> bool:
    if tensor.cached is not None or not tensor.shown:
        return False
    return (tensor.inference is True and tensor.guard is not None) or (
        not tensor.grad and bool(tensor.unrecorded) and tensor.off is not None and tensor.inference is False
    )


def filled(state: State, left: LeftTensor, name: str) -> Value:
    """What a reader finds."""
    tensor = state.add(left.tensor._replace(name=left.tensor.name or name))
    if left.container == "[]":
        return state.add(Items("[]", (), tensor))
    return state.add(Table((), tensor)) if left.container else tensor


# -- what is written


def written_in(body: Body, cls: Body) -> frozenset[str]:
    """The attributes of its object that a method gives something, or adds something to."""
    return _written_in(body, frozenset(member.name for member in cls.members))


@answered_once
def _written_in(body: Body, members: frozenset[str]) -> frozenset[str]:
    return frozenset(
        name
        for statement in (*body.initialisers, *all_statements(body.statements))
        for target in _targets(statement)
        if (name := _own(target, members))
    )


def _own(target: Expression, members: frozenset[str]) -> str:
    while isinstance(target, Subscript):
        target = target.object
    if isinstance(target, MemberAccess):
        return target.name if is_this(target.object) else ""
    name = simple_name(target)
    return name if name in members else ""


def _written_outside(body: Body) -> set[str]:
    """The attributes of other objects that a function gives something."""
    return {
        target.name
        for statement in all_statements(body.statements)
        for target in _targets(statement)
        if isinstance(target, MemberAccess) and (body.kind is BodyKind.MODULE or not is_this(target.object))
    }


def changed_in(body: Body) -> set[str]:
    """The attributes of its object that a method gives values, be it that it makes them empty."""
    return {
        target.name
        for statement in all_statements(body.statements)
        if isinstance(statement, Assign)
        for target in _targets(statement, emptied=True)
        if isinstance(target, MemberAccess) and is_this(target.object)
    }


def _targets(statement: AnyStatement, *, emptied: bool = False) -> Iterator[Expression]:
    """What a statement stores something in: not where it only makes it empty."""
    if isinstance(statement, Assign) and not (statement.declares and statement.type is not None):
        if emptied or not _is_empty(statement.value):
            for target in statement.targets:
                yield from target.items if isinstance(target, Bracketed) else (target,)
    elif isinstance(statement, Evaluate):
        callee = statement.value.callee if isinstance(statement.value, CallExpression) else None
        if isinstance(callee, MemberAccess) and callee.name in _ADDS:
            yield callee.object


def _is_empty(value: Expression | None) -> bool:
    if isinstance(value, LiteralExpression):
        return value.kind is LiteralKind.NONE
    if isinstance(value, Bracketed):
        return all(map(_is_empty, value.items))
    if isinstance(value, CallExpression):
        return last_name(value.callee) in _EMPTY and not any(isinstance(one, MemberAccess) for one in value.arguments)
    return isinstance(value, NamePath) and value.name in _EMPTY
