"""Configuration: which file counts for which source, what it adds to, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft7Validator

from fixture_files import ROOT
from guardfix import configuration
from guardfix.cli.check_command import command as check_command
from guardfix.cli.main import cli
from guardfix.settings_schema import schema_file_text, settings_schema
from guardfix.settings_table import BY_KEY, SETTINGS

OLD = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g(false);\n  a.set_(a);\n}\n"
"""GF101, and GF102 for the argument."""
PYTHON = "import torch\n\n\n@torch.no_grad\ndef f(x):\n    return x\n"
"""GF403 by default, GF505 with an old minimum."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    lay(tmp_path, {"a.cpp": OLD, "sub/b.cpp": OLD, "sub/deep/c.cpp": OLD})
    return tmp_path


def lay(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def guardfix(*command: str, **env: str) -> Result:
    return CliRunner().invoke(cli, command, env=env, catch_exceptions=False)


def found(*command: str, **env: str) -> dict[str, list[str]]:
    """The codes by file."""
    done = guardfix("check", "--output-format", "json-lines", *command, **env)
    assert done.exit_code in (0, 1), done.output
    codes: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        told = json.loads(line)
        codes.setdefault(told["filename"], []).append(told["code"])
    return codes


BOTH, ONE, OTHER = ["GF101", "GF102"], ["GF101"], ["GF102"]
EVERYWHERE = {"a.cpp": BOTH, "sub/b.cpp": BOTH, "sub/deep/c.cpp": BOTH}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, EVERYWHERE, id="no configuration"),
        pytest.param(
            {"sub/guardfix.toml": 'ignore = ["GF102"]'},
            {**EVERYWHERE, "sub/b.cpp": ONE, "sub/deep/c.cpp": ONE},
            id="below, for what is below it",
        ),
        pytest.param(
            {"guardfix.toml": 'ignore = ["GF102"]', "sub/guardfix.toml": ""},
            {"a.cpp": ONE, "sub/b.cpp": BOTH, "sub/deep/c.cpp": BOTH},
            id="the nearest alone counts",
        ),
        pytest.param(
            {"guardfix.toml": 'ignore = ["GF102"]', "sub/pyproject.toml": "[project]\nname = 'x'\n"},
            {"a.cpp": ONE, "sub/b.cpp": ONE, "sub/deep/c.cpp": ONE},
            id="a pyproject without a word about guardfix is none",
        ),
        pytest.param(
            {"guardfix.toml": 'ignore = ["GF102"]', "sub/pyproject.toml": "[tool.guardfix]\nignore = ['GF101']\n"},
            {"a.cpp": ONE, "sub/b.cpp": OTHER, "sub/deep/c.cpp": OTHER},
            id="a pyproject with one",
        ),
        *(
            pytest.param(
                {"guardfix.toml": 'ignore = ["GF102"]', "sub/pyproject.toml": table},
                {"a.cpp": ONE, "sub/b.cpp": OTHER, "sub/deep/c.cpp": OTHER},
                id=f"the same table as {table.splitlines()[-1]}",
            )
            for table in (
                "[tool]\nguardfix = {ignore = ['GF101']}",
                "[tool]\nguardfix.ignore = ['GF101']",
                "tool.guardfix.ignore = ['GF101']",
                "tool = {guardfix = {ignore = ['GF101']}}",
                "[ tool . 'guardfix' ]\nignore = ['GF101']",
            )
        ),
        *(
            pytest.param(
                {"guardfix.toml": 'ignore = ["GF102"]', "sub/pyproject.toml": table},
                {"a.cpp": ONE, "sub/b.cpp": ONE, "sub/deep/c.cpp": ONE},
                id=f"another table: {table.splitlines()[-1]}",
            )
            for table in (
                "[dependency-groups]\nguardfix = ['guardfix']",
                "[project]\ndependencies = [\n  'guardfix==1.0',\n]\n[tool.other]\nguardfix = {ignore = ['GF101']}",
            )
        ),
        pytest.param(
            {"guardfix.toml": 'ignore = ["GF102"]', "sub/guardfix.toml": 'extend = "../guardfix.toml"'},
            {"a.cpp": ONE, "sub/b.cpp": ONE, "sub/deep/c.cpp": ONE},
            id="extend",
        ),
        pytest.param(
            {
                "base/guardfix.toml": 'ignore = ["GF102"]\nexclude = ["/deep"]',
                "sub/guardfix.toml": 'extend = "../base/guardfix.toml"\nextend-ignore = ["GF101"]',
            },
            {"a.cpp": BOTH},
            id="what it extends is added to; its patterns start from its own folder",
        ),
        pytest.param(
            {"guardfix.toml": 'select = ["GF102"]', "sub/guardfix.toml": 'extend = "../guardfix.toml"\nselect = ["GF101"]'},
            {"a.cpp": OTHER, "sub/b.cpp": ONE, "sub/deep/c.cpp": ONE},
            id="select takes the place of what it extends",
        ),
        pytest.param(
            {"guardfix.toml": 'select = ["GF102"]\nextend-select = ["GF101"]'}, EVERYWHERE, id="extend-select adds"
        ),
        pytest.param({"guardfix.toml": 'select = ["GF2"]', "sub/guardfix.toml": 'select = ["GF102"]'},
            {"sub/b.cpp": OTHER, "sub/deep/c.cpp": OTHER}, id="more rules further down than at the top"),
        pytest.param({"guardfix.toml": 'include = ["sub/*.cpp"]'}, {"sub/b.cpp": BOTH}, id="include"),
        pytest.param({"guardfix.toml": 'include = ["sub/"]\nexclude = ["deep/"]'}, {"sub/b.cpp": BOTH}, id="a folder included"),
        pytest.param({"sub/guardfix.toml": 'exclude = ["/b.cpp"]'},
            {"a.cpp": BOTH, "sub/deep/c.cpp": BOTH}, id="patterns start from the file's folder"),
        pytest.param({"guardfix.toml": 'exclude = ["sub/"]', "sub/guardfix.toml": ""}, {"a.cpp": BOTH}, id="an excluded folder is not entered"),
        pytest.param({"sub/guardfix.toml": '[per-file-ignores]\n"/deep/**" = ["GF101"]\n[extend-per-file-ignores]\n"b.*" = ["GF102"]'},
            {"a.cpp": BOTH, "sub/b.cpp": ONE, "sub/deep/c.cpp": OTHER}, id="per-file-ignores"),
        pytest.param({"my.toml": "", "sub/.guardfix.toml": 'ignore = ["GF1"]'}, {"a.cpp": BOTH}, id="a hidden file"),
    ],
)  # fmt: skip
def test_which_configuration_counts(files: Mapping[str, str], expected: dict[str, list[str]], tree: Path) -> None:
    lay(tree, files)
    assert found(".") == expected


def test_a_named_file_has_its_own(tree: Path) -> None:
    lay(tree, {"sub/guardfix.toml": 'ignore = ["GF102"]'})
    assert found("sub/b.cpp", "a.cpp") == {"a.cpp": BOTH, "sub/b.cpp": ONE}


def test_the_library_takes_the_nearest_too(tree: Path) -> None:
    import guardfix as library

    lay(tree, {"sub/guardfix.toml": 'ignore = ["GF102"]', "guardfix.toml": ""})
    report = library.check(["."])
    assert sorted({(f.path, f.code) for f in report.findings if f.code == "GF102"}) == [("a.cpp", "GF102")]


def test_minimum_torch_is_that_of_the_file(tree: Path) -> None:
    lay(tree, {"new/p.py": PYTHON, "old/p.py": PYTHON, "old/guardfix.toml": 'minimum-torch = "1.13"'})
    assert found("--select", "GF505", ".") == {"old/p.py": ["GF505"]}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(["--config", "my.toml"], OTHER, id="a file"),
        pytest.param(["--config", "select = ['GF102']"], OTHER, id="a setting"),
        pytest.param(
            ["--config", "select = ['GF102']", "--config", "extend-select = ['GF101']"], BOTH, id="two settings"
        ),
        pytest.param(["--config", "my.toml", "--config", "ignore = ['GF102']"], [], id="a file and a setting"),
        pytest.param(["--config", "my.toml", "--select", "GF101"], ONE, id="options win"),
        pytest.param(["--config", "my.toml", "--extend-select", "GF101"], BOTH, id="options that add"),
        pytest.param(["--config", "my.toml", "--ignore", "GF1"], [], id="an option takes away, however short"),
        pytest.param(["--isolated"], BOTH, id="no file at all"),
        pytest.param(["--isolated", "--config", "ignore = ['GF102']"], ONE, id="no file, but a setting"),
    ],
)
def test_options(command: list[str], expected: list[str], tree: Path) -> None:
    lay(tree, {"my.toml": "[tool.guardfix]\nselect = ['GF102']", "guardfix.toml": "ignore = ['GF1']"})
    if command[0] == "--config" and command[1] != "my.toml":
        (tree / "guardfix.toml").unlink()
    assert found(*command, "a.cpp").get("a.cpp", []) == expected


def test_exclude_replaces_and_extend_exclude_adds(tree: Path) -> None:
    lay(tree, {"guardfix.toml": 'exclude = ["a.cpp"]'})
    assert set(found("--exclude", "deep/", ".")) == {"a.cpp", "sub/b.cpp"}
    assert set(found("--extend-exclude", "deep/", ".")) == {"sub/b.cpp"}


def test_the_environment_names_a_file(tree: Path) -> None:
    lay(tree, {"my.toml": "select = ['GF102']"})
    assert found("a.cpp", GUARDFIX_CONFIG="my.toml") == {"a.cpp": OTHER}


@pytest.mark.parametrize(
    ("files", "command", "message"),
    [
        pytest.param({"guardfix.toml": 'extend = "no.toml"'}, [], "`extend` names", id="nothing to extend"),
        pytest.param({"guardfix.toml": 'extend = "b.toml"', "b.toml": 'extend = "guardfix.toml"'}, [], "`extend` comes back to", id="a circle"),
        pytest.param({"sub/guardfix.toml": "selct = []"}, [], "sub/guardfix.toml: unknown setting `selct`; did you mean `select`?", id="a file further down"),
        pytest.param({}, ["--config", "selct = []"], "--config: unknown setting `selct`; did you mean `select`?", id="a setting on the line"),
        pytest.param({}, ["--config", "select ="], "neither a file nor valid TOML", id="no TOML on the line"),
        pytest.param({"a.toml": "", "b.toml": ""}, ["--config", "a.toml", "--config", "b.toml"], "--config takes one file, but 2 were given", id="two files"),
        pytest.param({"a.toml": ""}, ["--config", "a.toml", "--isolated"], "can't be combined", id="a file and none"),
        pytest.param({"guardfix.toml": 'per_file_ignores = {}'}, [], "did you mean `per-file-ignores`", id="underscores"),
        pytest.param({"guardfix.toml": 'executor = "dask"'}, [], "unknown setting `executor`; that is an option of the command line only: `guardfix check --executor`", id="an option that is no setting"),
        pytest.param({"guardfix.toml": 'guards = [{ name = "x" }]'}, [], "`guards` must be a list of tables", id="half a guard"),
    ],
)  # fmt: skip
def test_mistakes(files: Mapping[str, str], command: list[str], message: str, tree: Path) -> None:
    lay(tree, files)
    done = guardfix("check", *command, ".")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


# guardfix config


def test_show_settings_says_where_each_comes_from(tree: Path) -> None:
    lay(
        tree,
        {
            "guardfix.toml": 'ignore = ["GF2"]\n',
            "sub/guardfix.toml": 'extend = "../guardfix.toml"\nextend-ignore = ["GF3"]\n',
        },
    )
    lines = guardfix("config", "--show-settings", "sub/b.cpp", "--config", "force-exclude = true").stdout.splitlines()
    assert lines[0] == f"# sub/b.cpp: {tree}/sub/guardfix.toml"
    assert f'ignore = ["GF2"]  # {tree}/guardfix.toml' in lines
    assert f'extend-ignore = ["GF3"]  # {tree}/sub/guardfix.toml' in lines
    assert "force-exclude = true  # --config" in lines
    assert "respect-gitignore = true" in lines
    assert lines[-1].startswith("# rules: GF001, GF101, ")
    assert "GF201" not in lines[-1]
    assert "GF301" not in lines[-1]


def test_show_files_lists_what_would_be_checked(tree: Path) -> None:
    lay(tree, {"guardfix.toml": 'exclude = ["deep/"]\n', "sub/x.py": "", "notes.txt": "", ".gitignore": "a.cpp\n"})
    assert guardfix("config", "--show-files", ".").stdout.split() == ["sub/b.cpp", "sub/x.py"]


def test_settings_are_described() -> None:
    assert guardfix("config").stdout.count("\n") == len(SETTINGS)
    assert guardfix("config", "minimum-torch").stdout == (
        'The oldest version of torch that the code supports; used by GF505.\n\nDefault: ""\nExample: minimum-torch = "1.13"\n'
    )
    assert "did you mean `select`" in guardfix("config", "selct").stderr


# The schema


def test_the_schema_file_is_current() -> None:
    path = ROOT / "guardfix/schemas/settings.schema.json"
    assert path.read_text(encoding="utf-8") == schema_file_text(), "run `make generate`"


def test_every_example_has_the_shape_of_the_schema() -> None:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = "\n".join(f"{setting.key} = {setting.example}" for setting in SETTINGS)
    assert [*Draft7Validator(settings_schema()).iter_errors(tomllib.loads(text))] == []
    from guardfix.configuration import checked

    assert set(checked(tomllib.loads(text), "")) == {setting.key for setting in SETTINGS}


@pytest.mark.parametrize(
    "value",
    [{"selct": []}, {"select": []}, {"select": "GF1"}, {"minimum-torch": "new"}, {"guards": [{"name": "x"}]}],
    ids=str,
)
def test_the_schema_refuses_what_the_reader_refuses(value: object) -> None:
    from guardfix.configuration import BadConfiguration, checked

    assert [*Draft7Validator(settings_schema()).iter_errors(value)] != []
    with pytest.raises(BadConfiguration):
        checked(value, "")  # type: ignore[arg-type]


def test_the_documentation_lists_every_setting() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    for setting in SETTINGS:
        assert f"| `{setting.key}` | {setting.summary}" in page


def test_options_that_are_no_settings_are_options() -> None:
    options = {name.removeprefix("--") for option in check_command.params for name in option.opts}
    assert options >= configuration._OPTIONS_ALONE
    assert not configuration._OPTIONS_ALONE & BY_KEY.keys()


def test_the_page_says_which_settings_hold_for_the_whole_run() -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    (paragraph,) = (
        part for part in page.split("\n\n") if "apply to the" in part and "whole run" in " ".join(part.split())
    )
    assert set(re.findall(r"`([\w-]+)`", paragraph)) == {setting.key for setting in SETTINGS if setting.whole_run}
