"""What a look at all files of a project says: where its functions and classes are defined, and what it is about.

Made only when a use stays open on what the files with guards say. The project's own code counts: what it vendors may do
anything.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from ..facts.file_summary import FileSummary, Mention, Topic
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple

_VENDORED = lazy_regex(
    r"(?:^|[/\\])(?:third[-_]?part(?:y|ies)|3rd[-_]?party|3rdparty|externals?|vendor(?:ed)?|submodules|deps|_deps"
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


class TopicPlace(NamedTuple):
    """The first place of a topic."""

    path: str
    mention: Mention


class ProjectSummary:
    """The file summaries of a project's files, joined."""

    def __init__(self, file_summaries: Iterable[FileSummary], *, complete: bool = True) -> None:
        self.complete = complete
        """Whether all files of the project were looked at."""
        self.files = 0
        """How many of the project's own files were looked at."""
        self._functions: dict[str, list[str]] = defaultdict(list)
        self._classes: dict[str, list[str]] = defaultdict(list)
        self._counts: Counter[Topic] = Counter()
        self._in_file: dict[str, Mapping[Topic, Mention]] = {}
        for file_summary in file_summaries:
            for name in file_summary.functions:
                self._functions[name].append(file_summary.path)
            for name in file_summary.classes:
                self._classes[name].append(file_summary.path)
            self._in_file[file_summary.path] = file_summary.mentions
            if is_vendored(file_summary.path):
                continue
            self.files += 1
            self._counts.update({topic: mention.times for topic, mention in file_summary.mentions.items()})

    def count(self, topic: Topic) -> int:
        """In how many places the project's own code mentions the topic."""
        return self._counts[topic]

    def place_among(self, topic: Topic, counts: Callable[[str], bool]) -> TopicPlace | None:
        """Where the project's own code does so first, in the files that count."""
        return next(
            (
                TopicPlace(path, mentions[topic])
                for path, mentions in self._in_file.items()
                if topic in mentions and not is_vendored(path) and counts(path)
            ),
            None,
        )

    def mentions_in(self, path: str) -> Mapping[Topic, Mention]:
        """What one file is about; nothing for a file that was not looked at."""
        return self._in_file.get(path, {})

    def defining_function(self, name: str) -> list[str]:
        """The files with a function of that name, whatever its class."""
        return self._functions.get(name, [])

    def defining_class(self, name: str) -> list[str]:
        """The files that define a class of that name."""
        return self._classes.get(name, [])

    def defining(self, name: str) -> list[str]:
        """The files that define a function or a class of that name."""
        return [*self.defining_function(name), *self.defining_class(name)]
