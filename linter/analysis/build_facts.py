"""The build of a project, where one is known: which branches of an `#if` it compiles, which headers a file includes.

It is asked for decisions alone. Findings and fixes are about all branches: another build compiles the others.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property

from msgspec.structs import replace

from ..facts import Branch, Facts, Span
from ..facts.header_facts import HeaderFacts, MacroDefinition, MacroValues
from ..facts.preprocessor_expressions import value_of
from ..facts.spans import Nested, Sorted
from ..files.build_targets import BuildTargets
from ..files.compile_commands import CompileCommand, CompileCommands

MOST_HEADERS = 500
"""Headers of the project that are looked into for one file."""


class BuildFacts:
    """What the commands of a build say of its files."""

    def __init__(
        self,
        commands: CompileCommands,
        key: Callable[[str], str] = os.path.abspath,
        read: Callable[[str], HeaderFacts | None] = lambda path: None,
        targets: BuildTargets | None = None,
        listed: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """`key` gives one name for each file; `read` what the preprocessor makes of a file, None for no file; `listed`
        the paths of all C++ files of the project."""
        self._commands = commands
        self._key = key
        self._read = read
        self._targets = targets
        self._listed = listed
        self.seen: dict[str, dict[str, None]] = {}
        """What files include, as far as `Linkage` has found it: the same for every state of the project."""
        self._headers: dict[str, HeaderFacts | None] = {}
        self._included: dict[str, tuple[str, ...]] = {}
        self._macros: dict[str, MacroValues] = {}
        self._as_built: dict[Facts, Facts] = {}

    @property
    def is_known(self) -> bool:
        return bool(self._commands.by_file)

    # -- what is built together

    def are_one_program(self, one: str, other: str) -> bool | None:
        """Whether two files belong to one target, or to targets that are linked; None where that is not known."""
        first, second = (self._target_of_command(path) for path in (one, other))
        if first and first == second:
            return True
        return self._targets.are_one_program(self._key(one), self._key(other)) if self._targets is not None else None

    def targets_of(self, path: str) -> frozenset[str]:
        """The targets that a file is a source of, as far as any description names it."""
        described = self._targets.of(self._key(path)) if self._targets is not None else frozenset()
        return described | {self._target_of_command(path)}

    def _target_of_command(self, path: str) -> str:
        """The target for which CMake compiles a file, by the folder of what is written."""
        if not self.is_known:
            return ""
        outputs = (one.output.replace("\\", "/") for one in self._commands.by_file.get(self._key(path), ()))
        return next((output.partition(".dir/")[0] for output in outputs if "CMakeFiles/" in output), "")

    def library(self, path: str) -> str:
        """The nearest folder around a file in which a library of its own begins; empty where none is known."""
        return self._targets.library(self._key(path)) if self._targets is not None else ""

    # -- headers

    def is_compiled(self, path: str) -> bool:
        """Whether there is a command for the file: then what it includes is known for sure."""
        return self._key(path) in self._commands.by_file

    def key(self, path: str) -> str:
        """The one name of a file, by which `included` has it."""
        return self._key(path)

    def header(self, path: str) -> HeaderFacts:
        """What those see of a file who include it."""
        return self._header(self._key(path)) or HeaderFacts()

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The paths of all C++ files of the project."""
        return tuple(self._listed())

    def included(self, path: str) -> tuple[str, ...]:
        """The keys of the project's headers that a file includes, directly or not."""
        start = self._key(path)
        if start not in self._included:
            folders = tuple(dict.fromkeys(folder for one in self._commands_of(start) for folder in one.include))
            found: dict[str, None] = {}
            waiting = [start]
            while waiting and len(found) < MOST_HEADERS:
                includer = waiting.pop()
                for header, system in (self._header(includer) or HeaderFacts()).includes:
                    place = self._place(header, () if system else (os.path.dirname(includer),), folders)
                    if place and place not in found and place != start:
                        found[place] = None
                        waiting.append(place)
            self._included[start] = tuple(found)
        return self._included[start]

    def _place(self, header: str, beside: Iterable[str], folders: Iterable[str]) -> str:
        for folder in (*beside, *folders):
            place = self._key(os.path.join(folder, header))
            if self._header(place) is not None:
                return place
        return ""

    def _header(self, key: str) -> HeaderFacts | None:
        if key not in self._headers:
            self._headers[key] = self._read(key)
        return self._headers[key]

    # -- macros

    def _commands_of(self, key: str) -> tuple[CompileCommand, ...]:
        """A source's commands; for a header those of all sources."""
        return self._commands.by_file.get(key) or self._all_commands

    @cached_property
    def _all_commands(self) -> tuple[CompileCommand, ...]:
        return tuple(self._commands.all())

    @cached_property
    def _switches(self) -> frozenset[str]:
        """Macros that some command sets: where another one does not, they are not defined."""
        return frozenset(name for one in self._all_commands for name in (*one.defined, *one.undefined))

    def macros_of(self, path: str) -> MacroValues:
        """What is known of macros where a file is compiled, in all of its commands and by its project's headers."""
        key = self._key(path)
        if key not in self._macros:
            self._macros[key] = self._macros_of(key)
        return self._macros[key]

    def _macros_of(self, key: str) -> MacroValues:
        commands = self._commands_of(key)
        texts = [self._header(one) or HeaderFacts() for one in (*self.included(key), key)]
        written: dict[str, list[MacroDefinition]] = defaultdict(list)
        for text in texts:
            for definition in text.definitions:
                written[definition.name].append(definition)
        doubted = {name for text in texts for name in text.undefined}
        values: dict[str, int] = {}
        defined: set[str] = set()
        undefined: set[str] = set()
        for name in self._switches.union(written) - doubted:
            by_commands = {one.defined.get(name) for one in commands}
            by_headers = {one.value for one in written[name]}
            if not all(one.is_sure for one in written[name]):
                continue
            if by_commands == {None} and not by_headers:
                undefined.add(name)
            elif by_headers or None not in by_commands:
                defined.add(name)
                given = by_headers | (by_commands - {None})
                if len(given) == 1 and (value := value_of(str(given.pop()), {})) is not None:
                    values[name] = value
        return MacroValues(values, frozenset(defined), frozenset(undefined))

    def as_built(self, facts: Facts) -> Facts:
        """The facts of a file without what is in branches that its build leaves out and that hold no guard."""
        if not self.is_known or not facts.linked or not facts.conditionals:
            return facts
        if facts not in self._as_built:
            left_out = self._left_out(facts)
            self._as_built[facts] = _without(facts, left_out) if left_out else facts
        return self._as_built[facts]

    def _left_out(self, facts: Facts) -> list[Branch]:
        macros = self.macros_of(facts.path)
        uses = Sorted(facts.guard_uses, lambda use: use.type_span)
        found = []
        for conditional in facts.conditionals:
            taken = False
            for branch in conditional.branches:
                value = value_of(branch.condition, *macros) if branch.condition else None
                if (taken or value == 0) and not any(uses.within(branch.span)):
                    found.append(branch)
                if value is None and branch.condition:
                    break  # whether one further down is compiled depends on this one
                taken = taken or bool(value)
        return found


def _without(facts: Facts, left_out: Iterable[Branch]) -> Facts:
    """The facts without what is in these branches. Functions stay, as others are known by their numbers."""
    branches = Nested(left_out, lambda branch: branch.span)

    def is_built(place: Span) -> bool:
        return not any(branches.around(place))

    return replace(
        facts,
        calls=tuple(one for one in facts.calls if is_built(one.span)),
        registrations=tuple(one for one in facts.registrations if is_built(one.span)),
        assignments=tuple(one for one in facts.assignments if is_built(one.span)),
        returns=tuple(one for one in facts.returns if is_built(one.span)),
    )


NO_BUILD = BuildFacts(CompileCommands())
