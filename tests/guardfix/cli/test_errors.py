"""Trouble that a user meets: what is said, with which status, and that nothing is left half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KERNEL = """#include <torch/torch.h>

class F{0} : public torch::autograd::Function<F{0}> {{
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {{
    at::AutoNonVariableTypeMode g;
    return f(x);
  }}
}};
"""
GUARDFIX = [sys.executable, "-m", "guardfix"]


def shell(command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `guardfix` is the tool."""
    line = f'guardfix() {{ "{sys.executable}" -m guardfix "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", line], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "kernel.cpp").write_text(KERNEL.format(0))
    (tmp_path / "clean.cpp").write_text("int main() { return 0; }\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param("chekc", "No such command 'chekc'; did you mean `check`?", id="a command"),
        pytest.param("check --selct GF1 .", "No such option", id="an option"),
        pytest.param("check --select legcy-guard .", "`legcy-guard`; did you mean `legacy-guard`?", id="a rule's name"),
        pytest.param("check --select gf5O7 .", "no rule is called `gf5O7`; did you mean `GF507`?", id="a code"),
        pytest.param("check --select raise .", "`raise`; did you mean `raises`?", id="a group"),
        pytest.param("check --ignore nothing .", "`nothing`; `guardfix rules` lists them", id="nothing like it"),
        pytest.param("explain Legacy-Gaurd", "did you mean `legacy-guard`?", id="a rule to explain"),
        pytest.param(
            "check --minimum-torch new .", "`new` is not a version; use a form like 1.13 or 2.1.0", id="a version"
        ),
        pytest.param("check --output-format srif .", "'srif' is not one of 'full', 'azure'", id="a format"),
        pytest.param("check nowhere", "Error: no such file or directory: nowhere", id="a path"),
        pytest.param(
            f"check --memory {'9' * 30} .", "is more megabytes than any machine has", id="an amount of memory"
        ),
        pytest.param("check --timeout-per-file nan .", "nan is not a time limit of at most a year", id="not a number"),
        pytest.param(
            "check --timeout-per-file 1e300 .", "1e300 is not a time limit of at most a year", id="a long time"
        ),
        pytest.param("verify --timeout inf .", "inf is not a time limit of at most a year", id="a time without an end"),
        pytest.param("verify nowhere", "Error: no such file or directory: nowhere", id="a path to verify"),
    ],
)
def test_a_mistake_on_the_command_line(command: str, message: str, tree: Path) -> None:
    outcome = shell(f"guardfix {command}", tree)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert message in outcome.stderr


@pytest.mark.parametrize("limit", [5, 7, 9, 16])
@pytest.mark.parametrize("command", ["check ."])
@pytest.mark.few("check .-7")
def test_too_few_file_descriptors(limit: int, command: str, many: Path) -> None:
    outcome = shell(f"ulimit -n {limit}; guardfix {command}", many)
    assert "bug" not in outcome.stderr
    if outcome.returncode == 2:
        assert "too many open files" in outcome.stderr.lower()
    else:
        assert outcome.returncode == 1
        assert outcome.stdout == shell(f"guardfix {command}", many).stdout


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More files than are searched in one process, and more hits than are read in one."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(400):
        (folder / f"{number}.cpp").write_text(KERNEL.format(number) if number % 10 == 0 else "int x;\n")
    return folder


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT"])
@pytest.mark.parametrize("delay", [0.8])
@pytest.mark.few("0.8-TERM")
def test_a_signal_ends_the_run_and_all_its_processes(name: str, delay: float, many: Path) -> None:
    # A fifo that nobody writes to would be passed over: what takes long here is the number of files.
    process = subprocess.Popen(
        [*GUARDFIX, "check", *[str(many)] * 200], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip
    time.sleep(delay)
    process.send_signal(getattr(signal, f"SIG{name}"))
    _, errors = process.communicate(timeout=30)
    number = getattr(signal, f"SIG{name}")
    assert process.returncode in (0, 1, -number, 128 + number)
    assert "Traceback" not in errors
    assert "bug" not in errors
    time.sleep(0.1)
    with pytest.raises(ProcessLookupError):  # the whole session has ended
        os.killpg(process.pid, 0)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        pytest.param(b"select = ['legcy-guard']", "no rule is called `legcy-guard`; did you mean", id="a rule"),
        pytest.param(b"select = [", "not valid TOML: Invalid value (at end of document)", id="no TOML"),
        pytest.param(b"\xff", "not valid UTF-8 at byte 0, which TOML requires", id="no UTF-8"),
        pytest.param(b"selct = ['GF1']", "unknown setting `selct`; did you mean `select`?", id="a setting"),
        pytest.param(b"colour = 1", "unknown setting `colour`; the settings are baseline, ", id="a setting unlike any"),
        pytest.param(b"x = " + b"[" * 5000, "not valid TOML: it nests too deep", id="deep TOML"),
        pytest.param(b". ".join([b"a"] * 100_000) + b" = 1", "not valid TOML: it nests too deep", id="a deep key"),
        pytest.param(
            b"extend = 'a'\nbaseline = \"a\\u0000\"", "`baseline` holds the character NUL", id="a name that no file has"
        ),
        pytest.param(b"x = " + b"9" * 5000, "", id="a number of many digits"),
        pytest.param(b"a" * 5000 + b" = 1", f"unknown setting `{'a' * 23}", id="a long key"),
        pytest.param(b"select = ['" + b"a" * 5000 + b"']", "no rule is called `a", id="a long rule"),
        pytest.param(b"x = '\0'", "not UTF-8, which TOML requires: it contains NUL bytes", id="NUL"),
        pytest.param("x = 1".encode("utf-16"), "not UTF-8, which TOML requires: it contains NUL", id="UTF-16"),
        pytest.param(b"\xef\xbb\xbfselct = 1", "unknown setting `selct`", id="a byte order mark"),
        pytest.param(b"# caf\xe9", "not valid UTF-8 at byte 5, which TOML requires; save it as UTF-8", id="Latin-1"),
        pytest.param(
            b"minimum-torch = '" + b"9" * 5000 + b"'", "`minimum-torch` must be a version", id="a long version"
        ),
        pytest.param(
            "minimum-torch = '1.²'".encode(), "`minimum-torch` must be a version", id="a digit of another kind"
        ),
        pytest.param(b"max-file-size = -1", "`max-file-size` must be a number of megabytes", id="a size"),
        pytest.param(b"max-file-size = inf", "`max-file-size` must be a number of megabytes", id="no size"),
    ],
)
def test_a_mistake_in_the_configuration_is_told_with_its_place(toml: bytes, message: str, tree: Path) -> None:
    (tree / "guardfix.toml").write_bytes(toml)
    outcome = shell("guardfix check .", tree)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"Error: {tree / 'guardfix.toml'}: {message}")
    assert "Usage:" not in outcome.stderr
    assert len(outcome.stderr) < 800


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["guardfix.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", ["pipe", "link", "utf-16"])
@pytest.mark.some(2)
def test_a_configuration_that_is_none(kind: str, name: str, tree: Path) -> None:
    path = tree / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("nowhere.toml")
    else:
        path.write_bytes("[tool.guardfix]\nselect = ['GF2']".encode("utf-16-le"))
    outcome = shell("guardfix check kernel.cpp", tree)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(f"Error: {path}: ")
    assert shell("guardfix check --isolated kernel.cpp", tree).returncode == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("by_option", [False, True])
@pytest.mark.some(1)
def test_a_baseline_that_is_a_pipe(by_option: bool, tree: Path) -> None:
    os.mkfifo(tree / "b.json")
    if not by_option:
        (tree / "guardfix.toml").write_text('baseline = "b.json"')
    outcome = shell(f"guardfix check {'--baseline b.json' if by_option else ''} .", tree)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("Error: ")
    assert "b.json: not a regular file" in outcome.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_owners_that_are_a_pipe(tree: Path) -> None:
    os.mkfifo(tree / "CODEOWNERS")
    assert shell("guardfix status .", tree).returncode == 0


@pytest.mark.parametrize(
    "text", [pytest.param("[tool]\nguardfix = [1]", id="a list"), pytest.param("tool.guardfix = 1", id="a number")]
)
def test_a_table_that_is_none(text: str, tree: Path) -> None:
    (tree / "pyproject.toml").write_text(text)
    outcome = shell("guardfix check kernel.cpp", tree)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "`guardfix` must be a table: settings go under `[tool.guardfix]`" in outcome.stderr


@pytest.mark.parametrize("options", ["--jobs 1", "--jobs 2", "--jobs 2 --no-cache"])
def test_names_that_are_not_unicode(options: str, tmp_path: Path) -> None:
    names = [b"\xff%d.cpp" % number for number in range(60)]
    try:
        for name in names:
            with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
                file.write("void f(at::Tensor a) {\n  at::AutoNonVariableTypeMode g(true);\n  a.set_(a);\n}\n")
    except OSError:
        pytest.skip("this system's names are Unicode")
    cache = {"GUARDFIX_CACHE_DIR": str(tmp_path / "cache"), "GUARDFIX_NO_CACHE": ""}
    for _ in range(2):  # the second time from the cache
        outcome = shell(f"guardfix check {options} --select GF101 .", tmp_path, **cache)
        assert outcome.returncode == 1, outcome.stderr
        assert "Found 60 issues in 60 files" in outcome.stdout


def test_a_number_of_many_digits_is_cut() -> None:
    outcome = shell(f"guardfix check --minimum-torch {'9' * 5000} a.cpp", Path.cwd())
    assert outcome.returncode == 2
    assert f"`{'9' * 39}…` is not a version" in outcome.stderr


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        pytest.param("guardfix check kernel.cpp > /dev/full", 2, "No space left on device", id="no space for findings"),
        pytest.param(
            "guardfix check clean.cpp > /dev/full", 2, "No space left on device", id="nor for the quick answer"
        ),
        pytest.param("guardfix check kernel.cpp >&-", 1, "", id="no standard output"),
        pytest.param("guardfix check clean.cpp >&-", 0, "", id="no standard output for the quick answer"),
        pytest.param("guardfix check kernel.cpp 2>&-", 1, "", id="no standard error"),
    ],
)
def test_output_that_cannot_be_written(command: str, status: int, said: str, tree: Path) -> None:
    if "/dev/full" in command and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    outcome = shell(command, tree)
    assert outcome.returncode == status, outcome.stderr
    assert outcome.stderr.strip() == (f"guardfix: cannot write the output: {said}" if said else "")


@pytest.mark.parametrize(
    "arguments",
    [["check", "."], ["check", "clean.cpp"], ["check", "--output-format=json", "."], ["migrate", "."], ["rules"]],
)
def test_a_reader_that_has_gone_is_no_trouble(arguments: list[str], tree: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    outcome = subprocess.run(
        [*GUARDFIX, *arguments], cwd=tree, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(theirs)
    assert (outcome.returncode, outcome.stderr) == (1, "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_finding(tree: Path) -> None:
    (tree / "kernel.cpp").chmod(0)
    (tree / "folder").mkdir(0)
    outcome = shell("guardfix check kernel.cpp folder clean.cpp", tree)
    assert outcome.returncode == 1
    assert "kernel.cpp:1:1: GF001 cannot read this file: Permission denied" in outcome.stdout
    assert "folder:1:1: GF001 cannot read this folder: Permission denied" in outcome.stdout


@pytest.mark.parametrize("command", ["migrate --apply", "check --fix"])
@pytest.mark.few("check --fix")
def test_a_disk_that_is_full_leaves_the_file_whole(command: str, tree: Path) -> None:
    resource = pytest.importorskip("resource")
    del resource
    text = KERNEL.format(0) + "// long\n" * 1000
    (tree / "kernel.cpp").write_text(text)
    outcome = shell(f"ulimit -f 4; guardfix {command} kernel.cpp", tree)
    assert outcome.returncode == 2
    assert "kernel.cpp: not written: File too large" in outcome.stderr
    assert (tree / "kernel.cpp").read_text() == text
    assert sorted(os.listdir(tree)) == ["clean.cpp", "kernel.cpp"]


def test_ctrl_c_leaves_every_file_whole(tmp_path: Path) -> None:
    texts = {f"f{number}.cpp": KERNEL.format(number) for number in range(150)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    process = subprocess.Popen(
        [*GUARDFIX, "migrate", "--apply", "-j1", "."],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # Interrupt it while it writes.
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        if any("NonVariable" not in (tmp_path / name).read_text() for name in ("f0.cpp", "f1.cpp")):
            os.killpg(process.pid, signal.SIGINT)
            break
        time.sleep(0.001)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.strip() == "guardfix: interrupted"
    assert sorted(os.listdir(tmp_path)) == sorted(texts)
    now = [(tmp_path / name).read_text() for name in texts]
    done = [text.replace("NonVariableTypeMode", "DispatchBelowADInplaceOrView") for text in texts.values()]
    assert all(text in both for text, *both in zip(now, texts.values(), done, strict=True))
    assert 0 < sum(text in done for text in now) < len(texts)


ODD = "größe.cpp"


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0"}, id="C locale"),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="C locale, not coerced"),
        pytest.param({"PYTHONIOENCODING": "utf-8:strict"}, id="UTF-8, strict"),
        pytest.param({"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}, id="a narrower encoding"),
    ],
)
@pytest.mark.few("a narrower encoding")
def test_names_and_text_beyond_ascii_in_any_locale(env: dict[str, str], tmp_path: Path) -> None:
    text = KERNEL.format(0).replace("g;", "g;  // größe 解")
    (tmp_path / ODD).write_text(text, "utf-8")
    try:
        (tmp_path / os.fsdecode(b"x\xff.cpp")).write_text(text, "utf-8")
    except OSError:
        pytest.skip("no such names here")
    for command, status in (("check .", 1), ("migrate .", 1), ("check --output-format json .", 1)):
        outcome = subprocess.run(
            [*GUARDFIX, *command.split()], cwd=tmp_path, env={**os.environ, **env}, capture_output=True, check=False
        )
        assert outcome.returncode == status, outcome.stderr
        printed = outcome.stdout.decode("latin-1" if "latin-1" in env.values() else "utf-8", "surrogateescape")
        if command == "check .":
            assert f"{ODD}:5:5: GF101" in printed
        if "json" in command:
            assert '"filename": "gr\\u00f6\\u00dfe.cpp"' in printed
            assert '"filename": "x\\udcff.cpp"' in printed
    subprocess.run([*GUARDFIX, "migrate", "--apply", "."], cwd=tmp_path, env={**os.environ, **env}, check=True)
    assert "NonVariable" not in (tmp_path / ODD).read_text("utf-8")
    assert "größe 解" in (tmp_path / ODD).read_text("utf-8")


def test_a_file_that_is_too_large_is_a_finding(tree: Path) -> None:
    (tree / "large.cpp").write_text("at::AutoNonVariableTypeMode g;\n" + "int x;\n" * 1_300_000)
    (tree / "large_and_clean.cpp").write_text("int x;\n" * 1_300_000)
    outcome = shell("guardfix check .", tree)
    assert outcome.returncode == 1
    assert (
        "large.cpp:1:1: GF001 cannot read this file: it has 8.7 MB, and the largest that is read has 8"
        in outcome.stdout
    )
    assert "large_and_clean" not in outcome.stdout
    assert "kernel.cpp" in outcome.stdout
    assert shell("guardfix check large.cpp", tree).stdout.startswith("large.cpp:1:1: GF001")
    (tree / "large.cpp").write_text("at::AutoNonVariableTypeMode g;\n" + "int x;\n" * 10_000)
    (tree / "guardfix.toml").write_text("max-file-size = 0.05\n")
    assert "large.cpp:1:1: GF001" in shell("guardfix check .", tree).stdout
    (tree / "guardfix.toml").write_text("max-file-size = 0.1\n")
    assert "large.cpp:1:1: GF101" in shell("guardfix check .", tree).stdout


def test_limits_for_each_file(tree: Path) -> None:
    lines = "void f@(torch::jit::Module& m) { at::AutoNonVariableTypeMode g; m.forward({}); }\n"
    (tree / "slow.cpp").write_text("".join(lines.replace("@", str(n)) for n in range(60_000)))
    outcome = shell("guardfix check --timeout-per-file 1.5 .", tree)
    assert outcome.returncode == 1
    assert "slow.cpp:1:1: GF001 cannot read this file: reading it took longer than 1.5 seconds" in outcome.stdout
    assert "kernel.cpp:" in outcome.stdout  # read, but on a machine that is very busy
    (tree / "slow.cpp").unlink()
    outcome = shell("guardfix check --memory 20 .", tree)
    assert outcome.returncode == 1
    assert "kernel.cpp:1:1: GF001 cannot read this file: " in outcome.stdout
    assert "(--memory)" in outcome.stdout


@pytest.mark.thorough
def test_a_chain_of_aliases(tree: Path) -> None:
    names = ["using G0 = at::AutoNonVariableTypeMode;", *(f"using G{n} = G{n - 1};" for n in range(1, 600))]
    (tree / "aliases.cpp").write_text("\n".join([*names, "void f(torch::jit::Module& m) { G599 g; m.forward({}); }\n"]))
    outcome = shell("guardfix check aliases.cpp", tree)
    assert outcome.returncode == 1
    assert "aliases.cpp:1:" in outcome.stdout
