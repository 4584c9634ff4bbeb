"""Rules of other packages, and fixtures that test them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fixture_files import FIXTURES
from guardfix.cli.main import cli
from guardfix.extensions import rules_of_plugin

RULE = '''"""MY001 sets-the-mode: `set_enabled` is called directly.

What it flags: a call.
"""

from collections.abc import Iterator

from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts
from guardfix.linter.findings import Finding
from guardfix.linter.guards import no_guards
from guardfix.linter.rule import Rule

RULE = Rule("MY001", "sets-the-mode", guards=no_guards, needles=(b"set_enabled",), url="https://example.org/my001")


@RULE.check_file
def calls(facts: Facts, project: Project) -> Iterator[Finding]:
    for call in facts.calls:
        if call.name == "set_enabled":
            yield RULE.at(facts, call.span, "use a guard")
'''
SETS = "void f() {\n  GradMode::set_enabled(true);\n}\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an installed package that has rules, and a tree that names it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/my_rules.py").write_text(RULE)
    (tmp_path / "site/broken_rules.py").write_text("raise ValueError('broken')\n")
    (tmp_path / "site/odd_rules.py").write_text("RULES = 3\n")
    (tmp_path / "site/misspelt_rules.py").write_text(RULE.replace("guards=", 'languages=("pyhton",), guards='))
    (tmp_path / "site/idle_rules.py").write_text(RULE.replace("@RULE.check_file\n", ""))
    info = tmp_path / "site/my_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[guardfix.rules]\nmy-rules = my_rules\nbroken = broken_rules\nodd = odd_rules:RULES\n"
        "misspelt = misspelt_rules\nidle = idle_rules\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / "a.cpp").write_text(SETS)
    (tree / "guardfix.toml").write_text('plugins = ["my-rules"]\n')
    monkeypatch.chdir(tree)
    rules_of_plugin.cache_clear()
    yield tree
    rules_of_plugin.cache_clear()
    sys.modules.pop("my_rules", None)


def guardfix(*command: str) -> Result:
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def test_its_rules_are_run_when_the_configuration_names_it(site: Path) -> None:
    (told,) = json.loads(guardfix("check", "--output-format", "json", ".").stdout)
    assert (told["code"], told["name"], told["message"]) == ("MY001", "sets-the-mode", "use a guard")
    assert told["url"] == "https://example.org/my001"
    assert guardfix("check", "--isolated", ".").exit_code == 0
    assert "my_rules" in sys.modules


def test_it_is_not_imported_otherwise(site: Path) -> None:
    (site / "guardfix.toml").write_text("")
    assert guardfix("check", ".").exit_code == 0
    assert "my_rules" not in sys.modules


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param(["--select", "MY001"], 1, id="by its code"),
        pytest.param(["--select", "MY"], 1, id="by its prefix"),
        pytest.param(["--select", "sets-the-mode"], 1, id="by its name"),
        pytest.param(["--ignore", "MY001"], 0, id="ignored"),
        pytest.param(["--select", "GF1"], 0, id="not selected"),
        pytest.param(["--config", "per-file-ignores = {'a.*' = ['MY001']}"], 0, id="ignored in the file"),
    ],
)
def test_it_is_selected_as_others(options: list[str], status: int, site: Path) -> None:
    assert guardfix("check", *options, ".").exit_code == status


def test_its_findings_are_suppressed_as_others(site: Path) -> None:
    (site / "a.cpp").write_text(SETS.replace("(true);", "(true);  // NOLINT(MY001)"))
    assert guardfix("check", ".").exit_code == 0


def test_sarif_has_its_help(site: Path) -> None:
    (rule,) = json.loads(guardfix("check", "--output-format", "sarif", ".").stdout)["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert rule["shortDescription"] == {"text": "`set_enabled` is called directly."}
    assert rule["helpUri"] == "https://example.org/my001"


def test_its_rules_are_listed_and_explained(site: Path) -> None:
    assert "MY001" in guardfix("rules").stdout
    assert "https://example.org/my001" in guardfix("explain", "MY001").stdout
    (site / "guardfix.toml").write_text("")
    assert "MY001" not in guardfix("rules").stdout
    assert guardfix("explain", "MY001").exit_code == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("none", "no installed package has the entry point `none` in `guardfix.rules`; there are: broken, idle, misspelt, my-rules, odd", id="not installed"),
        pytest.param("broken", "`broken` cannot be loaded: ValueError: broken", id="does not import"),
        pytest.param("misspelt", "`misspelt` has a rule, MY001, for the language `pyhton`; those that are read: cpp, embedded, docs, python", id="a language that nothing reads"),
        pytest.param("idle", "`idle` has a rule, MY001, without a check: nothing is decorated with `@RULE.check_file` or `@RULE.check_use`", id="no check"),
        pytest.param("odd", "`odd` gives a int, which is not a rule", id="no rule"),
    ],
)  # fmt: skip
def test_plugins_that_cannot_be_used(name: str, message: str, site: Path) -> None:
    (site / "guardfix.toml").write_text(f'plugins = ["{name}"]\n')
    done = guardfix("check", ".")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        pytest.param(SETS.replace(");", ");  // MY001"), 0, "1 fixture: all as expected.\n", id="as it says"),
        pytest.param(SETS, 1, "a.cpp:2: MY001 found and not expected\n1 fixture: 1 mistake.\n", id="found"),
        pytest.param("int a;  // MY001\n", 1, "a.cpp:1: MY001 expected and not found\n1 fixture: 1 mistake.\n", id="not found"),
        pytest.param("int a;  // XX001\n", 0, "1 fixture: all as expected.\n", id="a rule that isn't run"),
        pytest.param("int a;  // see MY001 for why\n", 0, "1 fixture: all as expected.\n", id="prose"),
    ],
)  # fmt: skip
def test_test_rules(text: str, status: int, said: str, site: Path) -> None:
    (site / "a.cpp").write_text(text)
    done = guardfix("test-rules", ".")
    assert (done.exit_code, done.stdout) == (status, said)


def test_test_rules_compares_what_fixes_make(site: Path) -> None:
    name = "inference_load_and_run"
    for kind in ("", ".migrated"):
        (site / f"b{kind}.cpp").write_text((FIXTURES / f"cpp/{name}{kind}.cpp").read_text())
    (site / "a.cpp").unlink()
    assert guardfix("test-rules", ".").stdout == "1 fixture: all as expected.\n"
    (site / "b.migrated.cpp").write_text("int other;\n")
    done = guardfix("test-rules", ".")
    assert done.exit_code == 1
    assert "b.migrated.cpp:1: the safe fixes make another text" in done.stdout


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param('exclude = ["fixtures/"]', id="excluded"),
        pytest.param('extend-exclude = ["fixtures/"]', id="also excluded"),
        pytest.param('include = ["src/**"]', id="not included"),
    ],
)
def test_test_rules_takes_what_a_check_of_the_project_leaves_out(setting: str, site: Path) -> None:
    (site / "fixtures").mkdir()
    (site / "a.cpp").rename(site / "fixtures/a.cpp")
    (site / "guardfix.toml").write_text(f'plugins = ["my-rules"]\n{setting}\n')
    assert guardfix("check", ".").exit_code == 0
    done = guardfix("test-rules", "fixtures")
    assert done.stdout == "fixtures/a.cpp:2: MY001 found and not expected\n1 fixture: 1 mistake.\n"
    assert guardfix("test-rules", "--exclude", "a.cpp", "fixtures").exit_code == 2


def test_test_rules_without_fixtures(tmp_path: Path) -> None:
    assert guardfix("test-rules", "--isolated", str(tmp_path)).exit_code == 2


SETTINGS = 'plugins = ["my-rules"]\nextend-select = ["MY001"]\nignore = ["MY001x"]\n'.replace("MY001x", "GF102")


@pytest.mark.parametrize(
    ("where", "arguments", "found"),
    [
        pytest.param(".", ["check", "."], True, id="of the working folder"),
        pytest.param(".", ["check", "sub"], True, id="for a folder below it"),
        pytest.param("sub", ["check", "."], False, id="of a folder below"),
        pytest.param("sub", ["check", "sub/a.cpp"], False, id="of a file's own folder"),
        pytest.param("sub", ["migrate", "sub"], False, id="migrate"),
        pytest.param("sub", ["config", "--show-settings", "sub/a.cpp"], False, id="what is in force for a file"),
        pytest.param(
            ".", ["config", "--show-settings", "sub/a.cpp"], True, id="what is in force, by the working folder"
        ),
        pytest.param("sub", ["status", "."], False, id="status"),
        pytest.param("sub", ["verify", "sub"], False, id="verify"),
        pytest.param("sub", ["check", "--config", "sub/guardfix.toml", "sub"], True, id="named on the command line"),
        pytest.param(".", ["check", "--no-plugins", "."], False, id="--no-plugins"),
    ],
)
def test_whose_plugins_are_loaded(
    site: Path, monkeypatch: pytest.MonkeyPatch, where: str, arguments: list[str], found: bool
) -> None:
    """A folder that is checked may be somebody else's: its configuration names no code that is run."""
    tree = site / "tree" if (site / "tree").is_dir() else site
    for old in tree.rglob("*.toml"):
        old.unlink()
    (tree / "sub").mkdir(exist_ok=True)
    (tree / "sub" / "a.cpp").write_text(SETS)
    (tree / where / "guardfix.toml").write_text(SETTINGS)
    monkeypatch.chdir(tree)
    loaded: list[str] = []
    monkeypatch.setattr(
        "guardfix.extensions.rules_of_plugin", lambda name: loaded.append(name) or rules_of_plugin(name)
    )
    outcome = CliRunner().invoke(cli, arguments)
    assert "no rule is called" not in outcome.output
    assert bool(loaded) is found, outcome.output
    assert ("MY001" in outcome.output) is (found and arguments[0] in ("check", "config"))


def test_the_library_loads_only_those_of_the_working_folder(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guardfix.api import options_for

    tree = site / "tree" if (site / "tree").is_dir() else site
    (tree / "sub").mkdir(exist_ok=True)
    (tree / "sub" / "guardfix.toml").write_text(SETTINGS)
    monkeypatch.chdir(tree)
    assert options_for("sub").rules == ()
    monkeypatch.chdir(tree / "sub")
    assert [rule.code for rule in options_for(".").rules] == ["MY001"]
    monkeypatch.setenv("GUARDFIX_NO_PLUGINS", "1")
    with pytest.raises(Exception, match="MY001"):
        options_for(".").chosen()
