"""What a call does in the end: whether the project's own functions that it reaches run a model, load one, or train.

What a function does itself is read off its calls; what its callees do is carried up, through members, overrides of
virtual methods, constructors, lambdas, stored callbacks and started threads, until nothing changes. Only what is
reached from a use that somebody asks about is looked at, and no more than `MOST_FUNCTIONS` functions.

A call means the methods of the object's class, its bases and the classes derived from it, where the class is known:
then half of them have to do a thing for the call to do it. Where it is not, all functions of that name have to.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Set

from ..answered_once import answered_once
from ..facts import Call, Facts, Function, Span
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Construction,
    Expression,
    LiteralExpression,
    MemberAccess,
    NamePath,
    NewExpression,
    Subscript,
    TypeName,
    is_this,
    last_name,
    nodes_of,
    pointee,
    simple_name,
)
from ..facts.index import declarations_of, index_of
from ..facts.model import MOST_AROUND, function_depths
from ..facts.spans import Sorted
from ..named_tuples import NamedTuple
from .call_names import MOST_METHODS, CallNames, FunctionNode, class_around
from .call_readings import CallGroup, FunctionBody, FunctionReading, FunctionReadings
from .declared_types import declared_type
from .function_outlines import MAKERS, Act, CallEffect, outline_of
from .held_functions import HeldFunctions, holding_member
from .linkage import Link
from .model_runs import RUN_METHODS
from .project import Project

MOST_FUNCTIONS = 2000
"""Functions that are followed in one project."""
MOST_CALLS_DOWN = 6
"""How many calls down from a use functions are followed: what is done deeper says little about it."""
MOST_COPIES = 16
"""How often a variable is followed to the one of which it is a copy; two can be each other's, as far as is read."""
MOST_NAMESAKES = 8
"""A name with more functions says nothing about an object whose class is not known."""
_MODULES = frozenset({"Module", "ScriptModule", "CUDAGraph"})
"""PyTorch's own, where the project has no class of that name."""
_HANDS_ON = frozenset({"get", "value", "at", "front", "back", "top", "lock", "operator->", "load", "move", "ref"})


class Reached(NamedTuple):
    """An effect of what a call runs."""

    effect: CallEffect
    through: str
    """What is called at the place that was asked about, as written."""
    offset: int
    """Where."""
    act: Act
    doer: str
    """The function in which the effect is done; the class of the model that is called there itself."""
    link: Link = Link.SHOWN
    """How it is shown that the functions on the way are those that are called."""

    @property
    def is_here(self) -> bool:
        """Whether it is done at the place itself, as only the rest of the project shows."""
        return self.act.offset == self.offset and self.act.written == self.through


class CallGraph:
    """The functions of a project that were followed, and what they do in the end."""

    def __init__(self) -> None:
        self._project: Project | None = None
        self._reading = FunctionReading()
        """Of the function that is being read."""
        self._bodies: dict[FunctionNode, FunctionBody] = {}
        self._done: dict[FunctionNode, dict[CallEffect, tuple[Act, str, Link]]] = {}
        self._called_in: dict[FunctionNode, tuple[Sorted[CallGroup], Sorted[Call]]] = {}
        self._callers: dict[FunctionNode, list[tuple[FunctionNode, CallGroup]]] = defaultdict(list)
        self._unqualified: set[str] = set()
        """Types that are written without a namespace: what is not a class of the project may still stand for one."""
        self.wanted: set[str] = set()
        """Functions and classes that were asked for, in files that haven't been read for them."""

    def _attach(self, project: Project) -> None:
        if self._project is None:
            self._project = project
            self._names = CallNames(project)
            self._held = HeldFunctions(project, self._names, self._want)
            self._readings = project.lasting_memory(FunctionReadings)
            self._state = self._readings.attach(project)

    @property
    def sought(self) -> Set[str]:
        """Names to look for in all files: what calls or assigns them says what a member holds."""
        return self._held.sought

    def reached(self, facts: Facts, span: Span, function: int | None) -> dict[CallEffect, Reached]:
        """What the calls in a stretch of a function run; what is there itself is left out."""
        if function is None:
            return {}
        while (parent := facts.functions[function].parent) is not None:
            function = parent
        # A function may hold many guards: what it calls is read once.
        node = FunctionNode(facts.path, function)
        if node not in self._called_in:
            whole = facts.functions[function].span
            near = _near(facts, index_of(facts).calls.within(whole), function)
            read = self._read(facts, whole, function).groups
            self._called_in[node] = Sorted(read, lambda group: group.span), Sorted(near, lambda call: call.span)
        called, calls = self._called_in[node]
        groups = list(called.within(span))
        self._follow(node, groups)
        found: dict[CallEffect, Reached] = {}
        for call in calls.within(span):
            if model := self._model_called(facts, call):
                act = Act(facts, call.span.start, call.callee)
                found[CallEffect.RUN] = Reached(CallEffect.RUN, call.callee, call.span.start, act, *model)
                break
        for group in groups:
            for effect in CallEffect:
                if effect not in found and (done := self._agreed(node, group, effect)) is not None:
                    found[effect] = Reached(effect, group.written, group.span.start, *done)
        return found

    def _link(self, caller: FunctionNode, callee: FunctionNode) -> Link:
        """How the file of a call is linked to that of a function which it can mean by its name."""
        assert self._project is not None
        files = self._project.files
        facts = files[callee.path]
        function = facts.functions[callee.number]
        return self._project.linkage.of_function(facts, function, files[caller.path], (function.name,))

    # -- following

    def _follow(self, caller: FunctionNode, groups: Iterable[CallGroup]) -> None:
        """Read every function that is reached and was not read yet, and carry up what they do."""
        waiting = deque(
            (node, 1)
            for group in groups
            for node in group.nodes
            if node not in self._bodies and self._link(caller, node)
        )
        fresh: list[FunctionNode] = []
        assert self._project is not None
        while waiting and len(self._bodies) < MOST_FUNCTIONS:
            node, depth = waiting.popleft()
            if node in self._bodies:
                continue
            facts = self._project.files[node.path]
            function = facts.functions[node.number]
            body = self._bodies[node] = self._read(facts, function.span, node.number)
            fresh.append(node)
            for group in body.groups:
                for callee in group.nodes:
                    if not self._link(node, callee):
                        continue
                    self._callers[callee].append((node, group))
                    if callee not in self._bodies and depth < MOST_CALLS_DOWN:
                        waiting.append((callee, depth + 1))
        self._carry_up(fresh)

    def _carry_up(self, fresh: Iterable[FunctionNode]) -> None:
        assert self._project is not None
        changed: deque[FunctionNode] = deque()
        for node in fresh:
            facts = self._project.files[node.path]
            doer = _shown_name(facts.functions[node.number])
            own = self._done.setdefault(node, {})
            for effect, act in self._bodies[node].acts.items():
                own[effect] = (act, doer, act.link)
            for group in self._bodies[node].groups:
                self._inherit(node, group)
            if own:
                changed.append(node)
        while changed:
            node = changed.popleft()
            for caller, group in self._callers[node]:
                if self._inherit(caller, group):
                    changed.append(caller)

    def _inherit(self, caller: FunctionNode, group: CallGroup) -> bool:
        """Whether the caller has come to do something more, through this call."""
        own = self._done.setdefault(caller, {})
        grown = False
        for effect in CallEffect:
            if effect not in own and (done := self._agreed(caller, group, effect)) is not None:
                own[effect] = done
                grown = True
        return grown

    def _agreed(self, caller: FunctionNode, group: CallGroup, effect: CallEffect) -> tuple[Act, str, Link] | None:
        """What one of the functions does, when enough of those do it that can be meant."""
        meant = [node for node in group.nodes if self._link(caller, node)]
        doing = [node for node in meant if effect in self._done.get(node, ())]
        if not doing:
            return None
        if effect is CallEffect.RUN and not group.sure:
            # A call that may also train the model doesn't show that it is only run.
            doing = [node for node in doing if CallEffect.TRAIN not in self._done[node]] or doing
        others = [node for node in meant if node not in doing and not self._is_bare(node)]
        enough = len(others) <= len(doing) if group.sure else not others
        act, doer, link = self._done[doing[0]][effect]
        return (act, doer, min(link, self._link(caller, doing[0]))) if enough else None

    def _is_bare(self, node: FunctionNode) -> bool:
        """Whether the function does nothing: `virtual void run() { throw … }`, `{ LOG(FATAL) << "implement me"; }`."""
        body = self._bodies.get(node)
        if body is None or body.acts or body.groups:
            return False
        assert self._project is not None
        facts = self._project.files[node.path]
        function = facts.functions[node.number]
        index = index_of(facts)
        if not function.is_read or any(index.assignments.within(function.body)):
            return False
        calls = index.calls.within(function.body)
        values = (returned.value for returned in index.returns.within(function.body))
        return all(call.name.isupper() or call.path[:1] == ("std",) for call in calls) and all(
            value is None or isinstance(value, (Bracketed, LiteralExpression)) for value in values
        )

    # -- reading

    def _read(self, facts: Facts, span: Span, function: int | None) -> FunctionBody:
        """What is in a function, and which functions its calls can mean."""
        key = (facts, span, function)
        # Of two states of the project that are asked in turn, each would take the other's answers for its own.
        is_current = self._state == self._readings.state
        if is_current and (known := self._readings.find(key, self._unqualified)) is not None:
            self._unqualified |= known.unqualified
            for name in known.wanted:
                self._want(name)
            for name in known.wanted_classes:
                self._want_class(name)
            return known.body
        self._names.asked.clear()
        reading = self._reading = FunctionReading()
        reading.body = self._read_anew(facts, span, function)
        self._reading = FunctionReading()  # what is asked between two functions belongs to none
        if is_current:
            self._readings.keep(key, reading, self._names.asked)
        return reading.body

    def _read_anew(self, facts: Facts, span: Span, function: int | None) -> FunctionBody:
        chain = facts.enclosing(function)
        outline = outline_of(facts, span, chain[-1].span if chain else span)
        body = FunctionBody(dict(outline.acts))
        for call in _near(facts, outline.calls, function):
            self._add(body, self._called(facts, call), call.callee, call.span)
            if CallEffect.RUN not in body.acts and (model := self._model_called(facts, call)):
                body.acts[CallEffect.RUN] = Act(facts, call.span.start, call.callee, model[1])
        for type_, place in outline.built:
            self._add(body, self._constructors(type_), str(type_), place)
        for path, written, place in outline.handed_on:
            self._add(body, (self._names.functions(path), True), written, place)
        return body

    @staticmethod
    def _add(body: FunctionBody, meant: tuple[tuple[FunctionNode, ...], bool], written: str, span: Span) -> None:
        if meant[0]:
            body.groups.append(CallGroup(meant[0], meant[1], written, span))

    def _called(self, facts: Facts, call: Call) -> tuple[tuple[FunctionNode, ...], bool]:
        name = call.name
        if name in MAKERS and isinstance(call.called, (NamePath, MemberAccess)):
            made = call.called.template_arguments or ()
            return self._constructors(made[0]) if made else ((), False)
        if not name or (call.receiver is not None and name == "second"):
            return self._held_by(facts, call, class_around(facts.enclosing(call.function))), False
        if call.receiver is not None:
            return self._method(facts, call, call.receiver)
        names = self._names
        if len(call.path) > 1:
            self._want(name)
            return names.functions(call.path), True
        chain = facts.enclosing(call.function)
        if stored := names.lambdas(name, facts):
            return stored, True
        self._want(name)
        owner = class_around(chain)
        if owner and (methods := names.methods(owner, name, facts.path)):
            return methods, True
        if held := self._held_by(facts, call, owner):
            return held, False
        if names.is_class(name) or name[:1].isupper():
            self._want_class(name)
            if constructors := names.methods_of_class(name, name):
                return constructors, True
        own = tuple(node for node in names.functions((name,)) if node.path == facts.path)
        if own:
            return own, True
        others = names.functions((name,))
        return (others, len(others) == 1) if len(others) <= MOST_NAMESAKES else ((), False)

    def _held_by(self, facts: Facts, call: Call, owner: str) -> tuple[FunctionNode, ...]:
        member = holding_member(call.called, facts, call.function) if owner else ""
        return self._held.of(owner, member, facts) if member and self._member(owner, member) is not None else ()

    def _method(self, facts: Facts, call: Call, receiver: Expression) -> tuple[tuple[FunctionNode, ...], bool]:
        name, names = call.name, self._names
        if is_this(receiver):
            self._want(name)
            owner = class_around(facts.enclosing(call.function))
            methods = names.methods(owner, name, facts.path) if owner else ()
            return (methods, True) if methods or not owner else (self._held.of(owner, name, facts), False)
        classes = self._classes_of(receiver, facts, call)
        if classes is None:
            return self._by_name(name)
        known = [class_ for class_ in classes if self._is_class(class_)]
        if not known and self._are_unqualified(classes):
            return self._by_name(name)  # a parameter of a template, an alias that is not in sight
        found: tuple[FunctionNode, ...] = ()
        for class_ in known:
            self._want(name)
            found = found or names.methods(class_, name, facts.path)
        if not found:
            return tuple(node for class_ in known for node in self._held.of(class_, name, facts)), False
        return found, True

    def _are_unqualified(self, classes: Iterable[str]) -> bool:
        """Whether all these types are written without a namespace somewhere."""
        found = {class_: class_ in self._unqualified for class_ in classes}
        own = self._reading.unqualified
        self._reading.asked_unqualified.update({name: known for name, known in found.items() if name not in own})
        return all(found.values())

    def _model_called(self, facts: Facts, call: Call) -> tuple[str, Link] | None:
        """The class of the model that `policy_(x)` runs, which another file may declare; None for other calls."""
        if call.receiver is None and not simple_name(pointee(call.called)):
            return None
        if call.receiver is not None and call.name not in RUN_METHODS and not is_this(call.receiver):
            return None
        model = call.called if call.receiver is None or is_this(call.receiver) else call.receiver
        for name in self._classes_of(model, facts, call) or ():
            if not self._is_class(name):
                link = Link.SHOWN if name in _MODULES else Link.APART
            else:
                link = self._names.module_link(name, facts)
            if link:
                return name, link
        return None

    def _by_name(self, name: str) -> tuple[tuple[FunctionNode, ...], bool]:
        """All functions of a name, where there are few of them and nothing says which is meant."""
        self._want(name)
        found = self._names.functions((name,))
        return (found, False) if len(found) <= MOST_NAMESAKES else ((), False)

    def _is_class(self, name: str) -> bool:
        """Whether the project defines a class of that name; then it is read."""
        self._want_class(name)
        assert self._project is not None
        summary = self._project.summary
        return self._names.is_class(name) or (summary is not None and bool(summary.defining_class(name)))

    def _constructors(self, type_: Expression) -> tuple[tuple[FunctionNode, ...], bool]:
        name = last_name(type_.name if isinstance(type_, TypeName) else type_)
        if not name or (
            isinstance(type_, TypeName) and (type_.marks or type_.path[:1] in (("std",), ("at",), ("torch",)))
        ):
            return (), False
        self._want_class(name)
        return self._names.methods_of_class(name, name), True

    def _classes_of(self, expression: Expression, facts: Facts, call: Call, copies: int = 0) -> list[str] | None:
        """The classes that an object can have, by what its declaration names; None where that is not in sight.

        `copies` is how many variables were followed to what they were declared with.
        """
        bare = pointee(expression)
        if isinstance(bare, Subscript):
            return self._classes_of(bare.object, facts, call, copies)
        if isinstance(bare, CallExpression):
            callee = bare.callee
            if isinstance(callee, MemberAccess) and callee.name in _HANDS_ON:
                return self._classes_of(callee.object, facts, call, copies)
            if last_name(callee) in _HANDS_ON and len(bare.arguments) == 1:
                return self._classes_of(bare.arguments[0], facts, call, copies)
            if last_name(callee) in MAKERS and isinstance(callee, NamePath) and callee.template_arguments:
                return self._named_in(callee.template_arguments[0])
            name = last_name(callee)
            return [name] if name[:1].isupper() and self._is_class(name) else self._returned_by(callee)
        type_: TypeName | None = None
        if name := simple_name(bare):
            type_ = declared_type(name, call.function, call.span.start, facts)
            if type_ is None and (owner := class_around(facts.enclosing(call.function))):
                type_ = self._member(owner, name)
            if type_ is not None and type_.last == "auto":
                return self._made_by(name, facts, call, copies)
        elif isinstance(bare, MemberAccess):
            owners = [class_around(facts.enclosing(call.function))] if is_this(bare.object) else None
            owners = owners or self._classes_of(bare.object, facts, call, copies)
            for owner in owners or ():
                type_ = type_ or self._member(owner, bare.name)
        return self._named_in(type_) if type_ is not None else None

    def _member(self, owner: str, name: str) -> TypeName | None:
        self._want_class(owner)
        return self._names.member(owner, name)

    def _made_by(self, name: str, facts: Facts, call: Call, copies: int) -> list[str] | None:
        """The class of `auto runner = std::make_unique<Runner>(…)`, of `auto& runner = runners_[i]`."""
        if copies == MOST_COPIES:
            return None
        declared = declarations_of(facts).get(name)
        for assignment in declared.within(facts.enclosing(call.function)[-1].body) if declared is not None else ():
            if assignment.value is None:
                continue
            value = pointee(assignment.value)
            if isinstance(value, (NewExpression, Construction)):
                return self._named_in(value.type)
            if simple_name(value) == name:
                return None
            return self._classes_of(value, facts, call, copies + 1)
        return None

    def _returned_by(self, callee: Expression) -> list[str] | None:
        """The class of what a function of the project returns, `makeRunner(kind)`, where all of its name agree."""
        path = callee.path if isinstance(callee, NamePath) else (last_name(callee),)
        if not path[-1] or path[0] in ("std", "at", "torch", "c10"):
            return None
        self._want(path[-1])
        assert self._project is not None
        types = {self._project.files[node.path].functions[node.number].returns for node in self._names.functions(path)}
        type_ = types.pop() if len(types) == 1 else None
        return self._named_in(type_) if type_ is not None and type_.last != "auto" else None

    def _named_in(self, type_: Expression) -> list[str] | None:
        """The classes that a type names, the element's before the container's: `Runner` of `unique_ptr<Runner>`."""
        paths = [
            node.path
            for node in nodes_of(type_)
            if isinstance(node, NamePath) and node.path[0] not in ("std", "auto", "const")
        ]
        unqualified = {path[0] for path in paths if len(path) == 1}
        self._reading.unqualified |= unqualified
        self._unqualified |= unqualified
        for path in paths:
            self._want_class(f"{path[-1]}Impl")  # of `TORCH_MODULE(Net)`
        found = [alias for path in paths for alias in self._names.alias(path[-1])]
        return list(reversed(found)) or None

    # -- what is not read yet

    def _want(self, name: str) -> None:
        self._reading.wanted.add(name)
        assert self._project is not None
        summary = self._project.summary
        if summary is None or name in self._project.named:
            return
        if 0 < len(summary.defining_function(name)) <= MOST_METHODS:
            self.wanted.add(name)

    def _want_class(self, name: str) -> None:
        self._reading.wanted_classes.add(name)
        assert self._project is not None
        summary = self._project.summary
        if (
            summary is not None
            and name not in self._project.named
            and 0 < len(summary.defining_class(name)) <= MOST_NAMESAKES
        ):
            self.wanted.add(name)


def _near(facts: Facts, calls: Iterable[Call], function: int | None) -> Iterator[Call]:
    """The calls without those in functions that are nested deeper in this one than anything is looked at."""
    depths = function_depths(facts)
    deepest = MOST_AROUND + (depths[function] if function is not None else 0)
    return (call for call in calls if call.function is None or depths[call.function] <= deepest)


def _shown_name(function: Function) -> str:
    return "::".join(function.qualified[-2:]) if function.name else "a lambda"


def call_graph(project: Project) -> CallGraph:
    """The call graph of a project, as far as it has been followed."""
    graph = project.memory(CallGraph)
    graph._attach(project)
    return graph


@answered_once
def effects_below(project: Project, facts: Facts, span: Span, function: int | None) -> dict[CallEffect, Reached]:
    """What the project's own functions do that are called in a stretch of code."""
    return call_graph(project).reached(facts, span, function)
