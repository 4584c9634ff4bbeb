"""Which files are one program with which: what one file says about a name that another file defines.

A name alone shows nothing: a test, a document, a string in a Python program, another target of the build and another
library in the same tree each have a `blend` of their own. The code shows the link by an `#include` in either
direction, by a declaration of the very name, by a target of the build that has both files as sources, and, for strings,
by the expression that builds them together.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cached_property

from ..facts import Facts, Function
from ..facts.embedded_paths import real_path
from ..facts.index import index_of
from ..lazy_regex import lazy_regex
from .build_facts import MOST_HEADERS, NO_BUILD, BuildFacts
from .names import names_agree
from .project_summary import Kinship, is_test_path, is_vendored

_NEVER_INCLUDED = lazy_regex(r"\.(?:c|cc|cpp|cxx|c\+\+|cu|m|mm)\Z")
"""Files that others include only if they say so in a way that is found."""


class Link(IntEnum):
    """How one file is linked to another, as far as it is shown; more is surer."""

    APART = 0
    """They are different programs, or nothing shows that they aren't: the name there is another thing."""
    UNSHOWN = 1
    """They may be one program: what is found there counts, but makes nothing certain."""
    SHOWN = 2


class Linkage:
    """Answers for the files of one project."""

    def __init__(self, files: Mapping[str, Facts], build: BuildFacts) -> None:
        self._files = files
        self._build = build
        self._included: dict[str, dict[str, None]] = build.seen if build is not NO_BUILD else {}
        self._declarations: dict[str, dict[str, list[tuple[str, ...]]]] = {}
        self._links: dict[tuple[object, ...], Link] = {}
        self._standings: dict[str, tuple[str, bool, frozenset[str]]] = {}
        self._kinships: dict[tuple[object, object], Kinship] = {}

    # -- what is asked

    def of_function(
        self, facts: Facts, function: Function, other: Facts, written: tuple[str, ...], common: bool = False
    ) -> Link:
        """How the file `other`, which names a function as `written`, is linked to the one that defines it.

        With `common`, so many files have the name that not all were read: others may define it too.
        """
        if facts.path == other.path:
            return Link.SHOWN
        key = facts.path, function.qualified, function.is_static, other.path, written, common
        if key not in self._links:
            self._links[key] = self._of_function(facts, function, other, written, common)
        return self._links[key]

    def of_type(self, facts: Facts, name: str, other: Facts) -> Link:
        """How the file `other` is linked to one that defines a class, macro or alias: it has to include that."""
        if facts.path == other.path:
            return Link.SHOWN
        key = facts.path, name, other.path
        if key not in self._links:
            self._links[key] = self._of_type(facts, name, other)
        return self._links[key]

    # -- functions

    def _of_function(
        self, facts: Facts, function: Function, other: Facts, written: tuple[str, ...], common: bool
    ) -> Link:
        if not (facts.linked and other.linked):
            return self._of_texts(facts, other, function)
        if self.includes(other.path, facts.path):
            return Link.SHOWN
        if function.is_static:
            return Link.APART
        together = self._build.are_one_program(facts.path, other.path)
        if not together and [*map(is_test_path, _apart(facts.path, other.path))] == [True, False]:
            return Link.APART  # a test has its own double of what the program calls
        declared = list(self._declared_in_sight(other, function.name))
        # Other programs share what a header of both declares, and nothing that one of them declares itself.
        apart = self.kinship(facts.path, other.path) is Kinship.NONE
        fitting = [
            (path, name)
            for path, name in declared
            if _declares(name, function) and (not apart or self.includes(facts.path, path))
        ]
        is_method = _is_method(function)
        if declared and not fitting and not is_method:
            return Link.APART
        names = [name for _, name in fitting] or [written]
        # On an object, a name says nothing about whose method it is.
        rivals = [] if is_method and len(written) < 2 else self._rivals(facts, function, other, names)
        if any(self.includes(other.path, rival) for rival in rivals):
            return Link.APART
        if not together and any(self._build.are_one_program(rival, other.path) for rival in rivals):
            return Link.APART
        shared = together or any(self.includes(facts.path, path) for path, _ in fitting if path != other.path)
        if (together or fitting) and not rivals and (shared or not common):
            return Link.SHOWN
        if shared:
            return Link.UNSHOWN
        if common or (not fitting and self.are_strangers(facts.path, other.path)):
            return Link.APART
        return self._nearest(facts, other, rivals)

    def _declared_in_sight(self, other: Facts, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The declarations of that name in a file and in what it includes, each with its file."""
        for path in (other.path, *self._seen(other.path)):
            for qualified in self._declared(path).get(name, ()):
                yield path, qualified

    def _rivals(self, facts: Facts, function: Function, other: Facts, names: Iterable[tuple[str, ...]]) -> list[str]:
        """Other files that define what is named so."""
        return [
            path
            for path, rival in self._definitions.get(function.name, ())
            if path not in (facts.path, other.path)
            and (rival.class_ is None) == (function.class_ is None)
            and any(names_agree(name, rival.qualified) for name in names)
        ]

    def _nearest(self, facts: Facts, other: Facts, rivals: Iterable[str]) -> Link:
        """Of several files with the name, those in the nearest folders may be meant."""
        return (
            Link.UNSHOWN
            if all(_shared(facts.path, other.path) >= _shared(rival, other.path) for rival in rivals)
            else Link.APART
        )

    # -- types

    def _of_type(self, facts: Facts, name: str, other: Facts) -> Link:
        if not (facts.linked and other.linked):
            return self._of_texts(facts, other, None)
        if self.includes(other.path, facts.path):
            return Link.SHOWN
        if _NEVER_INCLUDED.search(facts.path) or self.are_strangers(facts.path, other.path):
            return Link.APART
        rivals = [path for path in self._types.get(name, ()) if path not in (facts.path, other.path)]
        if any(self.includes(other.path, rival) for rival in rivals):
            return Link.APART
        return self._nearest(facts, other, rivals)

    # -- texts inside other files, and other languages

    def _of_texts(self, facts: Facts, other: Facts, function: Function | None) -> Link:
        """Of two files, at least one of which isn't C++: only what is shown counts."""
        if facts.python is not None and other.python is not None:
            return Link.SHOWN  # modules of Python import one another
        here, there = self._files.get(real_path(facts.path)), self._files.get(real_path(other.path))
        if here is there and here is not None:
            if here.python is None:
                return Link.SHOWN  # the blocks of a document build on one another
            starts = {build.start for build in facts.built}
            return Link.SHOWN if any(build.start in starts for build in other.built) else Link.APART
        programs = [one for one in (here, there) if one is not None and one.python is not None]
        if len(programs) != 1:
            return Link.APART  # a document isn't built
        for text, file in ((facts, other), (other, facts)):
            read = (name for build in text.built for name in build.files)
            places = {self._place(name, False, real_path(text.path)) for name in read}
            if os.path.normpath(file.path) in places or self.includes(text.path, file.path):
                return Link.SHOWN
        if function is None or function.is_static or not facts.linked or other.python is not None:
            return Link.APART
        fitting = [
            path
            for path, name in self._declared_in_sight(other, function.name)
            if path != other.path and _declares(name, function)
        ]
        return Link.SHOWN if fitting and not self._rivals(facts, function, other, [function.qualified]) else Link.APART

    # -- what the files say

    def _declared(self, path: str) -> dict[str, list[tuple[str, ...]]]:
        """By their last names, the functions that a file declares."""
        if path not in self._declarations:
            found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
            facts = self._files.get(path)
            for name in self._build.header(path).declared if facts is None or _is_empty(facts) else facts.declared:
                found[name[-1]].append(name)
            self._declarations[path] = found
        return self._declarations[path]

    @cached_property
    def _definitions(self) -> dict[str, list[tuple[str, Function]]]:
        """By name, the functions that other files can name."""
        found: dict[str, list[tuple[str, Function]]] = defaultdict(list)
        for facts in self._files.values():
            for function in facts.functions if facts.linked else ():
                if function.name and not function.is_static:
                    found[function.name].append((facts.path, function))
        return found

    @cached_property
    def _types(self) -> dict[str, list[str]]:
        """By name, the files that define a class, macro or alias."""
        found: dict[str, list[str]] = defaultdict(list)
        for facts in self._files.values():
            for name in index_of(facts).guard_names if facts.linked else ():
                found[name].append(facts.path)
        return found

    # -- includes

    def includes(self, path: str, header: str) -> bool:
        """Whether one file includes another one, directly or not."""
        seen = self._seen(path)
        return header in seen or os.path.normpath(header) in seen or self._build.key(header) in seen

    def _seen(self, path: str) -> dict[str, None]:
        """What a file includes, directly or not: of one that is compiled, what the command's folders hold."""
        if path not in self._included:
            compiled = self._build.is_compiled(path)
            self._included[path] = dict.fromkeys(self._build.included(path)) if compiled else self._closure(path)
        return self._included[path]

    def _closure(self, path: str) -> dict[str, None]:
        found: dict[str, None] = {}
        waiting = [path]
        while waiting and len(found) < MOST_HEADERS:
            includer = waiting.pop()
            for header, system in self._written(includer):
                place = self._place(header, system, real_path(includer))
                if place and place not in found:
                    found[place] = None
                    waiting.append(place)
        return found

    def _written(self, path: str) -> Iterable[tuple[str, bool]]:
        """The `#include`s of a file, each with whether it is one in angle brackets."""
        facts = self._files.get(path)
        if facts is None or _is_empty(facts):
            return self._build.header(path).includes
        return [(include.header, include.system) for include in facts.includes]

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The project's files."""
        return frozenset(map(os.path.normpath, (*self._build.listed, *map(real_path, self._files))))

    @cached_property
    def _paths_named(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            found[os.path.basename(path)].append(path)
        return found

    def _place(self, header: str, system: bool, includer: str) -> str:
        """The file that is included: the one beside, or else the one with that path in the nearest folder."""
        beside = os.path.normpath(os.path.join(os.path.dirname(includer), header))
        if not system and beside in self._paths:
            return beside
        candidates = [path for path in self._paths_named.get(os.path.basename(header), ()) if _ends_with(path, header)]
        if len(candidates) > 1:
            best = max(_shared(path, includer) for path in candidates)
            candidates = [path for path in candidates if _shared(path, includer) == best]
        return candidates[0] if len(candidates) == 1 else ""

    # -- what sets files apart

    def are_strangers(self, path: str, other: str) -> bool:
        """Whether two files belong to different programs, where they name nothing of each other's."""
        kinship = self.kinship(path, other)
        return kinship is not Kinship.SAME and not self._build.are_one_program(path, other)

    def kinship(self, path: str, other: str) -> Kinship:
        """What a file is to another one, where they name nothing of each other's."""
        key = self.standing(path), self.standing(other)
        if key not in self._kinships:
            self._kinships[key] = self._kinship(path, other)
        return self._kinships[key]

    def standing(self, path: str) -> tuple[str, bool, frozenset[str]]:
        """All of a file that matters to its kinship: files that share it are the same to any other."""
        if path not in self._standings:
            folder, name = os.path.split(path)
            self._standings[path] = folder, is_test_path(name), self._build.targets_of(path)
        return self._standings[path]

    def _kinship(self, path: str, other: str) -> Kinship:
        together = self._build.are_one_program(path, other)
        if together is False:
            return Kinship.NONE
        paths = _apart(path, other)
        if together is None:
            first, second = self._build.library(path), self._build.library(other)
            apart = first and second and not (_is_below(first, second) or _is_below(second, first))
            if apart or any(map(is_vendored, paths)):
                return Kinship.NONE
        return Kinship.TEST if len(set(map(is_test_path, paths))) > 1 else Kinship.SAME


def _declares(name: tuple[str, ...], function: Function) -> bool:
    """Whether a declaration is that of a function; a class may be in namespaces that only one of the two shows."""
    return name == function.qualified or (
        len(name) > 1 and _is_method(function) and name[-2:] == function.qualified[-2:]
    )


def _is_method(function: Function) -> bool:
    return function.class_ is not None or len(function.declared_as) > 1


def _is_empty(facts: Facts) -> bool:
    """Whether nothing but comments was read of a file: it was not asked about more."""
    return facts.linked and not (facts.includes or facts.declared or facts.functions or facts.classes)


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")


def _is_below(folder: str, above: str) -> bool:
    return folder == above or folder.startswith(os.path.join(above, ""))


def _ends_with(path: str, written: str) -> bool:
    """Whether a path ends with one as written, by whole names."""
    tail = "/" + os.path.normpath(written).replace(os.sep, "/").lstrip("./")
    return ("/" + _slashes(os.path.normpath(path))).endswith(tail)


def _apart(path: str, other: str) -> list[str]:
    """Two paths without the folders that both are in: a whole project may be in a folder for tests."""
    both = _shared(path, other)
    return ["/".join(_slashes(each).split("/")[both:]) for each in (path, other)]


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common."""
    folders = zip(_slashes(one).split("/")[:-1], _slashes(other).split("/")[:-1], strict=False)
    count = 0
    for first, second in folders:
        if first != second:
            break
        count += 1
    return count
