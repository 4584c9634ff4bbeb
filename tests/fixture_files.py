"""The fixtures, as the tests see them.

A fixture is one file in fixtures/cpp (or fixtures/python), or one folder in fixtures/cpp_projects. Comments at the
end of a line say what is found there: `// GF101 kernel`, `# GF401`, several separated by commas (inside a macro
`/* GF101 kernel */ \\`); the word behind a code is the decision's context. Siblings hold the text after migration:

    name.cpp            as it is found
    name.migrated.cpp   after `guardfix migrate --apply`; without it that changes nothing
    name.unsafe.cpp     after `guardfix migrate --apply --unsafe`; without it that changes no more than the safe run

In a folder the siblings are whole folders: name/, name.migrated/, name.unsafe/. Rules that are off by default run on a
fixture that names them in a line `// select: GF302`; `# minimum-torch: 1.13` sets that option.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"

_EXPECTED = re.compile(r"(?://|#|/\*)\s*(GF\d{3}[^\n*]*?)\s*(?:\*/\s*\\?)?$")
_ONE = re.compile(r"^(GF\d{3})(?: (inference|kernel|below_autograd|remove|unknown))?$")
_MINIMUM = re.compile(r"# minimum-torch: (\S+)$", re.MULTILINE)
_SELECT = re.compile(r"(?://|#) select: (.*)$", re.MULTILINE)

Expectation = tuple[str, int, str, str]
"""(file, row, code, context or "")."""


@dataclass(frozen=True)
class Fixture:
    """One file or folder, and what should be found in it."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem if self.path.is_file() else self.path.name

    def files(self) -> list[Path]:
        return [self.path] if self.path.is_file() else sorted(p for p in self.path.rglob("*") if p.is_file())

    def sibling(self, kind: str) -> Path | None:
        path = self.path.with_name(f"{self.name}.{kind}{self.path.suffix if self.path.is_file() else ''}")
        return path if path.exists() else None

    def select(self) -> tuple[str, ...]:
        """Extra rules that the fixture asks for."""
        found = [code for file in self.files() for line in _SELECT.findall(_text(file)) for code in line.split(",")]
        return tuple(code.strip() for code in found)

    def minimum_torch(self) -> str:
        """The oldest torch that the fixture says it supports."""
        return next((version for file in self.files() for version in _MINIMUM.findall(_text(file))), "")

    def expected(self) -> set[Expectation]:
        found: set[Expectation] = set()
        for file in self.files():
            for row, line in enumerate(_text(file).splitlines(), 1):
                match = _EXPECTED.search(line)
                for part in match[1].split(",") if match else ():
                    one = _ONE.match(part.strip())
                    assert one, f"{file}:{row}: not an expectation: {part!r}"
                    found.add((self._shown(file), row, one[1], one[2] or ""))
        return found

    def _shown(self, file: Path) -> str:
        return file.name if self.path.is_file() else str(file.relative_to(self.path))

    def copy_to(self, folder: Path) -> Path:
        """A copy to work on, alone in its folder."""
        target = folder / "work"
        target.mkdir()
        for file in self.files():
            place = target / self._shown(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        return target

    def contents(self, kind: str | None = None) -> dict[str, bytes]:
        """The fixture's files, or a sibling's, by their names."""
        source = self if kind is None else None
        if kind is not None:
            path = self.sibling(kind)
            assert path is not None
            if path.is_file():
                return {self.path.name: path.read_bytes()}
            source = Fixture(path)
        assert source is not None
        return {source._shown(file): file.read_bytes() for file in source.files()}


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def all_fixtures() -> list[Fixture]:
    files = [p for folder in ("cpp", "python") for p in sorted((FIXTURES / folder).glob("*")) if p.is_file()]
    projects = ("cpp_projects", "python_projects")
    folders = [p for folder in projects for p in sorted((FIXTURES / folder).glob("*")) if p.is_dir()]
    return [Fixture(path) for path in [*files, *folders] if not _is_sibling(path)]


def _is_sibling(path: Path) -> bool:
    return any(f".{kind}" in path.name for kind in ("migrated", "unsafe"))
