"""What a Python file does with models: which it builds, where it runs them, to whom it hands them on."""

from __future__ import annotations

from msgspec import Struct

from ..named_tuples import NamedTuple
from .spans import Span


class ModelFunction(NamedTuple):
    """A function, a method, or the module itself, whose name is empty."""

    name: str
    owner: str
    """The class in whose body it is defined; empty for a free function."""
    parameters: tuple[str, ...]
    """By position; of a method without the first."""
    inside: bool
    """All of it runs under inference mode."""
    trains: bool
    """By its name, or because it computes gradients."""
    differentiates: bool
    """It computes gradients, or hands the loss to something that does."""
    span: Span
    stores: tuple[tuple[str, str], ...] = ()
    """(attribute, parameter) of each `self.model = model`."""


class ModelRun(NamedTuple):
    """A call of what may be a model."""

    model: str
    """The variable or attribute that is called: `net` of `self.net(x)`."""
    function: int
    inside: bool
    """Under inference mode."""
    span: Span
    """Of what is called."""


class HandedModel(NamedTuple):
    """A call that is given what may be a model."""

    callee: str
    """Its dotted name as the imports have it; `.name` of an object's method, `name` of the file's own functions."""
    given: tuple[str, ...]
    """The variables and attributes by position; empty for anything else."""
    named: tuple[tuple[str, str], ...]
    """(parameter, variable or attribute)."""
    function: int
    inside: bool
    span: Span


class BuiltModel(NamedTuple):
    """A variable or attribute that is given an object of a class."""

    holder: str
    class_: str
    """Its dotted name as the imports have it; `Net` for the file's own; empty where a model is wrapped that the file
    is given."""
    owner: str
    """The class in whose body that happens; empty outside of classes."""


class LazyFill(NamedTuple):
    """An attribute that is given a tensor when `forward`, or a method that it calls, runs first."""

    class_: str
    attribute: str
    span: Span
    method: str


class ModelFlow(Struct, frozen=True, array_like=True, gc=False):
    """All that a file says about models. A name stands for what all of the file calls so."""

    functions: tuple[ModelFunction, ...] = ()
    runs: tuple[ModelRun, ...] = ()
    handed: tuple[HandedModel, ...] = ()
    built: tuple[BuiltModel, ...] = ()
    fills: tuple[LazyFill, ...] = ()
    bases: tuple[tuple[str, str], ...] = ()
    """(class, dotted name of a class that it derives from)."""
    imports: tuple[tuple[str, str], ...] = ()
    """(name, dotted name) of what the module imports at its top."""

    def function_at(self, span: Span) -> int:
        """The index of the function in which something stands; of the module itself where none does."""
        return max((i for i, one in enumerate(self.functions) if one.span.holds(span)), default=0)
