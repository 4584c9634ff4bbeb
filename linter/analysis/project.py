"""The facts of all files, joined: who registers, who calls, who inherits, who uses a type made of guards."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from .. import guards
from ..answered_once import answered_once
from ..facts import Call, Class, Facts, Form, Function, GuardUse, Invocation, Registration, Span
from ..facts.expressions import Expression, NamePath, last_name
from ..facts.index import index_of
from .build_facts import NO_BUILD, BuildFacts
from .intent_patterns import NO_PATTERNS, IntentPatterns
from .items_in_sight import ItemsInSight
from .linkage import Link, Linkage
from .names import CPP_AUTOGRAD_FUNCTION, PYTHON_AUTOGRAD_FUNCTION, names_agree
from .project_summary import ProjectSummary
from .reexports import resolve_reexports
from .shared_aliases import through_shared_aliases

_Memory = TypeVar("_Memory")
FUNCTION_METHODS = frozenset({"forward", "backward"})
"""The methods of an autograd Function that autograd itself calls."""


def takes_context(function: Function) -> bool:
    """Whether the function is given an autograd Function's context."""
    return not function.is_lambda and any("AutogradContext" in parameter.type.path for parameter in function.parameters)


REINDENT_LIMIT = 10
"""Lines that a safe fix may indent again by default: so many are reviewed at a glance."""


class Project:
    """Answers questions that need more than one file."""

    def __init__(
        self,
        files: Iterable[Facts],
        *,
        minimum_torch: str = "",
        minimum_torch_at: Callable[[str], str] | None = None,
        around: frozenset[str] = frozenset(),
        unseen: str = "",
        summary: ProjectSummary | None = None,
        named: frozenset[str] = frozenset(),
        intents: IntentPatterns = NO_PATTERNS,
        reindent_limit: int = REINDENT_LIMIT,
        common: frozenset[str] = frozenset(),
        asked: frozenset[str] = frozenset(),
        build: BuildFacts = NO_BUILD,
        before: Project | None = None,
    ) -> None:
        self.build = build
        """What the commands of a build say, where they are known."""
        self.minimum_torch = minimum_torch
        self.reindent_limit = reindent_limit
        self.intents = intents
        """What the configuration declares guards to be for, by the file's path."""
        self._minimum_torch_at = minimum_torch_at
        self.around = around
        """Paths of files that are not checked, but were asked what the checked ones leave open."""
        self.unseen = unseen
        """Why some questions may have answers that weren't looked for; empty if the whole project was asked."""
        self.summary = summary
        """What a look at all files of the project says; None if it wasn't needed."""
        self.named = named
        """Functions and classes whose definitions were read, wherever they are."""
        self.common = common
        """Names that are in too many files to be read there: the callers of such a function aren't all known."""
        self.asked = asked
        """Names whose places were looked for in all files."""
        self.answers: dict[Any, Any] = {}
        found: dict[str, Facts] = {}
        for facts in files:
            found[facts.path] = facts
            found |= {piece.path: piece for piece in facts.embedded}
        self.linkage = Linkage(found, build)
        """Which files are one program with which."""
        self.files: dict[str, Facts] = resolve_reexports(through_shared_aliases(found, self.linkage))
        self._lasting: dict[type[Any], Any] = before._lasting if before is not None else {}

    def joined(
        self,
        more: Iterable[Facts] = (),
        around: Iterable[Facts] = (),
        unseen: str = "",
        summary: ProjectSummary | None = None,
        named: frozenset[str] = frozenset(),
        common: Iterable[str] = (),
        asked: Iterable[str] = (),
    ) -> Project:
        """This project with further files, or newer facts of its own; `around` are files that are not checked."""
        more, around = list(more), list(around)
        if not more and not around:
            return self._told(unseen, summary, named, frozenset(common), frozenset(asked))
        return Project(
            [*self, *more, *around],
            minimum_torch=self.minimum_torch,
            minimum_torch_at=self._minimum_torch_at,
            around=self.around.union(facts.path for facts in around),
            unseen=unseen or self.unseen,
            summary=summary or self.summary,
            named=self.named | named,
            intents=self.intents,
            reindent_limit=self.reindent_limit,
            common=self.common.union(common),
            asked=self.asked.union(asked),
            build=self.build,
            before=self,
        )

    def _told(
        self,
        unseen: str,
        summary: ProjectSummary | None,
        named: frozenset[str],
        common: frozenset[str],
        asked: frozenset[str],
    ) -> Project:
        """The same files, and so the same tables, with something else that is known of them."""
        from copy import copy  # takes half a millisecond, and most files leave nothing open

        told = copy(self)
        told.unseen = unseen or self.unseen
        told.summary = summary or self.summary
        told.named = self.named | named
        told.common = self.common | common
        told.asked = self.asked | asked
        if told._known() == self._known():
            return self  # with all that is remembered of it
        told.answers = {}
        return told

    def _known(self) -> tuple[object, ...]:
        """What is known of the project besides its files."""
        return self.unseen, self.summary, self.named, self.common, self.asked

    def minimum_torch_of(self, facts: Facts) -> str:
        """The oldest torch that a file has to run with; empty if unknown."""
        return self.minimum_torch if self._minimum_torch_at is None else self._minimum_torch_at(facts.path)

    def checked(self) -> Iterator[Facts]:
        """The facts of the files in which findings are reported."""
        return (facts for facts in self if facts.path not in self.around)

    def __iter__(self) -> Iterator[Facts]:
        return iter(self.files.values())

    def memory(self, kind: type[_Memory]) -> _Memory:
        """What one consumer remembers of this project, as long as the project lives: the one object of that class."""
        if kind not in self.answers:
            self.answers.setdefault(kind, kind())
        found: _Memory = self.answers[kind]
        return found

    def lasting_memory(self, kind: type[_Memory]) -> _Memory:
        """As `memory`, of this project and all that it is joined to: it must notice what has changed."""
        if kind not in self._lasting:
            self._lasting.setdefault(kind, kind())
        found: _Memory = self._lasting[kind]
        return found

    # -- registrations

    @cached_property
    def _registrations(self) -> dict[str, list[tuple[Facts, Registration]]]:
        table: dict[str, list[tuple[Facts, Registration]]] = defaultdict(list)
        for facts in self:
            for registration in self.build.as_built(facts).registrations:
                if registration.function:
                    table[registration.function[-1]].append((facts, registration))
        return table

    @answered_once
    def _registrations_in_sight(self, name: str) -> ItemsInSight[Registration]:
        return ItemsInSight(self._registrations.get(name, ()), _defines_function(name))

    def registrations_of(self, facts: Facts, function: Function) -> list[tuple[Facts, Registration, Link]]:
        """Where `function`, defined in the file of `facts`, is given to the dispatcher, in any file linked to that."""
        if function.name == "operator()":
            return self._registrations_of_functor(facts, function)
        found = []
        # A file that defines a function of that name registers its own.
        for where, registration in self._registrations_in_sight(function.name).at(facts.path):
            if not names_agree(registration.function, function.qualified):
                continue
            if len(registration.function) == 1 and self._is_member(facts, function):
                continue  # a free function's name; a class's is written `&Net::run`
            found.append((where, registration, self._link(facts, function, where, registration.function)))
        return [one for one in found if one[2]]

    def _link(self, facts: Facts, function: Function, where: Facts, written: tuple[str, ...]) -> Link:
        return self.linkage.of_function(facts, function, where, written, function.name in self.common)

    def _registrations_of_functor(self, facts: Facts, function: Function) -> list[tuple[Facts, Registration, Link]]:
        """Where the class is given, whose call operator is the kernel: `.kernel<AddKernel>(DispatchKey::Autograd)`."""
        owner = function.qualified[:-1]
        if function.class_ is not None:
            owner = facts.classes[function.class_].qualified
        written = (_last(owner), function.name)
        found = [
            (
                where,
                registration,
                # Outside its class, the operator is linked as any method is: by the header that declares it.
                self.linkage.of_type(facts, _last(owner), where)
                if function.class_ is not None
                else self.linkage.of_function(facts, function, where, written),
            )
            for where, registration in self._registrations.get(_last(owner), ())
            if owner
            and names_agree(registration.function, owner)
            and (where.path == facts.path or all(class_.name != _last(owner) for class_ in where.classes))
        ]
        return [one for one in found if one[2]]

    def _is_member(self, facts: Facts, function: Function) -> bool:
        """Whether the function belongs to a class: it is in one, or is defined as `Class::name`."""
        if function.class_ is not None:
            return True
        space = function.qualified[:-1]
        if any(names_agree(class_.qualified, space) for class_ in self.classes_called(_last(space), facts)):
            return True
        # The class may be in a header that wasn't read; namespaces are rarely written so, and rarely capital.
        return len(function.declared_as) > 1 and _last(space)[:1].isupper()

    # -- calls

    @cached_property
    def _callers(self) -> dict[str, list[Facts]]:
        """The files in which a function of that name is called."""
        table: dict[str, list[Facts]] = defaultdict(list)
        for facts in self:
            for name in self._calls_in(facts):
                table[name].append(facts)
        return table

    def _calls_in(self, facts: Facts) -> dict[str, list[Call]]:
        return _calls_by_name(self.build.as_built(facts))

    @answered_once
    def _calls_in_sight(self, name: str) -> ItemsInSight[Call]:
        return ItemsInSight(self._calls_of(name), _defines_function(name))

    def _calls_of(self, name: str) -> Iterator[tuple[Facts, Call]]:
        return ((facts, call) for facts in self._callers.get(name, ()) for call in self._calls_in(facts)[name])

    def callers_of(self, facts: Facts, function: Function, most: int | None = None) -> list[tuple[Facts, Call, Link]]:
        """Calls that name `function` in linked files, so many at most; its own body does not count."""
        found = (
            (where, call, self._link(facts, function, where, call.path or (call.name,)))
            for where, call in self._calls_in_sight(function.name).at(facts.path)
            if not (where.path == facts.path and function.span.holds(call.span))
            and names_agree(call.path or (call.name,), function.qualified)
        )
        return list(islice((one for one in found if one[2]), most))

    # -- classes

    @cached_property
    def _class_places(self) -> dict[str, list[tuple[Facts, Class]]]:
        """All classes by their unqualified names, each with its file."""
        table: dict[str, list[tuple[Facts, Class]]] = defaultdict(list)
        for facts in self:
            for class_ in facts.classes:
                table[class_.name].append((facts, class_))
        return table

    def classes_called(self, name: str, facts: Facts, least: Link = Link.UNSHOWN) -> list[Class]:
        """The classes of an unqualified name that can be meant in the file of `facts`, by links at least so sure."""
        places = self._class_places.get(name, ())
        return [class_ for where, class_ in places if self.linkage.of_type(where, name, facts) >= least]

    @cached_property
    def _function_classes(self) -> dict[str, list[tuple[Facts, Class]]]:
        """By name, the classes that derive from torch::autograd::Function, directly or not."""
        found: dict[str, list[tuple[Facts, Class]]] = defaultdict(list)
        for facts, class_ in self._all_classes():
            if (facts.path, class_.span) in self._function_links:
                found[_last(class_.qualified)].append((facts, class_))
        return found

    def _all_classes(self) -> Iterator[tuple[Facts, Class]]:
        return (place for places in self._class_places.values() for place in places)

    @cached_property
    def _function_links(self) -> dict[tuple[str, Span], Link]:
        """How it is shown of each of these classes: by its own file, or by others that define its bases."""
        found: dict[tuple[str, Span], Link] = {}
        derived: dict[str, list[tuple[Facts, Class, tuple[str, ...]]]] = defaultdict(list)
        waiting: deque[tuple[Facts, Class]] = deque()
        for facts, class_ in self._all_classes():
            if _derives_from_function(class_):
                found[facts.path, class_.span] = Link.SHOWN
                waiting.append((facts, class_))
            for base in class_.bases:
                derived[last_name(base)].append((facts, class_, _path(base)))
        while waiting:
            where, known = waiting.popleft()
            for facts, class_, written in derived[_last(known.qualified)]:
                if not names_agree(written, known.qualified) or self._means_own(facts, written, where):
                    continue
                link = min(found[where.path, known.span], self.linkage.of_type(where, _last(known.qualified), facts))
                if link > found.get((facts.path, class_.span), Link.APART):
                    found[facts.path, class_.span] = link
                    waiting.append((facts, class_))
        return found

    @staticmethod
    def _means_own(facts: Facts, name: tuple[str, ...], where: Facts) -> bool:
        """Whether a file that names a class of another one has a class of that name itself."""
        own = index_of(facts).classes_named.get(_last(name), ()) if facts.path != where.path else ()
        return any(names_agree(class_.qualified, name) for class_ in own)

    def is_autograd_function(self, facts: Facts, class_: Class) -> bool:
        return (facts.path, class_.span) in self._function_links

    def autograd_method(self, facts: Facts, function: Function) -> str | None:
        """`forward`, `backward` or another method's name, when `function` is a method of an autograd Function."""
        return function.name if self.autograd_link(facts, function) else None

    def autograd_link(self, facts: Facts, function: Function) -> Link:
        """How it is shown that `function` is a method of an autograd Function; `APART` where it is none."""
        # What is called `forward` and takes the context is one, wherever its class is.
        if function.name in FUNCTION_METHODS and takes_context(function):
            return Link.SHOWN
        links = self._function_links
        if function.class_ is not None:
            return links.get((facts.path, facts.classes[function.class_].span), Link.APART)
        owner = function.qualified[:-1]
        name = _last(owner)
        # A class of that name in the same file is the one that is meant.
        own = [one for one in index_of(facts).classes_named.get(name, ()) if names_agree(one.qualified, owner)]
        if own:
            return max(links.get((facts.path, class_.span), Link.APART) for class_ in own)
        return max(
            (
                min(links[where.path, class_.span], self.linkage.of_type(where, name, facts))
                for where, class_ in self._function_classes.get(name, ())
                if names_agree(owner, class_.qualified)
            ),
            default=Link.APART,
        )

    # -- types and macros made of guards

    @cached_property
    def _mentions(self) -> dict[str, list[tuple[Facts, GuardUse]]]:
        table: dict[str, list[tuple[Facts, GuardUse]]] = defaultdict(list)
        for facts in self:
            for use in facts.guard_uses:
                if use.guard not in guards.CPP:
                    table[use.guard].append((facts, use))
                elif use.alias is not None:
                    table[use.alias].append((facts, use))
        return table

    @cached_property
    def _alias_uses(self) -> dict[str, list[tuple[Facts, GuardUse]]]:
        table: dict[str, list[tuple[Facts, GuardUse]]] = defaultdict(list)
        for facts in self:
            names: dict[Span, list[str]] = defaultdict(list)
            for alias in facts.aliases:
                names[alias.span].append(alias.name)
            for use in facts.guard_uses:
                if use.form is Form.ALIAS:
                    for name in names.get(use.span, ()):
                        table[name].append((facts, use))
        return table

    def alias_uses(self, name: str) -> list[tuple[Facts, GuardUse]]:
        """The declarations, in any file, that give a guard this name."""
        return self._alias_uses.get(name, [])

    @answered_once
    def mentions(self, name: str) -> list[tuple[Facts, GuardUse]]:
        """Places, in any file, where a watched name (a struct of guards, a macro, an alias) is used."""
        return [
            (facts, use)
            for facts, use in self._mentions.get(name, ())
            if use.form not in (Form.USING, Form.ALIAS) and not _defines(facts, name, use.type_span)
        ]

    @answered_once
    def _mentions_in_sight(self, name: str) -> ItemsInSight[GuardUse]:
        return ItemsInSight(self.mentions(name), lambda facts: name in index_of(facts).guard_names)

    def mentions_of(self, name: str, facts: Facts) -> list[tuple[Facts, GuardUse]]:
        """Those `mentions` that can mean what the file of `facts` defines."""
        found = self._mentions_in_sight(name).at(facts.path)
        return [place for place in found if self.linkage.of_type(facts, name, place[0])]

    @cached_property
    def _invocations(self) -> dict[str, list[tuple[Facts, Invocation]]]:
        table: dict[str, list[tuple[Facts, Invocation]]] = defaultdict(list)
        for facts in self:
            for invocation in facts.invocations:
                table[invocation.macro].append((facts, invocation))
        return table

    def invocations_of(self, macro: str, facts: Facts) -> list[tuple[Facts, Invocation]]:
        """Where a macro that defines functions, and that the file of `facts` defines, is invoked."""
        found = self._invocations.get(macro, [])
        return [place for place in found if self.linkage.of_type(facts, macro, place[0])]

    def defined_elsewhere(self, name: str, language: str = "cpp") -> list[tuple[Facts, Class]]:
        """Classes of a guard's name, written in that language, that are not PyTorch's own."""
        return [
            (facts, class_)
            for facts, class_ in self._class_places.get(name, ())
            if facts.language == language and class_.qualified[0] not in ("at", "c10", "torch")
        ]


def _derives_from_function(class_: Class) -> bool:
    """Whether a base is `torch::autograd::Function<…>`, or is spelled `Function<the class itself>`."""
    return any(isinstance(base, NamePath) and _is_function_of(base, class_) for base in class_.bases)


def _is_function_of(base: NamePath, class_: Class) -> bool:
    if base.path in PYTHON_AUTOGRAD_FUNCTION:
        return True
    if base.template_arguments is None or base.name != "Function":
        return False
    return base.path[-2:] == CPP_AUTOGRAD_FUNCTION[-2:] or class_.name in map(last_name, base.template_arguments[:1])


def _path(base: Expression) -> tuple[str, ...]:
    return base.path if isinstance(base, NamePath) else ()


def _defines_function(name: str) -> Callable[[Facts], bool]:
    return lambda facts: name in index_of(facts).function_names


def _defines(facts: Facts, name: str, span: Span) -> bool:
    """Whether the name is inside the very class or macro that it names."""
    return any(place.holds(span) for place in _definitions(facts).get(name, ()))


@answered_once
def _calls_by_name(facts: Facts) -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = defaultdict(list)
    for call in facts.calls:
        found[call.name].append(call)
    return found


@answered_once
def _definitions(facts: Facts) -> dict[str, list[Span]]:
    """Where the file's classes and macros are, by name."""
    found: dict[str, list[Span]] = defaultdict(list)
    for name, span in [*((c.name, c.span) for c in facts.classes), *((m.name, m.span) for m in facts.macros)]:
        found[name].append(span)
    return found


def _last(path: tuple[str, ...]) -> str:
    return path[-1] if path else ""
