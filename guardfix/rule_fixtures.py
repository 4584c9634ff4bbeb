"""Fixtures that say in comments what is found in them: `guardfix test-rules`.

A comment at the end of a line names what is expected there: `// GF101`, `# MY001, GF403`, `/* GF101 kernel */ \\`; the
word after a code is the decision's context. Siblings hold the text after the fixes: `name.migrated.cpp` after the
safe ones, `name.unsafe.cpp` after all; without them the fixes change nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import FixableReport, fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.findings import Context
from guardfix.linter.lazy_regex import lazy_regex
from guardfix.regular_files import read_regular

_EXPECTED = lazy_regex(r"(?://|#|/\*)\s*([A-Z]+\d{3,}(?:[ \w]|,\s*[A-Z]+\d{3,})*?)\s*(?:\*/\s*\\?)?$")
_SIBLINGS = {"migrated": FixChoice(), "unsafe": FixChoice(unsafe=True)}

Expectation = tuple[int, str, str]
"""(row, code, context or "")."""


def is_sibling(path: str) -> bool:
    """Whether a file holds what fixes make of another."""
    return os.path.splitext(os.path.splitext(path)[0])[1].lstrip(".") in _SIBLINGS


def fixture_mistakes(path: str, options: Options) -> Iterator[str]:
    """In what a fixture is not as it says. Each is checked alone, as if there were no other file."""
    data = read_regular(path)
    report = _checked(path, data, options, FixChoice())
    run = {rule.code for rule in report.rules}
    expected = Counter(one for one in _expected(data) if one[1] in run)
    contexts = {one[:2] for one in expected if one[2]}
    found: Counter[Expectation] = Counter()
    for finding in report.findings:
        row, context = report.start(finding).row, finding.decision.context.value if finding.decision else ""
        found[row, finding.code, context if (row, finding.code) in contexts else ""] += 1
    for (row, code, context), count in sorted((expected - found).items()):
        yield f"{path}:{row}: {_named(code, context, count)} expected and not found"
    for (row, code, context), count in sorted((found - expected).items()):
        yield f"{path}:{row}: {_named(code, context, count)} found and not expected"
    yield from _sibling_mistakes(path, data, options)


def _sibling_mistakes(path: str, data: bytes, options: Options) -> Iterator[str]:
    wanted = data
    stem, suffix = os.path.splitext(path)
    for kind, choice in _SIBLINGS.items():
        sibling = f"{stem}.{kind}{suffix}"
        if os.path.exists(sibling):
            wanted = read_regular(sibling)
        rewritten = next(iter(settle(_checked(path, data, options, choice)).rewrites), None)
        got = data if rewritten is None or rewritten.refused else rewritten.source.encode(rewritten.text)
        if got != wanted:
            row = next((n for n, (a, b) in enumerate(zip(_lines(got), _lines(wanted), strict=False), 1) if a != b), 0)
            row = row or min(len(_lines(got)), len(_lines(wanted))) + 1
            where = sibling if os.path.exists(sibling) else f"{path} (no fix changes it: there is no {sibling})"
            yield f"{where}:{row}: the {'safe' if kind == 'migrated' else 'unsafe'} fixes make another text"


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines()


def _checked(path: str, data: bytes, options: Options, choice: FixChoice) -> FixableReport:
    alone = replace(options, workers=1, force_exclude=False)
    return fixes_for(check([path], alone, workspace=Workspace.in_memory({path: data})), choice=choice)


def _expected(data: bytes) -> Iterator[Expectation]:
    for row, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = _EXPECTED.search(line)
        for part in match[1].split(",") if match else ():
            code, *words = part.split()
            context = words[0] if words and words[0] in set(Context) else ""
            yield row, code, context


def _named(code: str, context: str, count: int) -> str:
    return " ".join(filter(None, (str(count) if count > 1 else "", code, context)))
