"""What guardfix says of a text that is not a file. Nothing is read from the disk, and nothing is executed."""

from __future__ import annotations

import re
from typing import Any

from guardfix.api import check
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.apply.unified_diff import unified_diff
from guardfix.codemods.choice import FixChoice
from guardfix.linter.engine import Options
from guardfix.linter.files.workspace import Workspace
from guardfix.output.report_summary import notes
from guardfix.package_version import VERSION
from guardfix.report.report_content import CodeLinks, content_of

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
    options = Options(workers=1, respect_gitignore=False)
    found = check([name], options=options, choice=FixChoice(unsafe=unsafe), workspace=Workspace.in_memory({name: text}))
    content = content_of(found, title=name, version=VERSION, links=CodeLinks("#line-{line}"), notes=notes(found))
    answer = {
        "language": language,
        "findings": content.findings,
        "notes": content.notes,
        "fixed": text,
        "applied": 0,
        "left": len(found.findings),
        "diff": "",
        "refused": "",
    }
    settled = settle(found)
    for rewrite in settled.rewrites:
        answer["refused"] = rewrite.refused
        if rewrite.changed and not rewrite.refused:
            answer["fixed"] = rewrite.source.encode(rewrite.text).decode("utf-8", "replace")
            answer["applied"], answer["left"] = len(rewrite.applied), len(settled.last.findings)
            answer["diff"] = b"".join(unified_diff(rewrite)).decode("utf-8", "replace")
    return answer
