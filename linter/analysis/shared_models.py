"""Models that several functions or files share: one runs them under inference mode, another to train.

A model is followed from where it is built: through the variables and attributes that hold it, into the functions and
objects that it is handed to, and into the models that it is a part of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ..facts import Facts, Span
from ..facts.model_flow import BuiltModel, HandedModel, LazyFill, ModelFlow, ModelFunction
from ..named_tuples import NamedTuple
from .project import Project
from .python_definitions import PythonDefinition, PythonDefinitions

_EVERYWHERE = frozenset({"", "forward", "main", "__call__", "__init__"})
"""Names of functions that say nothing about which one is meant."""
_MOST_CALLS = 4
"""How far a model is followed from function to function, and from part to whole."""


class RunPlace(NamedTuple):
    path: str
    span: Span
    function: str
    """The function that runs the model; empty at the top of a module."""


class SharedCache(NamedTuple):
    """A cache that is filled under inference mode in one place, and used in training in another."""

    fill: LazyFill
    under: RunPlace
    normal: RunPlace


class _Run(NamedTuple):
    place: RunPlace
    inside: bool
    trains: bool


class _Held(NamedTuple):
    """What holds a model: a name in all of a file, in one class, or in one function."""

    path: str
    name: str
    owner: str = ""
    function: int | None = None


class SharedModels:
    """Follows the models of the files that were read."""

    def __init__(self, files: Mapping[str, Facts], others: Mapping[str, str]) -> None:
        self._flows = {path: flow for path, facts in files.items() if (flow := _flow(facts)) is not None}
        self.definitions = PythonDefinitions(files, others)
        self._holders: dict[PythonDefinition, list[_Held]] = defaultdict(list)
        self._derived: dict[PythonDefinition, list[PythonDefinition]] = defaultdict(list)
        self._runs: dict[_Held, list[_Run]] = {}
        self._functions: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        """By file, class and name."""
        self._classes: set[str] = set()
        self._defined: set[str] = set()
        self._handed: dict[str, list[tuple[str, HandedModel]]] = defaultdict(list)
        """By the last part of the callee's name."""
        for path, flow in self._flows.items():
            for index, function in enumerate(flow.functions):
                self._functions[path, function.owner, function.name].append(index)
                self._classes.add(function.owner)
                self._defined |= {function.name, function.owner}
            for call in flow.handed:
                self._handed[call.callee.rpartition(".")[2]].append((path, call))
        self.asked_names = self._asked_names()
        """Functions and classes whose callers say whether a model that runs under inference mode is trained as well."""
        for path, flow in self._flows.items():
            self._follow_bases(path, flow)
            self._follow_built(path, flow)

    def _asked_names(self) -> frozenset[str]:
        asked: dict[tuple[str, int], str] = {}
        for path, flow in self._flows.items():
            for run in flow.runs:
                if run.inside:
                    asked |= self._entrances(path, run.function, {run.model})
        for name in sorted({*asked.values()} - _EVERYWHERE):
            for path, call in self._handed.get(name, ()):
                asked |= self._entrances(path, call.function, _names_given(call))
        return frozenset(asked.values()) - _EVERYWHERE

    def _entrances(self, path: str, index: int, models: set[str]) -> dict[tuple[str, int], str]:
        """What has to be called, or built, for the function to be given one of the models."""
        function = self._flows[path].functions[index]
        found = {(path, index): function.name} if models & {*function.parameters} else {}
        for place in self._functions.get((path, function.owner, "__init__"), ()) if function.owner else ():
            if models & {attribute for attribute, _ in self._flows[path].functions[place].stores}:
                found[path, place] = function.owner
        return found

    def _follow_bases(self, path: str, flow: ModelFlow) -> None:
        guarded = {flow.functions[run.function].owner for run in flow.runs if run.inside}
        for class_, base in flow.bases:
            if class_ in guarded or base.rpartition(".")[2] in self._classes:
                definition = self._find(base, path)
                if definition is not None:
                    self._derived[definition].append(PythonDefinition(path, class_))

    def _follow_built(self, path: str, flow: ModelFlow) -> None:
        """Follow the objects that are run in both modes, as far as their names say it, and the parts of these."""
        inside = {run.model for run in flow.runs if run.inside}
        normal = {run.model for run in flow.runs if not run.inside and flow.functions[run.function].trains}
        for call in flow.handed:
            normal |= _names_given(call) if not call.inside else set()
            if call.inside or call.callee.rpartition(".")[2] in self.asked_names:
                inside |= _names_given(call)
        derived = {class_ for class_, _ in flow.bases}
        reached: list[PythonDefinition] = []
        for built in flow.built:
            if built.holder in inside & normal or (built.owner in derived and built.holder in inside | normal):
                self._hold(built, path, reached)
        for whole in reached:
            for built in self._flows[whole.path].built if whole.path in self._flows else ():
                if built.owner == whole.name and self._is_model(whole):
                    self._hold(built, whole.path, reached)

    def _hold(self, built: BuiltModel, path: str, reached: list[PythonDefinition]) -> None:
        definition = self._find(built.class_, path) if built.class_ else None
        held = _Held(path, built.holder, built.owner)
        if definition is not None and held not in self._holders[definition]:
            self._holders[definition].append(held)
            reached.append(definition)

    def caches_in(self, path: str) -> Iterator[SharedCache]:
        """The caches that a file's models fill, and that are used in both modes."""
        for fill in self._flows.get(path, ModelFlow()).fills:
            runs = list(self._runs_of_class(PythonDefinition(path, fill.class_), _MOST_CALLS))
            under = next((run for run in runs if run.inside), None)
            normal = next((run for run in runs if not run.inside and run.trains), None)
            if under is not None and normal is not None:
                yield SharedCache(fill, under.place, normal.place)

    def trainers_of(self, path: str, span: Span) -> Iterator[tuple[str, ModelFunction]]:
        """The functions of other files that train the model which the code at `span` runs, each with its file."""
        flow = self._flows[path]
        index = flow.function_at(span)
        asked = flow.functions[index]
        run = {one.model for one in flow.runs if one.function == index and span.holds(one.span)}
        for called in [asked, *(one for one in flow.functions if one.owner == asked.owner and one.name == "__init__")]:
            given = run & {*called.parameters} if called is asked else {p for name, p in called.stores if name in run}
            for where, call in self._callers(path, called) if given else ():
                names = [name for name, parameter in _handed_names(call, called) if parameter in given]
                if where != path and any(self._is_trained(where, call, name) for name in names):
                    yield where, self._flows[where].functions[call.function]
        for name in sorted(run):
            for other in self._relatives(_Held(path, name, asked.owner)):
                for one in self._flows[other.path].runs:
                    function = self._flows[other.path].functions[one.function]
                    if one.model == name and function.owner == other.owner and function.differentiates:
                        yield other.path, function

    def callers_of(self, path: str, function: ModelFunction) -> list[str]:
        """The files that call a function and hand it something."""
        return [where for where, _ in self._callers(path, function)]

    # -- models

    def _runs_of_class(self, class_: PythonDefinition, depth: int) -> Iterator[_Run]:
        """Where objects of a class are run, alone or as a part of others."""
        for held in self._holders.get(class_, ()):
            whole = PythonDefinition(held.path, held.owner)
            if held.owner and self._is_model(whole):
                # What a model holds runs when the model does.
                if depth:
                    yield from self._runs_of_class(whole, depth - 1)
            else:
                yield from self._runs_of(held, depth)

    def _is_model(self, class_: PythonDefinition) -> bool:
        return (class_.path, class_.name, "forward") in self._functions

    def _runs_of(self, held: _Held, depth: int) -> Iterator[_Run]:
        if held not in self._runs:
            self._runs[held] = []  # a model that is handed round
            self._runs[held] = list(self._found_runs(held, depth))
        yield from self._runs[held]

    def _found_runs(self, held: _Held, depth: int) -> Iterator[_Run]:
        flow = self._flows[held.path]
        for run in flow.runs:
            if run.model == held.name and _is_in(flow, run.function, held):
                function = flow.functions[run.function]
                yield _Run(RunPlace(held.path, run.span, function.name), run.inside or function.inside, function.trains)
        if not depth:
            return
        for call in flow.handed:
            if _is_in(flow, call.function, held):
                yield from self._runs_behind(held, call, depth)
        for other in self._relatives(held):
            yield from self._runs_of(other, depth - 1)

    def _runs_behind(self, held: _Held, call: HandedModel, depth: int) -> Iterator[_Run]:
        """Where a function or object that is handed a model runs it."""
        caller = self._flows[held.path].functions[call.function]
        for path, index in self._called(held.path, call):
            flow = self._flows[path]
            called = flow.functions[index]
            for name, parameter in _handed_names(call, called):
                if name != held.name:
                    continue
                inner = [_Held(path, parameter, function=index)] if path != held.path or parameter != name else []
                inner += [
                    _Held(path, attribute, called.owner) for attribute, given in called.stores if given == parameter
                ]
                for one in inner:
                    for run in self._runs_of(one, depth - 1):
                        trains = run.trains or (caller.differentiates and called.name != "__init__")
                        yield run._replace(inside=run.inside or call.inside, trains=trains)

    def _relatives(self, held: _Held) -> Iterator[_Held]:
        """The same attribute in classes of other files that derive from the holder's, or from which it derives."""
        if not held.owner:
            return
        own = PythonDefinition(held.path, held.owner)
        related = list(self._derived.get(own, ()))
        for class_, base in self._flows[held.path].bases:
            definition = self._find(base, held.path) if class_ == held.owner else None
            related += [definition] if definition is not None else []
        for definition in related:
            if definition.path != held.path and definition.path in self._flows:
                yield _Held(definition.path, held.name, definition.name)

    # -- calls

    def _called(self, path: str, call: HandedModel) -> Iterator[tuple[str, int]]:
        """The functions that a call can mean, each with its file; of a class, its constructor."""
        flow = self._flows[path]
        owner = flow.functions[call.function].owner
        first, _, method = call.callee.rpartition(".")
        if first == "self" and owner:
            yield from self._methods(PythonDefinition(path, owner), method, _MOST_CALLS)
            return
        holder = first.rpartition(".")[2]
        built = [one.class_ for one in flow.built if one.class_ and one.holder == holder] if first else []
        for class_ in built:
            definition = self._find(class_, path)
            if definition is not None:
                yield from self._methods(definition, method, _MOST_CALLS)
        # A function that no file read so far defines isn't looked for: only its callers matter.
        definition = self._find(call.callee, path) if not built and method in self._defined else None
        if definition is None or definition.path not in self._flows:
            return
        for known in (("", definition.name), (definition.name, "__init__")):
            for index in self._functions.get((definition.path, *known), ()):
                yield definition.path, index

    def _methods(self, class_: PythonDefinition, name: str, depth: int) -> Iterator[tuple[str, int]]:
        """A class's method of that name, or the one that it inherits."""
        flow = self._flows.get(class_.path)
        if flow is None or not depth:
            return
        own = self._functions.get((class_.path, class_.name, name), ())
        yield from ((class_.path, index) for index in own)
        if not own:
            for derived, base in flow.bases:
                definition = self._find(base, class_.path) if derived == class_.name else None
                if definition is not None:
                    yield from self._methods(definition, name, depth - 1)

    def _callers(self, path: str, function: ModelFunction) -> Iterator[tuple[str, HandedModel]]:
        """Calls outside inference mode that hand something to a function, each with its file."""
        name = function.owner if function.name == "__init__" else function.name
        for where, call in self._handed.get(name, ()):
            called = () if call.inside else self._called(where, call)
            if any(found == path and self._flows[found].functions[index] is function for found, index in called):
                yield where, call

    def _is_trained(self, path: str, call: HandedModel, name: str) -> bool:
        """Whether the function around a call trains what it hands on, or the function that is given it does."""
        flow = self._flows[path]
        caller = flow.functions[call.function]
        if caller.differentiates:
            return any(run.model == name and run.function == call.function and not run.inside for run in flow.runs)
        return any(run.trains and not run.inside for run in self._runs_of(_Held(path, name, function=call.function), 2))

    def _find(self, name: str, path: str) -> PythonDefinition | None:
        return self.definitions.find(name, path)


def _flow(facts: Facts) -> ModelFlow | None:
    return facts.python.models if facts.python is not None else None


def _is_in(flow: ModelFlow, function: int, held: _Held) -> bool:
    """Whether a function can mean the holder by its name."""
    if held.function is not None:
        return function == held.function
    found = flow.functions[function]
    return not held.owner or found.owner == held.owner or held.name not in found.parameters


def _names_given(call: HandedModel) -> set[str]:
    return {*filter(None, call.given), *(name for _, name in call.named)}


def _handed_names(call: HandedModel, called: ModelFunction) -> Iterator[tuple[str, str]]:
    """(the caller's name, the parameter) of what a call hands on."""
    for name, parameter in zip(call.given, called.parameters, strict=False):
        if name:
            yield name, parameter
    for parameter, name in call.named:
        if parameter in called.parameters:
            yield name, parameter


class _Remembered:
    """The shared models of one project."""

    def __init__(self) -> None:
        self.models: SharedModels | None = None


def shared_models(project: Project) -> SharedModels:
    """The models of the project's files; found once."""
    remembered = project.memory(_Remembered)
    if remembered.models is None:
        remembered.models = SharedModels(project.files, {})
    return remembered.models
