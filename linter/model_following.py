"""Which further Python files are read for the models that some code runs under inference mode.

They are the modules that define what the code takes from them, found by import, and the files nearby that call the
functions that run models: those callers may train the same model. The abstract machine runs them all together.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from . import guards
from .analysis.project import Project
from .analysis.python_modules import PythonModules
from .facts.bodies import Body, Import
from .facts.python_uses import runs_inference
from .facts.statement_walk import words_in
from .files.search import FEW_WORDS, word_places, words_of_text
from .flow.model_training import TRAINING_WORDS
from .flow.program import ProjectCode
from .flow.running import functions_of, names_of, reaching_guards

MOST_FILES = 20
"""Files that are read for this in one project."""
MOST_CALLING = 6
"""Files that call a function by its name, if it is to say which one is meant."""
_LEVELS_UP = 2
"""Callers are looked for below the folder so far above a file."""
_EVERYWHERE = frozenset({"forward", "main", "__call__", "__init__"})
"""Names of functions that say nothing about which one is meant."""


class ModelFollowing:
    """What has to be read in one language: modules for which `matters` holds (None: all), and those that hand on."""

    def __init__(
        self, language: str, checked: Sequence[str], around: Sequence[str], matters: Callable[[str], bool] | None
    ) -> None:
        self.language = language
        self._matters = matters
        self.around = frozenset(around)
        """Paths of files that are not checked."""
        self.read: set[str] = set()
        """Paths of files that were read for this."""
        self.names: set[str] = set()
        """Functions and classes that were asked for."""
        self._taken_from: dict[str, set[str]] = {}
        """What others take from each module, as far as it was asked for."""
        self._by_place = {os.path.abspath(path): path for path in (*around, *checked)}
        self._modules = PythonModules(self._by_place.values())

    def asked(self, project: Project) -> tuple[frozenset[str], list[str]]:
        """(names of functions whose callers are asked now, paths of modules to read)."""
        program = ProjectCode(facts for facts in project if facts.language == self.language)
        reaching = reaching_guards(program, {guards.PYTHON_INFERENCE_MODE})
        running: set[str] = set()
        taken: dict[str, set[str]] = defaultdict(set)
        for file in program.files:
            if len(self.read) >= MOST_FILES:
                break
            found = [(owner, body) for owner, body in functions_of(file) if id(body) in reaching]
            for owner, body in found:
                if body.parameters:
                    running.update(names_of(owner, body))
            if found or runs_inference(file.facts) or file.path in self.read:
                for path, name in self._taken(file.module, file.path):
                    taken[path].add(name)
        names = running - _EVERYWHERE - self.names
        self.names |= names.union(*taken.values())
        new = (path for path, names in taken.items() if not names <= self._taken_from.get(path, set()))
        unread = sorted(path for path in new if self._matters is None or _hands_on(path) or self._matters(path))
        self._taken_from |= taken
        return frozenset(names), unread[: MOST_FILES - len(self.read)]

    def _taken(self, module: Body | None, path: str) -> Iterator[tuple[str, str]]:
        """(module of the project, name) of what a module imports and its functions mention, or it hands on."""
        if module is None:
            return
        words = words_in(module)
        handed_on = self._taken_from.get(path, set()) | {"*"} if _hands_on(path) else set()
        for statement in module.statements:
            if isinstance(statement, Import) and (statement.name in words or statement.name in handed_on):
                holder, _, name = statement.dotted.rpartition(".")
                found = self._modules.find(statement.dotted, path)
                found = found or self._modules.find(holder or "." * statement.dotted.startswith("."), path)
                if found is not None and found != path:
                    yield found, name

    def near(self, project: Project, names: Collection[str]) -> list[str]:
        """The files in which callers of these names are looked for; none without names."""
        if not names:
            return []
        folders = set()
        for facts in project:
            if facts.language == self.language and runs_inference(facts):
                folder = os.path.dirname(os.path.abspath(facts.path))
                for _ in range(_LEVELS_UP):
                    folder = os.path.dirname(folder)
                folders.add(folder.rstrip(os.sep) + os.sep)
        starts = tuple(folders)
        return [path for place, path in self._by_place.items() if place.startswith(starts) and path not in self.read]


def _hands_on(path: str) -> bool:
    return path.endswith("__init__.py")


def calling_files(words: Sequence[bytes], texts: Iterable[tuple[str, bytes]], training: bool) -> list[str]:
    """The paths of those files that call a function of one of these names, which few others do.

    With `training`, only of those that may train.
    """
    names_in: dict[str, set[bytes]] = {}
    counts: Counter[bytes] = Counter()
    left = set(words)
    can_cut = all(map(bytes.isascii, words))
    for path, text in texts:
        standing = left.intersection(words_of_text(text)) if can_cut and len(left) > FEW_WORDS else left
        called = {word for word in standing if _is_called(word, text)}
        if called and (not training or _MAY_TRAIN.search(text)):  # most files call none: the longer search comes last
            names_in[path] = called
            counts.update(called)
            left.difference_update(name for name in called if counts[name] > MOST_CALLING)
    # A name that is called in many files stands for many functions.
    found = [path for path, names in names_in.items() if any(counts[name] <= MOST_CALLING for name in names)]
    return sorted(found)[:MOST_FILES]


_MAY_TRAIN = re.compile(rf"backward\s*\(|def (?:\w*_)?(?:{TRAINING_WORDS})(?:_\w*)?\s*\(".encode())
_CALL = re.compile(rb"\s*\(")


def _is_called(word: bytes, text: bytes) -> bool:
    """Whether the name is in the text in front of a bracket, and not in a definition."""
    for place in word_places(text, word):
        if text[max(0, place - 4) : place] != b"def " and _CALL.match(text, place + len(word)):
            return True
    return False
