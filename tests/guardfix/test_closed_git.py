"""git runs nothing that a repository, its files or the environment name, whatever guardfix does with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import git_canaries
from campaign_repositories import OLD, MakeRepository, git
from git_canaries import LAZY_FETCHES, SOURCES, Canary
from guardfix.campaign import contained_tasks
from guardfix.cli.main import cli
from guardfix.module_command import module_command


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Canary:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(contained_tasks, "_servers", contained_tasks._Servers())  # with the variables of the test
    return Canary(tmp_path)


def guardfix(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)


NEW = OLD.replace("f()", "g()")


@pytest.fixture
def hostile(tmp_path: Path, repository: MakeRepository, canary: Canary) -> Path:
    """A repository with two commits, a branch, uncommitted and untracked files, a submodule, a nested repository and a
    linked worktree; nothing in it names the canary yet."""
    inner = repository("inner", {"i.cpp": OLD})
    folder = repository("hostile", SOURCES)
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(folder, "commit", "--quiet", "--message=submodule")
    git(folder, "switch", "--quiet", "--create", "work")
    repository("hostile", {"b.cpp": OLD})
    shutil.copytree(inner, folder / "nested")
    (folder / "a.cpp").write_text(OLD + NEW)
    (folder / "sub/i.cpp").write_text(OLD + NEW)
    (folder / "untracked.cpp").write_text(OLD)
    git(folder, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
    git(folder, "switch", "--quiet", "main")
    git(folder, "switch", "--quiet", "work")
    return folder


def since(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """What `check --since main` finds: the exit status, and the places."""
    monkeypatch.chdir(folder)
    done = guardfix("check", "--output-format", "concise", "--isolated", "--since", "main", ".")
    return done.exit_code, sorted(line.split(" ")[0] for line in done.stdout.splitlines() if " GF" in line)


FOUND = (1, ["a.cpp:7:3:", "b.cpp:3:3:", "untracked.cpp:3:3:"])


def all_commands(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Every command that has to do with git, or with a tree that git knows; what each ends with."""
    monkeypatch.chdir(folder)
    shutil.copytree(folder, tmp_path / "plain", ignore=lambda _, names: {".git"} & set(names), dirs_exist_ok=True)
    shutil.copytree(folder / "nested", tmp_path / "plain/nested", dirs_exist_ok=True)
    (tmp_path / "list.txt").write_text(f"{folder}\n{tmp_path / 'linked'}\n{tmp_path / 'plain'}\n")
    rows = tmp_path / "rows.csv"
    ended: dict[str, object] = {
        "since": since(folder, monkeypatch),
        "diff": guardfix("check", "--isolated", "--diff", ".").exit_code,
        "migrate": guardfix("migrate", "--isolated", "--quiet", ".").exit_code,
        "status": guardfix("status", "--isolated", ".").exit_code,
        "baseline": guardfix(
            "baseline", "create", "--isolated", "--output", str(tmp_path / "base.json"), "."
        ).exit_code,
        "sarif": guardfix("check", "--isolated", "--output-format", "sarif", ".").exit_code,
        "gitlab": guardfix("check", "--isolated", "--output-format", "gitlab", ".").exit_code,
        "report": guardfix("report", "--isolated", "-o", str(tmp_path / "report.html"), ".").exit_code,
        "history": guardfix("campaign", "history", str(folder), "-o", str(rows)).exit_code,
        "campaign": guardfix("campaign", "run", str(tmp_path / "list.txt"), "-o", str(tmp_path / "out")).exit_code,
        "url": url_failure(tmp_path),
    }
    ended["sub"] = since(folder / "sub", monkeypatch)
    ended["linked"] = since(tmp_path / "linked", monkeypatch)
    monkeypatch.chdir(folder)
    return ended


def url_failure(tmp_path: Path) -> bool:
    """Whether a manifest's URL, at which nothing listens, is a failure that is told."""
    (tmp_path / "urls.txt").write_text("https://127.0.0.1:9/a/b\n")
    done = guardfix("campaign", "run", str(tmp_path / "urls.txt"), "-o", str(tmp_path / "urls"))
    return done.exit_code == 1 and "1 failed" in done.stdout


def hide(folder: Path, tmp_path: Path, canary: Canary, keys: Collection[str]) -> None:
    """Name the canary in every place: the configurations of the repository, its submodule, nested repository and
    worktree, hooks, and files that the configuration includes."""
    settings = {key: canary.named(key) for key in keys}
    included = tmp_path / "included"
    included.write_text(f"[core]\n\tfsmonitor = {canary.program} included\n")
    paths = {"include.path": str(included), "core.worktree": str(tmp_path / "elsewhere")}
    settings |= {key: path for key, path in paths.items() if key in keys}
    module = folder / ".git/modules/sub"
    for place in (folder, module, folder / "nested"):
        git_canaries.write_settings(place, settings)
        git_canaries.add_hooks(place, canary)
    (folder / ".git/worktrees/linked/config.worktree").write_text((folder / ".git/config").read_text())
    (folder / ".git/config.worktree").write_text((folder / ".git/config").read_text())
    (folder / ".git/info/attributes").write_text("* filter=evil diff=evil\n")


ALONE = 8
"""In how many parts the keys are tried as well: one of them may stop git before it comes to another."""


@pytest.mark.parametrize(
    "part", [pytest.param(None, id="all"), *(pytest.param(n, marks=pytest.mark.thorough) for n in range(ALONE))]
)
def test_nothing_is_run_though_every_key_and_every_hook_names_it(
    part: int | None,
    hostile: Path,
    tmp_path: Path,
    canary: Canary,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    before = all_commands(hostile, tmp_path, monkeypatch)
    for name in ("out", "urls"):
        shutil.rmtree(tmp_path / name)
    assert before["since"] == FOUND
    assert {name: before[name] for name in ("history", "campaign", "url")} == {"history": 0, "campaign": 0, "url": True}
    keys = git_canaries.every_key()
    assert len(keys) > 700
    tried = keys if part is None else keys[part::ALONE]
    hide(hostile, tmp_path, canary, tried)
    assert all_commands(hostile, tmp_path, monkeypatch) == before
    assert canary.sung == []
    record_property("attacks", len(tried) * len(before))


GIT_RUNS = [
    pytest.param({"core.fsmonitor": ""}, ["diff", "main"], id="core.fsmonitor"),
    pytest.param({"filter.evil.clean": "", "filter.evil.required": "true"}, ["diff", "main"], id="filter.evil.clean"),
    pytest.param({"filter.evil.process": ""}, ["diff", "main"], id="filter.evil.process"),
    pytest.param({"diff.external": ""}, ["diff", "main"], id="diff.external"),
    pytest.param({"diff.evil.command": ""}, ["diff", "main"], id="diff.evil.command"),
    pytest.param({"diff.evil.textconv": ""}, ["diff", "main"], id="diff.evil.textconv"),
    pytest.param({"alias.evil": "!"}, ["evil"], id="alias"),
    pytest.param({"core.hookspath": "hooks"}, ["switch", "main"], id="core.hookspath"),
    pytest.param({"core.sshcommand": ""}, ["ls-remote", "ssh://127.0.0.1/x"], id="core.sshcommand"),
    pytest.param({"core.gitproxy": "program"}, ["ls-remote", "git://127.0.0.1/x"], id="core.gitproxy"),
    pytest.param({"url.ext::CANARY insteadof #.insteadof": "https://127.0.0.1:9/", "protocol.ext.allow": "always"}, ["ls-remote", "https://127.0.0.1:9/x"], id="url.insteadof"),
]  # fmt: skip
"""What of a repository git itself is shown to run."""


@pytest.mark.parametrize(("settings", "command"), GIT_RUNS)
@pytest.mark.some(3)
def test_what_git_runs_guardfix_does_not(
    settings: Mapping[str, str],
    command: list[str],
    hostile: Path,
    tmp_path: Path,
    canary: Canary,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(canary.program, hooks / "post-checkout")
    values = {
        "": canary.named("it"),
        "!": f"!{canary.named('it')}",
        "hooks": str(hooks),
        "program": str(canary.program),
    }
    git_canaries.write_settings(
        hostile,
        {key.replace("CANARY", str(canary.program)): values.get(value, value) for key, value in settings.items()},
    )
    os.utime(hostile / "b.cpp")  # git looks into it again
    assert since(hostile, monkeypatch) == FOUND
    (tmp_path / "list.txt").write_text(f"{hostile}\n")
    assert guardfix("campaign", "run", tmp_path / "list.txt", "-o", tmp_path / "out").exit_code == 0
    assert guardfix("campaign", "history", hostile).exit_code == 0
    assert url_failure(tmp_path)
    assert canary.sung == []
    subprocess.run(["git", *command], cwd=hostile, capture_output=True, check=False)
    assert canary.sung != [], "a canary that git doesn't let sing proves nothing"


@pytest.mark.parametrize("how", LAZY_FETCHES)
def test_a_missing_commit_is_not_fetched(
    how: str, tmp_path: Path, repository: MakeRepository, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, folder = repository("other", {"a.cpp": OLD}), repository("r", {"a.cpp": OLD})
    git_canaries.missing_commit(folder, canary, LAZY_FETCHES[how](canary, other))
    monkeypatch.chdir(folder)
    done = guardfix("check", "--since", "main", ".")
    assert done.exit_code == 2
    assert "this is a partial clone, and guardfix fetches nothing" in done.stderr
    done = guardfix("campaign", "history", folder)
    assert done.exit_code == 2
    assert "this is a partial clone, and guardfix fetches nothing" in done.stderr
    (tmp_path / "list.txt").write_text(f"{folder}\n")
    done = guardfix("campaign", "run", tmp_path / "list.txt", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "this is a partial clone, and guardfix fetches nothing" in done.stderr
    assert canary.sung == []
    subprocess.run(["git", "rev-parse", "HEAD^{commit}"], cwd=folder, capture_output=True, check=False)
    assert canary.sung != [], "a canary that git doesn't let sing proves nothing"


def test_nothing_is_run_that_the_environment_names(
    hostile: Path, tmp_path: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = all_commands(hostile, tmp_path, monkeypatch)
    for name in ("out", "urls"):
        shutil.rmtree(tmp_path / name)
    shutil.copy(canary.program, hostile / "git")  # found first by a PATH that has the current folder
    for name, value in git_canaries.hostile_environment(canary, tmp_path).items():
        monkeypatch.setenv(name, value)
    assert all_commands(hostile, tmp_path, monkeypatch) == before
    assert canary.sung == []
    subprocess.run(["git", "diff"], cwd=hostile, capture_output=True, check=False)
    assert canary.sung != [], "a canary that git doesn't let sing proves nothing"


OBJECT = "objects/01/23456789012345678901234567890123456789"
PIPES = [
    # (place, whether it stops what reads the working tree, whether it stops what reads commits)
    pytest.param(".git/objects/info/alternates", True, True, id="alternates"),
    pytest.param(".git/objects/info/commit-graph", True, True, id="commit-graph"),
    pytest.param(".git/objects/pack/multi-pack-index", True, True, id="multi-pack-index"),
    pytest.param(f".git/{OBJECT}", True, True, id="loose object"),
    pytest.param("borrowed/objects/pack/pack-0.idx", True, True, id="in what it borrows"),
    pytest.param(".gitignore", True, False, id="gitignore"),
    pytest.param("folder/.gitattributes", True, False, id="gitattributes"),
    pytest.param(".git/info/exclude", False, False, id="exclude"),
    pytest.param(".git/packed-refs", False, False, id="packed-refs"),
    pytest.param(".git/shallow", False, False, id="shallow"),
    pytest.param(".git/FETCH_HEAD", False, False, id="FETCH_HEAD"),
    pytest.param("a.txt", False, False, id="another file"),
    pytest.param(".git/info/grafts", False, False, id="grafts"),
]


@pytest.mark.parametrize(("place", "stops_tree", "stops_commits"), PIPES)
@pytest.mark.some(4)
def test_git_waits_for_no_pipe(
    place: str, stops_tree: bool, stops_commits: bool, tmp_path: Path, repository: MakeRepository
) -> None:
    folder = repository("r", {"a.cpp": OLD})
    (folder / "borrowed/objects/info").mkdir(parents=True)
    (folder / ".git/objects/info/alternates").write_text("# a comment\n../../borrowed/objects\n")
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).unlink(missing_ok=True)
    os.mkfifo(folder / place)
    (tmp_path / "list.txt").write_text(f"{folder}\n")
    for arguments, stops in {
        ("check", "--since", "main", "."): stops_tree,
        ("campaign", "history", "."): stops_commits,
        ("campaign", "run", str(tmp_path / "list.txt"), "-o", str(tmp_path / "out")): stops_commits,
    }.items():
        command = [*module_command("guardfix"), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        assert ("a pipe or a device, at which git would wait" in done.stderr) == stops, done.stderr
        assert "internal error" not in done.stderr


def test_what_would_fill_the_disk_is_not_copied(repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository("r", {"a.cpp": OLD})
    with open(folder / ".git/index", "r+b") as file:
        file.truncate(1 << 40)
    monkeypatch.chdir(folder)
    done = guardfix("check", "--since", "main", ".")
    assert done.exit_code == 2
    assert ".git/index is larger than a gigabyte" in done.stderr


@pytest.mark.parametrize("link", ["reftable", "logs", "refs/heads/more"])
def test_links_out_of_a_repository_are_not_followed(
    link: str, repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, elsewhere = repository("r", {"a.cpp": OLD}), tmp_path / "elsewhere"
    elsewhere.mkdir()
    with open(elsewhere / "large", "wb") as file:
        file.truncate(1 << 40)
    place = folder / ".git" / link
    shutil.rmtree(place, ignore_errors=True)
    place.symlink_to(elsewhere)
    monkeypatch.chdir(folder)
    done = guardfix("check", "--since", "main@{0}" if link == "logs" else "main", ".")
    assert "gigabyte" not in done.stderr
    assert done.exit_code in ((0, 2) if link == "logs" else (0,)), done.output  # without its log, no `@{0}`


def test_many_files_are_too_large_together(repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository("r", {"a.cpp": OLD})
    (folder / ".git/reftable").mkdir()
    for name in "abc":
        with open(folder / ".git/reftable" / name, "wb") as file:
            file.truncate(1 << 29)
    monkeypatch.setattr("guardfix.git_files.shutil.copy2", lambda *paths: None)
    monkeypatch.chdir(folder)
    done = guardfix("check", "--since", "main", ".")
    assert (done.exit_code, "reftable takes more than a gigabyte" in done.stderr) == (2, True), done.output
