"""Who owns a file, by a CODEOWNERS file as GitHub and GitLab read it.

The last line that matches a path decides. Patterns are those of .gitignore with differences: there is no `!` and no
`[…]`, and `dir/*` means what is in the folder itself, not below it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from guardfix.linter.files.ignore_patterns import IgnorePattern, NoPattern
from guardfix.regular_files import read_regular

PLACES = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Where the file is, from the top of the repository."""
NO_OWNER = "(no owner)"
"""How files are listed that no line matches."""


@dataclass(frozen=True)
class CodeOwners:
    """The lines of a CODEOWNERS file."""

    rules: tuple[tuple[_OwnedPaths, tuple[str, ...]], ...] = ()

    @classmethod
    def read(cls, top: str) -> CodeOwners:
        """The file of a repository; without one, no one owns anything."""
        for place in PLACES:
            try:
                return cls.parse(read_regular(os.path.join(top, place)).decode("utf-8", "replace"))
            except OSError:
                continue
        return cls()

    @classmethod
    def parse(cls, text: str) -> CodeOwners:
        """The rules of a text."""
        rules = []
        for line in text.splitlines():
            words = re.findall(r"(?:\\.|[^\s\\])+", re.sub(r"(?:^|(?<=\s))#.*", "", line))
            # GitLab's sections: `[name]`, `^[name][2] @owner`.
            if words and not words[0].startswith(("[", "^[")):
                paths = _paths_of(words[0].replace("\\ ", " "))
                if paths is not None:
                    rules.append((paths, tuple(words[1:])))
        return cls(tuple(rules))

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a file, by its path from the top of the repository with slashes; none when it has none."""
        return next((owners for pattern, owners in reversed(self.rules) if pattern.has(path)), ())


class _OwnedPaths:
    """The paths that a pattern means. Raises `NoPattern` where it can mean none."""

    def __init__(self, pattern: str) -> None:
        self._pattern = IgnorePattern(re.sub(r"[\\\[]|^!", lambda found: f"\\{found.group()}", pattern))
        bare = pattern.strip("/")
        self._alone = bare.endswith("*") and not bare.endswith("**") and "/" in bare and not pattern.endswith("/")
        """A name means a file, and a folder with all that is below; `dir/*` only what is in it."""

    def has(self, path: str) -> bool:
        if self._pattern.matches(path, False):
            return True
        ends = [] if self._alone else [place for place, sign in enumerate(path) if sign == "/"]
        return any(self._pattern.matches(path[:end], True) for end in ends)


def _paths_of(pattern: str) -> _OwnedPaths | None:
    try:
        return _OwnedPaths(pattern)
    except NoPattern:
        return None
