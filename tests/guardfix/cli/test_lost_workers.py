"""A run that lost processes ends with status 2, whatever it was asked to do."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from guardfix.cli import checking, command_run, interactive_choices, migrate_command
from guardfix.cli.main import cli

OLD = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "--exit-zero"],
        ["check", "--add-noqa"],
        ["check", "--diff"],
        ["check", "--fix-only"],
        ["migrate"],
        ["migrate", "--apply"],
        ["migrate", "--interactive"],
    ],
    ids=" ".join,
)
def test_the_status_is_2(
    arguments: list[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path_factory.mktemp("tree")
    (tree / "a.cpp").write_text(OLD)
    monkeypatch.chdir(tree)
    monkeypatch.setattr(interactive_choices, "need_terminal", lambda: None)
    whole = CliRunner().invoke(cli, [*arguments, "."], input="q")
    assert whole.exit_code in (0, 1)
    (tree / "a.cpp").write_text(OLD)
    found = command_run.check_with

    def check_with(*given: object) -> object:
        report = found(*given)  # type: ignore[arg-type]
        report.lost = ["killed by SIGKILL"]
        return report

    for module in (checking, migrate_command):
        monkeypatch.setattr(module, "check_with", check_with)
    done = CliRunner().invoke(cli, [*arguments, "."], input="q")
    assert done.exit_code == 2
    assert "killed by SIGKILL" in done.stderr
