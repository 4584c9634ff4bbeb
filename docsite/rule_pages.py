"""One page for each rule: its documentation, and a fixture before and after its fix."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path

from guardfix.linter.rule import Rule, load_rule
from guardfix.linter.rule_names import rule_names
from guardfix.pytorch_messages.message_table import known_messages

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
_PARTS = re.compile(
    r"^(What it flags|Why it is bad|Example|Use instead|Fix|Not flagged|Limits|When not to use it|Seen in public code|"
    r"References):\s*(\w?)",
    re.MULTILINE,
)
_LONGEST = 45
"""Lines of a fixture that is shown."""


def rules() -> list[Rule]:
    """All rules, by code."""
    return [load_rule(name) for name in rule_names()]


def page_name(rule: Rule) -> str:
    return f"rules/{rule.code.lower()}-{rule.name}.md"


def rule_page(rule: Rule, run: Callable[[Path, Path], str] | None = None) -> str:
    """The page, in Markdown. `run` says what comes of running the fixture before and after its fixes."""
    title, _, rest = rule.documentation.partition("\n")
    summary = title.partition(": ")[2]
    facts = [
        f"**{rule.severity}**",
        rule.group or "",
        rule.fix_text,
        "on by default" if rule.default else "off by default",
        f"since {rule.since}",
        ", ".join({"cpp": "C++", "python": "Python"}.get(one, one) for one in rule.languages),
    ]
    language = "python" if rule.languages == ("python",) else "cpp"
    body = _PARTS.sub(lambda found: f"## {found[1]}\n\n{found[2].upper()}", _fenced(rest, language))
    parts = [f"# {rule.code} {rule.name}", f"{summary[:1].upper()}{summary[1:]}", " · ".join(facts), body.strip()]
    messages = [message for message in known_messages().values() if rule.code in message.rules]
    if messages:
        links = "\n".join(f"- [{message.title}](../errors.md#{message.key})" for message in messages)
        parts.append(f"## What PyTorch says\n\n{links}")
    pair = fixture_pair(rule)
    if pair is not None:
        parts.append(_fixture(*pair))
        parts += filter(None, [run(*pair)] if run is not None else [])
    parts.append(f"Silence it with `// NOLINT({rule.code})` in C++, `# noqa: {rule.code}` in Python.")
    return "\n\n".join(parts) + "\n"


def _fenced(text: str, language: str) -> str:
    """Indented code as fenced code, which is highlighted."""
    lines: list[str] = []
    code: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("    ") or (code and not line.strip() and code[-1].strip()):
            code.append(line[4:])
            continue
        if code:
            kept = "\n".join(code).rstrip("\n")
            kind = "console" if kept.startswith("$ ") else language
            lines += [f"```{kind}", kept, "```", ""]
            code = []
        lines.append(line)
    return "\n".join(lines)


def fixture_pair(rule: Rule) -> tuple[Path, Path] | None:
    """The smallest fixture in which the rule alone has findings, and the file with what the fixes make of it."""
    found: list[tuple[int, Path, Path]] = []
    for path in sorted(FIXTURES.glob("*/*")):
        text = _read(path)
        codes = set(re.findall(r"(?://|#|/\*)\s*(GF\d{3})", text))
        for kind in ("migrated", "unsafe"):
            after = path.with_name(f"{path.stem}.{kind}{path.suffix}")
            if codes == {rule.code} and after.is_file():
                found.append((text.count("\n"), path, after))
                break
    if not found or min(found)[0] > _LONGEST:
        return None
    return min(found)[1:]


def _fixture(before: Path, after: Path) -> str:
    old, new = _read(before).splitlines(), _read(after).splitlines()
    diff = list(difflib.unified_diff(old, new, before.name, after.name, lineterm="", n=3))
    how = "`guardfix migrate --apply --unsafe`" if ".unsafe." in after.name else "`guardfix migrate --apply`"
    kind = "python" if before.suffix == ".py" else "cpp"
    return "\n".join(
        [
            "## In a whole file",
            "",
            "One of the fixtures that guardfix is tested with; a comment behind a line says what is found there.",
            "",
            f"```{kind}",
            *old,
            "```",
            "",
            f"What {how} changes:",
            "",
            "```diff",
            *diff[2:],
            "```",
        ]
    )


def _read(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def index_page() -> str:
    """All rules in one table."""
    rows = ["# Rules", "", "| code | name | group | what it finds | fix | default |", "|---|---|---|---|---|---|"]
    for rule in rules():
        link = page_name(rule).removeprefix("rules/")
        state = "on" if rule.default else "off"
        cells = (f"[{rule.code}]({link})", rule.name, rule.group, rule.summary, rule.fix_text, state)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"
