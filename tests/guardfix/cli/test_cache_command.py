"""`guardfix cache`, and the cache as users meet it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from guardfix.cli.main import cli
from guardfix.linter import extraction_cache
from guardfix.linter.decision.observed_runs import ObservedRun, keep_runs
from guardfix.linter.files.user_cache import user_cache_folder
from guardfix.linter.findings import Context
from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.cpp.compiler_processes import workplace

OLD = "void f() {\n  at::AutoNonVariableTypeMode g;\n}\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(extraction_cache, "WORTH_ASKING", 0)
    monkeypatch.delenv("GUARDFIX_NO_CACHE")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.cpp").write_text(OLD)
    monkeypatch.chdir(tmp_path / "tree")
    return tmp_path / "cache"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_a_check_leaves_facts_in_the_cache_and_nothing_in_the_tree(own_cache: Path, tmp_path: Path) -> None:
    first = run("check", ".")
    assert first.exit_code == 1
    assert [path.name for path in sorted(own_cache.rglob("*"))] == ["CACHEDIR.TAG", "facts", "entries-1.sqlite"]
    assert (own_cache / "facts").stat().st_mode & 0o077 == 0
    assert [path.name for path in (tmp_path / "tree").iterdir()] == ["a.cpp"]
    assert run("check", ".").output == first.output


@pytest.mark.parametrize("how", ["--no-cache", "-n", "GUARDFIX_NO_CACHE"])
def test_a_run_can_do_without(own_cache: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how.startswith("-"):
        assert run("check", how, ".").exit_code == 1
    else:
        monkeypatch.setenv(how, "1")
        assert run("check", ".").exit_code == 1
    assert not own_cache.exists()


def test_dir_prints_the_folder(own_cache: Path) -> None:
    assert run("cache", "dir").output == f"{own_cache}\n"


def test_headers_prints_the_folders_for_an_editor(own_cache: Path) -> None:
    with_code, forwarding = map(Path, run("cache", "headers").output.splitlines())
    assert (with_code / "ATen/core/Tensor.h").is_file()
    assert (forwarding / "torch/torch.h").is_file()
    assert forwarding.is_relative_to(own_cache)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GUARDFIX_CACHE_DIR": "/a"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/guardfix"),
        ({"XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/guardfix"),
    ],
)
def test_programs_are_in_the_same_folder(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str
) -> None:
    monkeypatch.delenv("GUARDFIX_CACHE_DIR")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert user_cache_folder() == expected
    assert cache_folder() == Path(expected, "programs")


def _compiled(path: Path, days: int, size: int = 2_000_000) -> Path:
    path.mkdir(parents=True)
    (path / "program.so").write_bytes(bytes(size))
    then = time.time() - days * 86_400
    os.utime(path / "program.so", (then, then))
    return path


def test_clean_removes_facts_and_programs_but_no_agreement(own_cache: Path) -> None:
    run("check", ".")
    programs = [
        _compiled(cache_folder() / "ab" / "abc", 1),
        _compiled(own_cache / "contained" / "programs" / "ab" / "abc", 1),
        _compiled(own_cache / "extensions" / "ab" / "abd", 1),
    ]
    (own_cache / "agreed").mkdir()
    (own_cache / "agreed" / "name").write_text("")
    said = run("cache", "clean").output
    assert said.startswith("Removed 6.0 MB from ")
    assert said.endswith("; 0.0 MB are left.\n")
    assert not any(path.exists() for path in (*programs, own_cache / "facts"))
    assert (own_cache / "agreed" / "name").exists()
    assert run("cache", "clean").exit_code == 0


def test_prune_removes_what_is_old_then_what_is_much(own_cache: Path) -> None:
    run("check", ".")
    top = cache_folder()
    old = [
        _compiled(top / "ab" / "abc", 40),
        _compiled(top / "headers" / "abd", 31),
        _compiled(top / "objects" / "ab" / "abe", 50),
        _compiled(own_cache / "extensions" / "ab" / "abf", 50),
        _compiled(own_cache / "contained" / "extensions" / "ab" / "abf", 50),
    ]
    middle, new = _compiled(top / "cd" / "cde", 20), _compiled(top / "headers" / "cdf", 2)
    unfinished = _compiled(top / "unfinished" / "compiling-x", 50)
    run("cache", "prune")
    assert [path.exists() for path in (*old, middle, new, unfinished)] == [*[False] * 5, True, True, True]
    run("cache", "prune", "--size", "3")
    assert [path.exists() for path in (middle, new)] == [False, True]
    assert run("check", ".").exit_code == 1


def test_what_was_decided_by_running_is_listed_and_dropped(tmp_path: Path) -> None:
    sources = [tmp_path / "tree" / name for name in ("a.cpp", "b.cpp")]
    sources[1].write_text(OLD)
    for number, source in enumerate(sources):
        run_seen = ObservedRun(11, Context.KERNEL, "tests/test_a.py", f"{source.resolve()}:2")
        keep_runs(bytes([number]) * 16, [run_seen], [source])
    sources[1].write_text("")
    listed = run("cache", "decided")
    assert listed.stdout.splitlines() == [
        f"{sources[0].resolve()}:2: kernel, by running tests/test_a.py",
        f"{sources[1].resolve()}:2: kernel (no longer used: a source has changed), by running tests/test_a.py",
    ]
    assert run("cache", "decided", "--drop", "a.cpp").stderr == "1 decided by running; dropped.\n"
    assert run("cache", "decided").stdout.count("b.cpp") == 1
    assert run("cache", "decided").stdout.count("a.cpp:2") == 0


def test_what_is_being_compiled_is_left_by_clean(own_cache: Path) -> None:
    unfinished = cache_folder() / "unfinished"
    (own_cache / "facts").mkdir(parents=True)
    with workplace(unfinished) as folder:
        (cache_folder() / "aa").mkdir()
        done = run("cache", "clean")
        assert (done.exit_code, folder.is_dir(), (cache_folder() / "aa").is_dir()) == (0, True, True)
        assert "Something is being compiled" in done.stderr
    assert not (own_cache / "facts").exists()
    assert "compiled" not in run("cache", "clean").stderr
    assert not cache_folder().exists()
    with workplace(unfinished) as folder:
        assert folder.is_dir()
    with pytest.raises(FileNotFoundError), workplace(unfinished):
        raise FileNotFoundError
