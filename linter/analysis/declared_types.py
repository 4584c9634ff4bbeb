"""The declared type of a variable, as far as one file shows it."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Facts, Function
from ..facts.expressions import TypeName, words_of
from ..facts.index import declarations_of


def declared_type(name: str, function: int | None, place: int, facts: Facts) -> TypeName | None:
    """The type of the local variable, parameter or member of that name at `place`; None when it is not in sight."""
    declared = declarations_of(facts)
    for around in facts.enclosing(function):
        if name in declared and (local := declared[name].nearest(around.body, place)) is not None:
            return local.type
        for parameter in around.parameters:
            if parameter.name == name:
                return parameter.type
        member = _member(name, around, facts)
        if member is not None:
            return member
    return None


def is_declared_member(name: str, function: int | None, facts: Facts) -> bool:
    """Whether a class around the function declares a member of that name, in this file."""
    return any(_member(name, around, facts) is not None for around in facts.enclosing(function))


def _member(name: str, around: Function, facts: Facts) -> TypeName | None:
    members = _members_of(facts)
    owners = (around.class_, *around.declared_as[-2:-1])
    return next((members[owner, name] for owner in owners if (owner, name) in members), None)


@answered_once
def _members_of(facts: Facts) -> dict[tuple[int | str | None, str], TypeName]:
    """The types of members, by the index and by the name of their class; of classes of one name the first counts."""
    found: dict[tuple[int | str | None, str], TypeName] = {}
    for index, class_ in enumerate(facts.classes):
        for member in class_.members:
            found.setdefault((index, member.name), member.type)
            if class_.name:
                found.setdefault((class_.name, member.name), member.type)
    return found


def mentions_tensor(type_: TypeName | None) -> bool:
    """`at::Tensor`, `TensorList`, `std::vector<at::Tensor>`, `TensorOptions`."""
    return any("Tensor" in word for word in words_of(type_))
