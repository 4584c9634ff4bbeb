"""`guardfix campaign run`: what is done, what is not done again, and what one bad repository costs."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from campaign_repositories import OLD, UNCALLED, MakeRepository, git
from fixture_files import FIXTURES
from guardfix.campaign import contained_tasks
from guardfix.campaign.campaign_manifest import RepositoryEntry
from guardfix.campaign.repository_task import RepositoryTask, TaskOutcome
from guardfix.campaign.task_server import TaskEnding
from guardfix.cli.main import cli
from guardfix.settings_table import BY_KEY

KERNEL = """#include <torch/library.h>
at::Tensor& scale_(c10::DispatchKeySet keys, at::Tensor& self) {
  at::AutoNonVariableTypeMode guard(true);
  return self.mul_(2);
}
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("scale_", TORCH_FN(scale_));
}
"""
GATED = (FIXTURES / "cpp/stale_version_gate.cpp").read_text()


def campaign(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["campaign", *map(str, arguments)])


def asked(folder: Path, sql: str) -> list[dict[str, Any]]:
    result = campaign("query", "-o", folder, "--format", "json", sql)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_rows_patches_and_what_is_not_done_again(tmp_path: Path, repository: MakeRepository) -> None:
    old = repository("old", {"src/a.cpp": KERNEL, "b.cpp": OLD})
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text(UNCALLED)
    (plain / "ignored.cpp").write_text(OLD)
    (plain / ".gitignore").write_text("ignored.cpp\n")
    manifest, out = tmp_path / "list.txt", tmp_path / "out"
    manifest.write_text(f"{old}\nplain\n{tmp_path / 'none'}\n")

    first = campaign("run", manifest, "-o", out, "--jobs", "1")
    assert first.exit_code == 1, first.output
    assert "3 repositories: 2 new, 1 failed." in first.stdout
    assert f"none: failed: no such folder: {tmp_path / 'none'}" in first.stderr

    rows = asked(out, "select repository, path, row, guard, old, rules, context, patch from uses")
    (patch,) = out.glob("results/old/*/patches/*.patch")
    assert [tuple(row.values()) for row in rows] == [
        ("old", "b.cpp", 3, "AutoNonVariableTypeMode", True, ["GF101"], "remove", None),
        ("old", "src/a.cpp", 3, "AutoNonVariableTypeMode", True, ["GF101"], "below_autograd", patch.name),
        ("plain", "a.py", 3, "no_grad", False, ["GF403"], None, "0001-GF403-call-torch.no_grad.patch"),
    ]
    outcomes = asked(out, "select repository, outcome, files, commit from repositories")
    commit = git(old, "rev-parse", "HEAD")
    assert [tuple(row.values())[:3] for row in outcomes] == [
        ("none", "failed", None),
        ("old", "done", 2),
        ("plain", "done", 1),
    ]
    assert outcomes[1]["commit"] == commit
    assert outcomes[2]["commit"].startswith("snapshot-")

    text = patch.read_text()
    assert "Subject: [PATCH] GF101: " in text
    assert "registered" in text
    assert f"base-commit: {commit}" in text
    sarif = json.loads(next(out.glob("results/old/*/findings.sarif")).read_text())
    found = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert found["artifactLocation"] == {"uri": "b.cpp", "uriBaseId": "%SRCROOT%"}
    assert "file:" not in json.dumps(sarif)

    # The repository gets the patch, and with it a new commit; of the others nothing is new.
    git(old, "am", "--quiet", str(patch))
    second = campaign("run", manifest, "-o", out, "--jobs", "1")
    assert "3 repositories: 1 new, 1 unchanged, 1 failed." in second.stdout
    assert asked(out, "select path, next_step from uses where old") == [{"path": "b.cpp", "next_step": "review"}]
    # Other fixes are another result.
    assert "2 new" in campaign("run", manifest, "-o", out, "--unsafe").stdout


TREES = [
    pytest.param({"a.cpp": KERNEL, "b.cpp": GATED}, id="two rules, two commits"),
    pytest.param(
        {path.name: path.read_text() for path in sorted(FIXTURES.glob("cpp/[!.]*.cpp")) if path.name.count(".") == 1},
        id="all fixtures",
        marks=pytest.mark.thorough,
    ),
]


@pytest.mark.parametrize("files", TREES)
def test_the_patches_come_to_what_migrate_writes(
    tmp_path: Path, repository: MakeRepository, files: dict[str, str]
) -> None:
    one, other = repository("one", files), repository("other", files)
    (tmp_path / "list.txt").write_text("one\n")
    assert campaign("run", tmp_path / "list.txt", "-o", tmp_path / "out", "--unsafe").exit_code == 0
    patches = sorted(tmp_path.glob("out/results/one/*/patches/*.patch"))
    git(one, "am", "--quiet", *map(str, patches))
    subjects = git(one, "log", "--format=%s").splitlines()[:-1]
    codes = [subject.split(":")[0] for subject in subjects]
    assert len(codes) > 1
    assert len(set(codes)) == len(codes)
    CliRunner().invoke(cli, ["migrate", "--apply", "--unsafe", str(other)])
    assert {name: (one / name).read_text() for name in files} == {name: (other / name).read_text() for name in files}


POISON = '''"""MY001 poison: for tests.

What it flags: nothing.
"""

import ctypes, os, signal, time

from guardfix.linter.guards import no_guards
from guardfix.linter.rule import Rule

RULE = Rule("MY001", "poison", guards=no_guards, needles=(b"poison",))


@RULE.check_file
def calls(facts, project):
    for call in facts.calls:
        if call.name == "poison_by_crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if call.name == "poison_by_error":
            raise ValueError("a bug")
        if call.name == "poison_by_time":
            time.sleep(1000)
        if call.name == "poison_by_memory":
            kept = [bytearray(1 << 28) for _ in range(40)]
    return iter(())
'''


POISONED = [
    pytest.param("crash", "crashed", "killed by SIGSEGV", id="crash"),
    pytest.param("error", "crashed", "ValueError: a bug", id="error", marks=pytest.mark.thorough),
    pytest.param(
        "memory", "out of memory", "a process took more than 1024 MB", id="memory", marks=pytest.mark.thorough
    ),
    pytest.param("time", "out of time", "it took longer than 3 seconds", id="time", marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("kind", "outcome", "reason"), POISONED)
def test_a_poison_repository_costs_only_itself(
    tmp_path: Path, repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, kind: str, outcome: str, reason: str
) -> None:
    site = tmp_path / "site"
    info = site / "poison_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "poison_rules.py").write_text(POISON)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poison-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[guardfix.rules]\npoison = poison_rules\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setattr(contained_tasks, "_servers", contained_tasks._Servers())
    settings = 'plugins = ["poison"]\nextend-select = ["MY001"]\n'
    (tmp_path / "poison.toml").write_text(settings)  # a repository's own configuration loads no plugin
    repository("poison", {"guardfix.toml": settings, "a.cpp": f"void f() {{ poison_by_{kind}(); }}\n"})
    repository("settings", {"guardfix.toml": "unknown = 1\n"})
    repository("well", {"a.py": UNCALLED})
    manifest, out = tmp_path / "list.toml", tmp_path / "out"
    manifest.write_text(
        '[[repository]]\nsource = "poison"\nconfiguration = "poison.toml"\n'
        '[[repository]]\nsource = "settings"\n[[repository]]\nsource = "well"\n'
    )
    # A busy machine may take a while to fill the memory.
    limits = ("--timeout", "3" if kind == "time" else "60", "--memory", "1024", "--jobs", "1")

    assert campaign("run", manifest, "-o", out, *limits).exit_code == 1
    rows = asked(out, "select repository, outcome, reason from repositories")
    assert [tuple(row.values()) for row in rows] == [
        ("poison", outcome, reason),
        (
            "settings",
            "failed",
            "guardfix.toml: unknown setting `unknown`; the settings are " + ", ".join(sorted(BY_KEY)),
        ),
        ("well", "done", None),
    ]
    # What limits ended is not tried again in vain.
    again = campaign("run", manifest, "-o", out, *limits)
    assert "poison" in again.stderr
    assert "(unchanged)" in next(line for line in again.stderr.splitlines() if "poison" in line)
    assert again.exit_code == 1


def test_the_next_task_removes_what_a_killed_worker_left(
    tmp_path: Path, repository: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    task = RepositoryTask(RepositoryEntry("one", str(repository("one", {"a.py": UNCALLED}))))
    worker = "import os; from guardfix.campaign import contained_tasks as c; from pickle import loads; "
    killed = f"c._servers.ask = lambda asked: os.kill(os.getpid(), 9); c.run_task(loads({pickle.dumps(task)!r}))"
    assert subprocess.run([sys.executable, "-c", worker + killed], check=False).returncode == -9
    assert len(list(tmp_path.glob("cache/campaign/*/*"))) == 1
    monkeypatch.setattr(contained_tasks._servers, "ask", lambda asked: TaskEnding(TaskOutcome.CRASHED, "", {}, 0, 0, 0))
    contained_tasks.run_task(task)
    assert not list(tmp_path.glob("cache/campaign/*"))


@pytest.mark.thorough
def test_a_part_of_a_repository_decides_as_the_whole(tmp_path: Path, repository: MakeRepository) -> None:
    kernel, registration = KERNEL.split("TORCH_LIBRARY_IMPL")
    declared = kernel.replace("scale_(", "scale_inplace(")
    files = {
        "a/kernel.cpp": declared,
        "b/register.cpp": "#include <torch/library.h>\nTORCH_LIBRARY_IMPL"
        + registration.replace("TORCH_FN(scale_)", "TORCH_FN(scale_inplace)"),
        "c/old.cpp": OLD,
    }
    folder = repository("whole", files)
    manifest = tmp_path / "list.toml"
    manifest.write_text(
        f'[[repository]]\nsource = "{folder}"\nname = "whole"\n'
        f'[[repository]]\nsource = "{folder}"\nname = "by number"\nshards = 3\n'
        f'[[repository]]\nsource = "{folder}"\nname = "by paths"\nshards = [["a"], ["b", "c"]]\n'
    )
    assert "6 tasks" in campaign("run", manifest, "-o", tmp_path / "out").stdout
    rows = asked(tmp_path / "out", "select repository, path, context, evidence, patch is not null as p from uses")
    by_name: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_name.setdefault(row.pop("repository"), []).append(tuple(map(str, row.values())))
    assert len(by_name["whole"]) == 2
    assert "below_autograd" in by_name["whole"][0]
    assert by_name["by number"] == by_name["by paths"] == by_name["whole"]


def test_nothing_outside_is_read_or_written(tmp_path: Path, repository: MakeRepository) -> None:
    (tmp_path / "secret.cpp").write_text(OLD)
    folder = repository("links", {"a.py": UNCALLED})
    (folder / "link.cpp").symlink_to(tmp_path / "secret.cpp")
    hook = folder / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    hook.chmod(0o755)
    (folder / ".gitattributes").write_text("* filter=evil\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=more")
    git(folder, "config", "filter.evil.smudge", f"touch {tmp_path}/executed; cat")
    before = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, check=True).stdout
    (tmp_path / "list.txt").write_text("links\n")
    assert campaign("run", tmp_path / "list.txt", "-o", tmp_path / "out").exit_code == 0
    assert [row["path"] for row in asked(tmp_path / "out", "select path from uses")] == ["a.py"]
    assert not (tmp_path / "executed").exists()
    assert (tmp_path / "secret.cpp").read_text() == OLD
    after = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, check=True).stdout
    assert (before, after) == (b"", b"")


FAILURES = [
    pytest.param(["query", "-o", "{}/none", "select 1"], "holds no campaign", id="no campaign"),
    pytest.param(["run", "{}/none.txt", "-o", "{}/out"], "No such file", id="no manifest"),
    pytest.param(
        ["run", "{}/list.txt", "-o", "{}/out", "--executor", "moon"], "`moon` is not an executor", id="no executor"
    ),
    pytest.param(["run", "{}/list.txt", "-o", "{}/list.txt/out"], "Not a directory", id="no folder"),
]


@pytest.mark.parametrize(("arguments", "said"), FAILURES)
def test_what_cannot_be_run(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "list.txt").write_text(f"{tmp_path / 'none'}\n")
    result = campaign(*(one.format(tmp_path) for one in arguments))
    assert result.exit_code == 2, result.output
    assert said in result.stderr


def test_a_bad_query_says_what_duckdb_says(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{tmp_path / 'none'}\n")
    campaign("run", tmp_path / "list.txt", "-o", tmp_path / "out")
    result = campaign("query", "-o", tmp_path / "out", "select colour from uses")
    assert result.exit_code == 2
    assert "colour" in result.stderr


PROGRAM = "import torch\n\none = torch.ones(1)\nwith torch.no_grad:\n    print((one + 1).item())\n"
TEST = "import torch\n\n\ndef test_a():\n    with torch.no_grad:\n        assert torch.ones(1).item() == 1\n"


@pytest.mark.thorough
def test_verdicts_of_programs_and_of_tests(tmp_path: Path, repository: MakeRepository) -> None:
    repository("one", {"program.py": PROGRAM, "tests/test_a.py": TEST})
    (tmp_path / "list.toml").write_text(
        '[[repository]]\nsource = "one"\nname = "programs"\n'
        '[[repository]]\nsource = "one"\nname = "tests"\ntest = "pytest tests/"\n'
    )
    manifest, out = tmp_path / "list.toml", tmp_path / "out"
    assert campaign("run", manifest, "-o", out, "--jobs", "1").exit_code == 0
    assert asked(out, "select count(*) as n from uses where verdict is not null") == [{"n": 0}]
    assert "2 new" in campaign("run", manifest, "-o", out, "--jobs", "1", "--verify").stdout
    rows = asked(out, "select repository, path, verdict, verdict_reason is not null as told from uses")
    # The migration lets a guard be entered at which the program, and the test, ended before.
    assert [tuple(row.values()) for row in rows] == [
        ("programs", "program.py", "repaired", False),
        ("programs", "tests/test_a.py", "not reached", True),
        ("tests", "program.py", "not reached", True),
        ("tests", "tests/test_a.py", "repaired", False),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("executor", ["process", "dask"])
def test_other_executors_find_the_same(tmp_path: Path, repository: MakeRepository, executor: str) -> None:
    repository("one", {"a.cpp": KERNEL})
    repository("two", {"a.py": UNCALLED})
    (tmp_path / "list.txt").write_text("one\ntwo\n")
    for name in ("local", executor):
        result = campaign("run", tmp_path / "list.txt", "-o", tmp_path / name, "--executor", name, "-j", "1")
        assert result.exit_code == 0, result.output
    names = ("findings.sarif", "uses.ndjson", "findings.ndjson", "0001*.patch")
    first, second = (
        {path.relative_to(tmp_path / one): path.read_bytes() for name in names for path in (tmp_path / one).rglob(name)}
        for one in ("local", executor)
    )
    assert first == second
    assert len(first) == 8


SSH = """#!/bin/sh
for command; do :; done  # the last argument is what the other machine would run
exec sh -c "$command"
"""


def test_a_url_is_fetched_at_its_revision(
    tmp_path: Path, repository: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository("remote", {"a.cpp": OLD})
    git(folder, "tag", "--annotate", "v1", "--message=one")
    first = git(folder, "rev-parse", "HEAD")
    repository("remote", {"a.cpp": "int x;\n"})
    last = git(folder, "rev-parse", "HEAD")
    url = f"ssh://localhost{folder}"
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/ssh").write_text(SSH)
    (tmp_path / "programs/ssh").chmod(0o755)
    monkeypatch.setattr(contained_tasks, "_servers", contained_tasks._Servers())  # with this PATH
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "list.toml").write_text(
        "".join(
            f'[[repository]]\nsource = "{url}"\nname = "{name}"\nrevision = "{revision}"\n'
            for name, revision in (("branch", "main"), ("commit", first), ("none", "nowhere"), ("tag", "v1"))
        )
    )
    assert campaign("run", tmp_path / "list.toml", "-o", tmp_path / "out", "--jobs", "1").exit_code == 1
    rows = asked(tmp_path / "out", "select repository, commit, outcome, old_uses, reason from repositories")
    assert [tuple(row.values()) for row in rows] == [
        ("branch", last, "done", 0, None),
        ("commit", first, "done", 1, None),
        ("none", None, "failed", None, f"{url} has no revision `nowhere`"),
        ("tag", first, "done", 1, None),
    ]


@pytest.mark.parametrize(
    "url", ["file:///srv/r.git", "http://example.org/r.git", "git://example.org/r", "ftp://example.org/r"]
)
def test_other_protocols_are_refused(url: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{url}\n")
    done = campaign("run", tmp_path / "list.txt", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert f"{url}: repositories are fetched by https or ssh alone; clone it, and name its folder" in done.stderr
