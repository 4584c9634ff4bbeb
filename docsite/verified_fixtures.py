"""What `guardfix verify` says of a fixture and of what the fixes make of it, as a rule's page shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from guardfix.output.trace_excerpt import trace_excerpt
from guardfix.output.verdict_text import result_reasons
from guardfix.verify.judging.verdicts import VerificationFailed
from guardfix.verify.program_copies import Settings
from guardfix.verify.verifying import verify_against

_MAIN = re.compile(r"\bint\s+main\s*\(")
_SIGNS = {"same": "", "marks": "≈", "parted": "≠"}


def is_program(path: Path) -> bool:
    """Whether the fixture can be run: each Python one can."""
    return path.suffix == ".py" or bool(_MAIN.search(path.read_text(encoding="utf-8")))


def verified_fixture(before: Path, after: Path) -> str:
    """A section in Markdown; empty where nothing of it can be run."""
    if not is_program(before):
        return ""
    try:
        result = verify_against(before, after, Settings())
    except (VerificationFailed, OSError):
        return ""
    if not result.judgement.verdict.is_proof:
        return ""
    reasons = " ".join(line for line in result_reasons(result) if not line.startswith("What to do"))
    parts = [
        "## What verify shows",
        "Both files, run on the [shim](../shim.md) when this page was built: "
        f"**{result.judgement.verdict}** ([what that means](../verify.md)).",
        _without_tags(reasons),
    ]
    rows = [row for row in trace_excerpt(result) if row["before"] or row["after"]]
    if rows:
        parts.append("\n".join(["| step | before | after |", "|---|---|---|", *map(_row, rows)]))
    return "\n\n".join(parts)


def _row(row: dict[str, Any]) -> str:
    sides = (_side(row[side]) for side in ("before", "after"))
    return f"| {row['step']} {_SIGNS[row['agreement']]} | {' | '.join(sides)} |"


def _side(step: dict[str, Any] | None) -> str:
    if step is None:
        return "*no such step*"
    inside = " in ".join(f"`{guard}`" for guard in reversed(step["guards"]))
    return _without_tags(step["message"]).replace("|", "\\|") + (f", in {inside}" if inside else "")


def _without_tags(text: str) -> str:
    return text.replace("<", "&lt;").replace("[", "\\[")
