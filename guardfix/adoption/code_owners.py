"""Who owns a file, by a CODEOWNERS file as GitHub and GitLab read it.

The last line that matches a path decides. Patterns are those of .gitignore with differences: there is no `!` and no
`[…]`, and `dir/*` means what is in the folder itself, not below it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from guardfix.linter.files.sources import Unreadable, read_regular

PLACES = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
"""Where the file stands, from the top of the repository."""
NO_OWNER = "(no owner)"
"""How files are listed that no line matches."""


@dataclass(frozen=True)
class CodeOwners:
    """The lines of a CODEOWNERS file."""

    rules: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = ()

    @classmethod
    def read(cls, top: str) -> CodeOwners:
        """The file of a repository; without one, nobody owns anything."""
        for place in PLACES:
            try:
                return cls.parse(read_regular(os.path.join(top, place)).decode("utf-8", "replace"))
            except (OSError, Unreadable):
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
                rules.append((_expression(words[0].replace("\\ ", " ")), tuple(words[1:])))
        return cls(tuple(rules))

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a file, by its path from the top of the repository with slashes; none when it has none."""
        return next((owners for pattern, owners in reversed(self.rules) if pattern.search(path)), ())


def _expression(pattern: str) -> re.Pattern[str]:
    anchored = "/" in pattern.rstrip("/")
    below = pattern.endswith("/")
    told = pattern.strip("/")
    parts = re.findall(r"/\*\*/|\*\*/|/\*\*|\*|\?|[^*?/]+|/", told)
    translated = "".join(_part(part) for part in parts)
    # A name means a file, and a folder with all that is below; `dir/*` only what is in it.
    end = "/" if below else "$" if told.endswith("*") and not told.endswith("**") and "/" in told else "(?:/|$)"
    return re.compile(("^" if anchored else "(?:^|/)") + translated + end)


def _part(part: str) -> str:
    return {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
