"""`guardfix run --contain`, and what of the environment programs get."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from containment_operations import namespaces
from guardfix.verify.runs.program_runs import environment, pass_variables


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        *((name, True) for name in ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "CC", "CXXFLAGS", "OMP_NUM_THREADS")),
        *((name, True) for name in ("GUARDFIX_TRACEBACK", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "CUDA_HOME")),
        *((name, False) for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "SSH_AUTH_SOCK")),
        *((name, False) for name in ("DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "PIP_INDEX_URL", "PYTHON_TOKEN")),
        *(
            (name, False)
            for name in (
                "MY_PATH",
                "XPATH",
                "CC_TOKEN",
                "PYTHONTOKEN",
                "GUARDFIX_TOKEN",
                "OMP_TOKEN",
                "TZ_KEY",
                "http_proxy",
                "XDG_RUNTIME_DIR",
            )
        ),
    ],
)
def test_variables_that_programs_get(name: str, passed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "given")
    monkeypatch.setattr("guardfix.verify.runs.program_runs._passed_too", set())
    assert (environment().get(name) == "given") is (passed and name != "OMP_NUM_THREADS")
    pass_variables([name])
    assert name in environment()


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is contained there")
def test_a_program_is_run_contained(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys, torch\nprint(torch.ones(1).item(), sys.argv[1:], 'TOKEN' in os.environ)\n"
        f"try:\n    open({str(tmp_path / 'new')!r}, 'w')\nexcept OSError:\n    print('refused')\nsys.exit(3)\n"
    )
    command = [sys.executable, "-m", "guardfix", "run", "--contain", str(program), "--", "--trace"]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"TOKEN": "a"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "1.0 ['--trace'] False\nrefused\n"), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
def test_streams_that_are_files_stay_as_they_were(tmp_path: Path) -> None:
    """Through a descriptor from before, modes and times could be changed; the order of output and errors stays."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\n"
        "for change in (lambda: os.fchmod(0, 0o600), lambda: os.utime('/proc/self/fd/0')):\n"
        "    try:\n        change()\n    except OSError:\n        print('refused', flush=True)\n"
        "print(sys.stdin.readline(), end='', file=sys.stderr, flush=True)\n"
        "os.fchmod(1, 0o777)\n"
        "print('end', flush=True)\nprint('x' * 300_000, file=sys.stderr)\n"
    )
    given, shown = tmp_path / "given", tmp_path / "shown"
    given.write_text("first\nsecond\n")
    given.chmod(0o640)
    os.utime(given, (1, 1))
    with given.open() as read, shown.open("wb") as written:
        assert read.readline() == "first\n"
        os.lseek(read.fileno(), len("first\n"), os.SEEK_SET)
        command = [sys.executable, "-m", "guardfix", "run", "--contain", str(program)]
        # From a folder above all that is replaced.
        done = subprocess.run(command, cwd="/", stdin=read, stdout=written, stderr=written, timeout=60, check=False)
    assert done.returncode == 0, shown.read_text()
    assert shown.read_text() == "refused\nrefused\nsecond\nend\n" + "x" * 300_000 + "\n"
    assert (given.stat().st_mode & 0o777, given.stat().st_mtime) == (0o640, 1)
    assert shown.stat().st_mode & 0o111 == 0


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
def test_nothing_is_kept_for_the_next_run(tmp_path: Path, cache: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, pathlib\nstore = pathlib.Path(os.environ['GUARDFIX_CACHE_DIR'])\n"
        "print([path.name for path in store.iterdir()])\n(store / 'planted').write_text('')\n"
    )
    command = [sys.executable, "-m", "guardfix", "run", "--contain", str(program)]
    environment = os.environ | {"GUARDFIX_CACHE_DIR": str(cache)}
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert not list(cache.rglob("planted"))


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
def test_a_named_pipe_is_carried_on(tmp_path: Path) -> None:
    program, pipe = tmp_path / "program.py", tmp_path / "pipe"
    program.write_text("import os, sys\ntext = sys.stdin.read()\nos.fchmod(0, 0o777)\nprint(len(text))\n")
    os.mkfifo(pipe, 0o600)
    writer = subprocess.Popen(["sh", "-c", f"yes | head -c 300000 > {pipe}"])
    with pipe.open("rb") as read:
        command = [sys.executable, "-m", "guardfix", "run", "--contain", str(program)]
        done = subprocess.run(command, stdin=read, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "300000\n", "")
    assert (writer.wait(), pipe.stat().st_mode & 0o777) == (0, 0o600)


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
@pytest.mark.parametrize(("closed", "shown"), [("<&-", "hi\n"), (">&-", ""), ("2>&-", "hi\n"), ("<&- >&- 2>&-", "")])
@pytest.mark.some(2)
def test_streams_may_be_closed(closed: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('hi')\n")
    command = f"exec {sys.executable} -m guardfix run --contain program.py {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
def test_an_interrupted_run_shows_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    shown = tmp_path / "shown"
    with shown.open("wb") as output:
        command = [sys.executable, "-m", "guardfix", "run", "--contain", str(tmp_path / "program.py")]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not shown.read_text():
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, shown.read_text()) == (130, "begun\n")
    assert "containment.py" not in errors
    assert errors.endswith("guardfix: interrupted\n")
