"""What guardfix says of a text that is not a file. Nothing is read from the disk, and nothing is executed."""

from __future__ import annotations

import re
from typing import Any

from guardfix.api import check
from guardfix.codemods.apply.settling import Settled, settle
from guardfix.codemods.apply.unified_diff import unified_diff
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import FixableReport
from guardfix.linter.engine import Options
from guardfix.linter.facts.intents import Purpose
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.guards import CPP, LEGACY, Guard
from guardfix.output.report_summary import notes
from guardfix.package_version import VERSION
from guardfix.report.report_content import CodeLinks, content_of

from .guard_choices import OfferedGuard, old_guard_meanings, shown_choices

PASTED_NAMES = {"cpp": "pasted.cpp", "python": "pasted.py"}
"""What the text is called, by its language."""

_PYTHON = re.compile(
    r"^\s*(?:import \w|from [\w.]+ import|(?:async )?def \w.*:|class \w[^;{]*:|with .*:|@\w)", re.MULTILINE
)
_CPP = re.compile(r"^\s*#\s*(?:include|if|define|pragma)\b|::|[;{}]\s*$", re.MULTILINE)


def guessed_language(text: str) -> str:
    """`cpp` or `python`, by what there is more of."""
    return "python" if len(_PYTHON.findall(text)) > len(_CPP.findall(text)) else "cpp"


def pasted_answer(text: str, language: str = "", *, unsafe: bool = False) -> dict[str, Any]:
    """The findings as the report has them, the text after the fixes, and the diff. An empty `language` is guessed."""
    language = language or guessed_language(text)
    name = PASTED_NAMES[language]
    found = _checked(name, text, unsafe=unsafe)
    content = content_of(found, title=name, version=VERSION, links=CodeLinks("#line-{line}"), notes=notes(found))
    content.findings.sort(key=lambda one: (one["row"], one["column"]))
    settled = settle(found)
    is_open = any(finding.use is not None and finding.use.guard == LEGACY for finding in found.findings)
    return {
        "language": language,
        "findings": content.findings,
        "notes": content.notes,
        "unsafe": unsafe,
        "left": len(found.findings),
        **_applied(settled, text),
        "choices": _choices(found, name, text) if is_open and language == "cpp" else [],
    }


_PURPOSES = (
    ("inference", "if a model is run here", Purpose.INFERENCE),
    ("kernel", "if it is an Autograd kernel", Purpose.KERNEL),
)


def _choices(found: FixableReport, name: str, text: str) -> list[dict[str, Any]]:
    """What the old guard does, and what each purpose would make of it."""
    choices = old_guard_meanings(found.project)
    for title, when, purpose in _PURPOSES:
        settled = settle(_checked(name, text, unsafe=True, purpose=purpose))
        fixed = _applied(settled, text)["fixed"]
        new = [line.strip() for line in fixed.splitlines() if line not in text.splitlines()]
        changed = next((line for line in new if not line.startswith("#") and _guard_in(line)), "")
        guard = _guard_in(changed)
        if guard is not None:
            before = settled.rewrites[0].offset_before
            project = settled.last.project
            choices.append(OfferedGuard(title, when, project, before, guard.name, guard.effect, changed))
    return shown_choices(choices, found.project)


def _guard_in(line: str) -> Guard | None:
    return next((CPP[word] for word in re.findall(r"\w+", line) if word in CPP), None)


def _checked(name: str, text: str, *, unsafe: bool, purpose: Purpose | None = None) -> FixableReport:
    intents = () if purpose is None else ((name, purpose.value),)
    options = Options(workers=1, respect_gitignore=False, intents=intents)
    return check([name], options=options, choice=FixChoice(unsafe=unsafe), workspace=Workspace.in_memory({name: text}))


def _applied(settled: Settled, text: str) -> dict[str, Any]:
    """The text after the fixes, their diff, and what is left."""
    answer: dict[str, Any] = {"fixed": text, "applied": 0, "diff": "", "refused": ""}
    for rewrite in settled.rewrites:
        answer["refused"] = rewrite.refused
        if rewrite.changed and not rewrite.refused:
            answer["fixed"] = rewrite.source.encode(rewrite.text).decode("utf-8", "replace")
            answer["applied"], answer["left"] = len(rewrite.applied), len(settled.last.findings)
            answer["diff"] = b"".join(unified_diff(rewrite)).decode("utf-8", "replace")
    return answer
