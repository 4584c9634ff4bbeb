"""What a look at all files of a project says: where its functions and classes are defined, and what it is about.

Made only when a use stays open on what the files with guards say. The project's own code counts: what it vendors may do
anything.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import lru_cache

from ..facts.file_summary import FileSummary, Mention, Topic
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple

_VENDORED = lazy_regex(
    r"(?:^|[/\\])(?:third[-_]?part(?:y|ies)|3rd[-_]?party|3rdparty|extern(?:al)?s?|vendor(?:ed)?|submodules|subprojects|deps|_deps"
    r"|node_modules|site-packages|libtorch|\.venv|venv)[/\\]",
    re.IGNORECASE,
)
_TEST = lazy_regex(
    r"(?:^|[/\\])(?i:(?:unit_?|g)?tests?|testing|bench(?:marks?)?)[/\\]"
    r"|(?:^|[/\\])(?:(?:test|bench)_[^/\\]*|(?:[^/\\]*_)?(?:(?:unit)?tests?|bench(?:mark)?s?)|[^/\\]*Tests?|conftest)\.\w+\Z"
)


def is_test_path(path: str) -> bool:
    """Whether a file holds tests or benchmarks, by its name or a folder's: these train in one function and predict in
    another, set modes for themselves, and are linked by themselves."""
    return _TEST.search(path) is not None


@lru_cache(maxsize=1 << 16)  # an editor asks for all files of a project at each change
def is_vendored(path: str) -> bool:
    """Whether a file is in a folder for other people's code."""
    return _VENDORED.search(path) is not None


class Kinship(Enum):
    """What one file is to another, by where they are and what they are built into."""

    NONE = "another program"
    TEST = "a test of the other, or what it tests"
    SAME = "perhaps the same program"


class TopicPlace(NamedTuple):
    """The first place of a topic."""

    path: str
    mention: Mention


class ProgramSummary:
    """What the files say that may be one program with a file."""

    def __init__(self, files: Iterable[FileSummary], tests: Iterable[FileSummary] = ()) -> None:
        """`tests` are those of that program: they show what it is used for, and not what it is."""
        self.files = 0
        self._counts: Counter[Topic] = Counter()
        self._places: dict[Topic, TopicPlace] = {}
        for file_summary in files:
            self.files += 1
            for topic, mention in file_summary.mentions.items():
                self._counts[topic] += mention.times
                self._places.setdefault(topic, TopicPlace(file_summary.path, mention))
        for file_summary in tests:
            for topic in _OF_USERS & file_summary.mentions.keys():
                self._counts[topic] += file_summary.mentions[topic].times

    def count(self, topic: Topic) -> int:
        """In how many places its code mentions the topic."""
        return self._counts[topic]

    def place(self, topic: Topic) -> TopicPlace | None:
        """Where its code does so first."""
        return self._places.get(topic)


_OF_USERS = frozenset({Topic.GRADIENT, Topic.AUTOGRAD})
"""What a test of a program does with the program, rather than for itself."""


class ProjectSummary:
    """The file summaries of a project's files, joined."""

    def __init__(self, file_summaries: Iterable[FileSummary], *, complete: bool = True) -> None:
        self.complete = complete
        """Whether all files of the project were looked at."""
        self._functions: dict[str, list[str]] = defaultdict(list)
        self._classes: dict[str, list[str]] = defaultdict(list)
        self._files = {file_summary.path: file_summary for file_summary in file_summaries}
        for file_summary in self._files.values():
            for name in file_summary.functions:
                self._functions[name].append(file_summary.path)
            for name in file_summary.classes:
                self._classes[name].append(file_summary.path)

    def program(self, kinship: Callable[[str], Kinship]) -> ProgramSummary:
        """What those of the project's own files say that may be one program with the one that `kinship` is about."""
        by_kinship: dict[Kinship, list[FileSummary]] = defaultdict(list)
        for path, file_summary in self._files.items():
            if not is_vendored(path):
                by_kinship[kinship(path)].append(file_summary)
        return ProgramSummary(by_kinship[Kinship.SAME], by_kinship[Kinship.TEST])

    def mentions_in(self, path: str) -> Mapping[Topic, Mention]:
        """What one file is about; nothing for a file that was not looked at."""
        return self._files[path].mentions if path in self._files else {}

    def defining_function(self, name: str) -> list[str]:
        """The files with a function of that name, whatever its class."""
        return self._functions.get(name, [])

    def defining_class(self, name: str) -> list[str]:
        """The files that define a class of that name."""
        return self._classes.get(name, [])

    def defining(self, name: str) -> list[str]:
        """The files that define a function or a class of that name."""
        return [*self.defining_function(name), *self.defining_class(name)]
