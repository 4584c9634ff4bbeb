"""Tables of a project's functions and classes, for telling which functions a call can mean."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from ..facts import Class, Facts, Function
from ..facts.expressions import Expression, TypeName, last_name, nodes_of
from ..named_tuples import NamedTuple
from .linkage import Link
from .model_types import is_model_type
from .project import Project

MOST_METHODS = 40
"""Methods of one name in a class and its relatives."""
_MOST_OF_ONE_NAME = 100
"""Functions that one call may mean: of so many, no call says which it means."""
_CONTAINERS = frozenset({"unique_ptr", "shared_ptr", "vector", "const"})


class FunctionNode(NamedTuple):
    """A function of the project: its file, and its number in the facts."""

    path: str
    number: int


class CallNames:
    """Tables of a project's functions and classes."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._functions: dict[str, list[tuple[FunctionNode, Function, str]]] = defaultdict(list)
        self._lambdas: dict[str, list[FunctionNode]] = defaultdict(list)
        self._classes: dict[str, list[tuple[Facts, Class]]] = defaultdict(list)
        self._bases: dict[str, set[str]] = defaultdict(set)
        self._derived: dict[str, set[str]] = defaultdict(set)
        self._aliases: dict[str, set[Expression]] = defaultdict(set)
        self._modules: set[str] = set()
        self.asked: set[str] = set()
        """Names that have been looked up; clear it before a lookup to see which ones it needs."""
        for facts in project:
            if not facts.linked:
                continue
            for index, function in enumerate(facts.functions):
                node = FunctionNode(facts.path, index)
                if function.is_lambda:
                    if held := last_name(function.assigned_to):
                        self._lambdas[held].append(node)
                elif function.name and function.is_read:
                    owner = "".join(function.qualified[-2:-1])
                    if function.class_ is not None:
                        owner = "".join(facts.classes[function.class_].qualified[-1:])
                    self._functions[function.name].append((node, function, owner))
            for class_ in facts.classes:
                name = "".join(class_.qualified[-1:])  # `struct Net::Impl {` is known as `Impl`
                self._classes[name].append((facts, class_))
                if any(map(is_model_type, class_.bases)):
                    self._modules.add(name)
                for base in class_.bases:
                    self._bases[name].add(last_name(base))
                    self._derived[last_name(base)].add(name)
            for alias in facts.aliases:
                if alias.kind == "type":
                    self._aliases[alias.name].add(alias.target)

    def is_class(self, name: str) -> bool:
        self.asked.add(name)
        return name in self._classes

    def module_link(self, name: str, facts: Facts) -> Link:
        """How it is shown that a class of that name, as a file means it, is a model; `APART` for other classes.

        It derives from `torch::nn::Module`, itself or through others.
        """
        if not any(above in self._modules for above in self._closure(name, self._bases)):
            return Link.APART
        links = (self._project.linkage.of_type(where, name, facts) for where, _ in self._classes.get(name, ()))
        return max(links, default=Link.APART)

    def alias(self, name: str) -> list[str]:
        """The classes that an alias names, innermost last; the name itself when it is none."""
        self.asked |= {name, f"{name}Impl"}
        if name not in self._classes and f"{name}Impl" in self._modules:
            return [f"{name}Impl"]  # what `TORCH_MODULE(Net)` makes holds a `NetImpl`
        targets = self._aliases.get(name, set())
        if name in self._classes or len(targets) != 1:
            return [name]
        words = [node.words[-1] for node in nodes_of(next(iter(targets))) if node.words]
        return [word for word in words if word not in _CONTAINERS and word != name] or [name]

    def functions(self, path: tuple[str, ...]) -> tuple[FunctionNode, ...]:
        """The functions that a name as written can mean; none where too many have that name to mean any of them."""
        self.asked.add(path[-1])
        found = []
        of_this_name = self._functions.get(path[-1], ())
        for node, function, _ in of_this_name if len(of_this_name) <= _MOST_OF_ONE_NAME else ():
            size = min(len(path), len(function.qualified))
            if function.qualified[-size:] == path[-size:]:
                found.append(node)
        return tuple(found)

    def lambdas(self, name: str, facts: Facts) -> tuple[FunctionNode, ...]:
        """The lambdas of the same file that a variable or a member of that name holds."""
        return tuple(node for node in self._lambdas.get(name, ()) if node.path == facts.path)

    def share(self, class_: str, facts: Facts, other: Facts) -> bool:
        """Whether two files mean the same class by that name."""
        of_type = self._project.linkage.of_type
        return any(
            of_type(where, class_, facts) is Link.SHOWN and of_type(where, class_, other) is Link.SHOWN
            for where, _ in self._classes.get(class_, ())
        )

    def methods_of_class(self, class_: str, name: str) -> tuple[FunctionNode, ...]:
        self.asked.add(name)
        return tuple(node for node, _, owner in self._functions.get(name, ()) if owner == class_)

    def methods(self, class_: str, name: str, near: str) -> tuple[FunctionNode, ...]:
        """The methods of that name of a class, the classes derived from it, and, where they have none, its bases.

        Of several classes of one name (`Impl`) the one in the file `near` is meant, where it is there.
        """
        self.asked.add(name)
        if len(self._classes.get(class_, ())) > 1:
            own = tuple(node for node in self.methods_of_class(class_, name) if node.path == near)
            if own:
                return own
        below = self._closure(class_, self._derived)
        found = tuple(node for node, _, owner in self._functions.get(name, ()) if owner in below)
        if not found:
            above = self._closure(class_, self._bases)
            found = tuple(node for node, _, owner in self._functions.get(name, ()) if owner in above)
        return found[:MOST_METHODS]

    def member(self, class_: str, name: str) -> TypeName | None:
        """The declared type of a class's member, or of its bases'."""
        for owner in self._closure(class_, self._bases):
            for _, found in self._classes.get(owner, ()):
                for member in found.members:
                    if member.name == name:
                        return member.type
        return None

    def _closure(self, name: str, step: dict[str, set[str]]) -> dict[str, None]:
        """A class and all that the steps lead to, nearest first."""
        found: dict[str, None] = {name: None}
        waiting = deque([name])
        while waiting:
            for other in sorted(step.get(waiting.popleft(), ())):
                if other not in found:
                    found[other] = None
                    waiting.append(other)
        self.asked.update(found)
        return found


def class_around(chain: tuple[Function, ...]) -> str:
    """The class of the outermost function around a place, as its definition names it."""
    for function in reversed(chain):
        if not function.is_lambda:
            return "".join(function.qualified[-2:-1])
    return ""


def names_defined_in(facts: Facts) -> Iterator[str]:
    """The names of which `CallNames` says something else when a file comes, goes or changes."""
    if not facts.linked:
        return
    for function in facts.functions:
        yield function.name or last_name(function.assigned_to)
    for class_ in facts.classes:
        yield from class_.qualified[-1:]
        yield from map(last_name, class_.bases)
    for alias in facts.aliases:
        yield alias.name
