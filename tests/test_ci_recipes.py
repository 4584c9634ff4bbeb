"""docs/ci.md: each recipe is run, as far as it can be without the service that it is for."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema.cli.main_command import main as check_jsonschema
from click.testing import CliRunner

from fixture_files import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, SETUPTOOLS = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]
BIN = Path(sys.executable).parent
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
OLD = (ROOT / "fixtures/cpp/inference_load_and_run.cpp").read_text(encoding="utf-8")
NEW = (ROOT / "fixtures/cpp/inference_load_and_run.migrated.cpp").read_text(encoding="utf-8")


def recipe(heading: str) -> str:
    """The code block below a heading."""
    found = re.search(rf"^## {re.escape(heading)}\n.*?^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.cpp").write_text(OLD)
    (tmp_path / "src/clean.cpp").write_text("int a;\n")
    for command in ("init --quiet --initial-branch=main", "add --all", "commit --quiet --message one"):
        git(*command.split(), cwd=tmp_path)
    return tmp_path


def git(*arguments: str, cwd: Path) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def run(command: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A command of a shell that finds this guardfix; what installs one is passed over."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


# Schemas of the services, as check-jsonschema ships them


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        pytest.param("vendor.github-workflows", recipe("GitHub Actions"), id="GitHub"),
        pytest.param("vendor.gitlab-ci", recipe("GitLab"), id="GitLab"),
        pytest.param("vendor.azure-pipelines", recipe("Azure Pipelines"), id="Azure"),
        pytest.param("vendor.github-actions", (ROOT / "action.yml").read_text(), id="the action"),
        pytest.param("vendor.github-workflows", (ROOT / ".github/workflows/release.yml").read_text(), id="releases"),
        pytest.param("vendor.github-workflows", (ROOT / ".github/workflows/ci.yml").read_text(), id="our own CI"),
        pytest.param("vendor.github-workflows", (ROOT / ".github/workflows/links.yml").read_text(), id="links"),
        pytest.param("vendor.citation-file-format", (ROOT / "CITATION.cff").read_text(), id="citation"),
    ],
)
def test_files_of_services_have_the_shape_of_their_schemas(schema: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yml"
    path.write_text(text)
    done = CliRunner().invoke(check_jsonschema, ["--builtin-schema", schema, str(path)])
    assert done.exit_code == 0, done.output


def test_the_hooks_of_the_page_are_the_hooks_there_are() -> None:
    (repository,) = yaml.safe_load(recipe("pre-commit"))["repos"]
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {hook["id"] for hook in repository["hooks"]} <= known
    version = (ROOT / "guardfix/package_version.py").read_text()
    assert f'"{repository["rev"].removeprefix("v")}"' in version
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == repository["rev"].removeprefix("v")


# GitHub


def steps() -> dict[str, Any]:
    return {step["name"]: step for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}


def check_step(tree: Path, paths: str, arguments: str = "") -> subprocess.CompletedProcess[str]:
    env = {"INPUT_PATHS": paths, "INPUT_ARGUMENTS": arguments, "RUNNER_TEMP": str(tree.parent)}
    return run(steps()["Check"]["run"], tree, **env, GITHUB_OUTPUT=str(tree / "output"), CI="true")


def test_the_action_annotates_and_writes_sarif(tree: Path) -> None:
    done = check_step(tree, "src")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"::warning title=guardfix (GF101),file={tree}/src/a.cpp,line=")
    name, _, path = (tree / "output").read_text().strip().partition("=")
    assert name == "sarif-file"
    assert json.loads(Path(path).read_text())["runs"][0]["results"][0]["ruleId"] == "GF101"
    assert check_step(tree, "src", "--since HEAD").returncode == 0
    assert check_step(tree, "src/clean.cpp").returncode == 0
    assert check_step(tree, "src/clean.cpp\nsrc/a.cpp\n").returncode == 1


def test_the_action_installs_itself_and_passes_its_inputs() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert '"$GITHUB_ACTION_PATH"' in steps()["Install guardfix"]["run"]
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(action["inputs"])
    (step,) = (
        one
        for one in yaml.safe_load(recipe("GitHub Actions"))["jobs"]["guardfix"]["steps"]
        if "guardfix/" in one["uses"]
    )
    assert set(step["with"]) <= set(action["inputs"])


@pytest.mark.thorough
def test_the_install_step_of_the_action(tmp_path: Path) -> None:
    env = {"RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_PATH": str(tmp_path / "path")}
    done = run(steps()["Install guardfix"]["run"], tmp_path, **env)
    assert done.returncode == 0, done.stderr
    program = Path((tmp_path / "path").read_text().strip()) / "guardfix"
    assert subprocess.run([str(program), "--version"], check=True, capture_output=True).stdout.startswith(b"guardfix")


# The others


def test_gitlab(tree: Path) -> None:
    job = yaml.safe_load(recipe("GitLab"))["guardfix"]
    (command,) = (line for line in job["script"] if line.startswith("guardfix"))
    assert run(command, tree, CI_PROJECT_DIR=str(tree)).returncode == 1
    (issue,) = json.loads((tree / job["artifacts"]["reports"]["codequality"]).read_text())
    assert issue["location"]["path"] == "src/a.cpp"


@pytest.mark.thorough
def test_jenkins(tree: Path) -> None:
    commands = re.findall(r"sh '(.*?)'", recipe("Jenkins"))
    (check,) = (command for command in commands if "guardfix check" in command)
    assert run(check.replace(".guardfix/bin/", ""), tree).returncode == 0
    (report,) = re.findall(r"pattern: '(.*?)'", recipe("Jenkins"))
    assert 'source="guardfix.GF101"' in (tree / report).read_text()


@pytest.mark.thorough
def test_azure(tree: Path) -> None:
    scripts = [step["script"] for step in yaml.safe_load(recipe("Azure Pipelines"))["steps"] if "script" in step]
    done = run(scripts[-1], tree)
    assert (done.returncode, done.stdout.startswith("##vso[task.logissue type=warning;")) == (1, True)


LINTRUNNER = BIN / "lintrunner"


def lintrunner(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(shlex.join([str(LINTRUNNER), "--data-path", str(tree / ".data"), *arguments]), tree)


@pytest.mark.thorough
@pytest.mark.skipif(not LINTRUNNER.exists(), reason="lintrunner has no wheel for this system")
def test_lintrunner_shows_and_applies(tree: Path) -> None:
    (tree / ".lintrunner.toml").write_text(recipe("lintrunner"))
    assert tomllib.loads(recipe("lintrunner"))["linter"][0]["code"] == "GUARDFIX"
    git("add", "--all", cwd=tree)
    git("commit", "--quiet", "--message", "lint", cwd=tree)
    git("branch", "origin/main", cwd=tree)
    # The file is changed, and lintrunner looks at what is changed.
    (tree / "src/a.cpp").write_text(OLD + "\n")
    shown = lintrunner(tree)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "Warning (GUARDFIX) GF101 legacy-guard" in shown.stdout
    lintrunner(tree, "-a")
    assert (tree / "src/a.cpp").read_text() == NEW + "\n"
    again = lintrunner(tree)
    assert (again.returncode, "ok No lint issues." in again.stdout) == (0, True)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake(tree: Path) -> None:
    (tree / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.10)\nproject(p NONE)\n{recipe('CMake')}")
    assert run("cmake -B ../build . && cmake --build ../build --target guardfix", tree).returncode != 0
    (tree / "src/a.cpp").write_text(NEW)
    done = run("cmake --build ../build --target guardfix", tree)
    assert (done.returncode, "All checks passed" in done.stdout) == (0, True)


@pytest.mark.thorough
def test_reviewdog_is_given_what_it_reads(tree: Path) -> None:
    command = recipe("reviewdog").partition("|")[0]
    told = json.loads(run(command, tree).stdout)
    assert told["diagnostics"][0]["location"]["path"] == "src/a.cpp"


def test_docker_runs_what_the_package_installs() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    instructions = [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]
    (entry,) = (json.loads(value) for name, value in instructions if name == "ENTRYPOINT")
    assert entry[0] in PROJECT["scripts"]
    images = [value.split()[0] for name, value in instructions if name == "FROM"]
    (image,) = {*images}
    assert (
        f"Programming Language :: Python :: {image.removeprefix('python:').removesuffix('-slim')}"
        in PROJECT["classifiers"]
    )
    assert [value for name, value in instructions if name == "USER"] == ["guardfix"], "it isn't root"
    tag = re.search(r"guardfix\.git#(\S+)", recipe("Docker"))
    assert tag is not None
    assert tag[1] == yaml.safe_load(recipe("pre-commit"))["repos"][0]["rev"]


def test_docker_s_context_has_what_the_build_reads() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    folders = {folder.split("/")[0] for folder in SETUPTOOLS["package-dir"].values()}
    assert kept == {
        "guardfix",
        *folders,
        "pyproject.toml",
        "MANIFEST.in",
        "setup.py",
        PROJECT["readme"],
        *PROJECT["license-files"],
    }


@pytest.mark.thorough
def test_docker_is_given_a_diff(tree: Path) -> None:
    (tree / "src/new.cpp").write_text(OLD)
    git("add", "--all", cwd=tree)
    git("branch", "origin/main", cwd=tree)
    command = re.search(r"^(git diff .*?)docker run.*? guardfix (.*)$", PAGE, re.MULTILINE)
    assert command is not None
    done = run(f"{command[1]}guardfix {command[2]}", tree)
    assert (done.returncode, "src/new.cpp:" in done.stdout, "src/a.cpp:" in done.stdout) == (1, True, False), (
        done.stderr
    )


# @FILE


@pytest.mark.parametrize(
    ("listed", "status"),
    [
        pytest.param("src/a.cpp\n", 1, id="a file"),
        pytest.param("src/clean.cpp\nsrc/a.cpp", 1, id="two files"),
        pytest.param("", 0, id="none, which is not all"),
    ],
)
def test_paths_in_a_file(listed: str, status: int, tree: Path) -> None:
    (tree / "paths.txt").write_text(listed)
    assert run("guardfix check @paths.txt", tree).returncode == status
    assert run("guardfix check @nowhere.txt", tree).returncode == 2
