"""docs/verify.md shows what verify prints."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from fixture_files import ROOT
from guardfix.cli.verify_command import command

PAGE = (ROOT / "docs" / "verify.md").read_text()
EXAMPLES = re.findall(r"<!-- guardfix verify (.*?) -->\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    ("arguments", "shown"), EXAMPLES, ids=[" ".join(arguments.split()[:2]) for arguments, _ in EXAMPLES]
)
@pytest.mark.some(4)
def test_example(arguments: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(command, [*shlex.split(arguments), "--isolated", "--quiet"])
    assert done.stdout == shown


def test_each_verdict_is_shown() -> None:
    headlines = [shown.splitlines()[0].split(": ")[1] for _, shown in EXAMPLES]
    assert list(dict.fromkeys(headlines)) == [
        "repaired",
        "same",
        "stricter",
        "changed",
        "nothing to verify",
        "unsupported",
        "not reached",
    ]
