"""The declared type of a variable, as far as one file shows it."""

from __future__ import annotations

from ..facts import Facts
from ..facts.expressions import TypeName, words_of
from ..facts.index import index_of


def declared_type(name: str, function: int | None, place: int, facts: Facts) -> TypeName | None:
    """The type of the local variable, parameter or member of that name at `place`; None when it is not in sight."""
    for around in facts.enclosing(function):
        local = [a for a in index_of(facts).assignments.within(around.body) if a.declares and a.variable == name]
        if local:
            return next((a.type for a in reversed(local) if a.span.start < place), local[0].type)
        for parameter in around.parameters:
            if parameter.name == name:
                return parameter.type
        owner = "".join(around.declared_as[-2:-1])
        for index, class_ in enumerate(facts.classes):
            if index == around.class_ or (owner and class_.name == owner):
                for member in class_.members:
                    if member.name == name:
                        return member.type
    return None


def mentions_tensor(type_: TypeName | None) -> bool:
    """`at::Tensor`, `TensorList`, `std::vector<at::Tensor>`, `TensorOptions`."""
    return any("Tensor" in word for word in words_of(type_))
