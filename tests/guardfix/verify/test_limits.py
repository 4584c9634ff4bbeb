"""Programs that don't end, take too much, crash, or are none; and what is left behind: nothing."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command

IMPORT = "import torch\n"
FINE = IMPORT + "print(torch.ones(2).sum().item())\n"
ENDLESS = IMPORT + "print(2.0)\nwhile True:\n    pass\n"
GREEDY = IMPORT + "kept = [torch.ones(1 << 20) for _ in range(100)]\nprint(2.0)\n"
CRASHING_CPP = """\
#include <torch/torch.h>
#include <csignal>
int main() {
  c10::InferenceMode guard;
  torch::ones({2});
  std::raise(SIGSEGV);
}
"""
FINE_CPP = """\
#include <torch/torch.h>
int main() {
  c10::InferenceMode guard;
  torch::ones({2});
}
"""
LEGACY_CPP = """\
#include <torch/script.h>
#include <iostream>
int main() {
  at::AutoNonVariableTypeMode guard(true);
  auto model_input = torch::ones({2});
  std::cout << model_input.sum().item<float>() << std::endl;
}
"""


def run(*arguments: str | Path) -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(command, [*map(str, arguments), "--output-format", "json", "--isolated"])
    return done.exit_code, json.loads(done.stdout) if done.stdout else []


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def against(folder: Path, before: str, after: str, *more: str, suffix: str = ".py") -> tuple[int, dict[str, Any]]:
    one, two = write(folder, f"one{suffix}", before), write(folder, f"two{suffix}", after)
    status, [entry] = run(one, "--against", two, *more)
    return status, entry


@pytest.mark.parametrize(
    ("before", "after", "options", "verdict", "words"),
    [
        (ENDLESS, FINE, ("--timeout", "3"), "unsupported", "only the original program did not finish in time"),
        (FINE, ENDLESS, ("--timeout", "3"), "changed", "only the migrated program did not finish in time: it was stop"),
        (ENDLESS, ENDLESS, ("--timeout", "3"), "unsupported", "stopped after 3.0 s, before the migration and after it"),
        (GREEDY, FINE, ("--memory", "100"), "unsupported", "ran out of memory"),
        (FINE, GREEDY, ("--memory", "100"), "changed", "ran out of memory"),
        (FINE, GREEDY.replace("print", "kept.clear(); print"), ("--memory", "4000"), "changed", "results differ"),
    ],
    ids=[
        "before endless",
        "after endless",
        "both endless",
        "before greedy",
        "after greedy",
        "enough memory is not a limit",
    ],
)
@pytest.mark.few("after endless", "both endless", "before greedy")
def test_limits(tmp_path: Path, before: str, after: str, options: tuple[str, ...], verdict: str, words: str) -> None:
    started = time.monotonic()
    status, entry = against(tmp_path, before, after, *options)
    assert (status, entry["verdict"]) == (1, verdict), entry
    assert words in entry["reason"]
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("before", "after", "verdict", "words"),
    [
        (CRASHING_CPP, CRASHING_CPP, "not run", "SIGSEGV"),
        (FINE_CPP, CRASHING_CPP, "changed", "SIGSEGV"),
        (CRASHING_CPP, FINE_CPP, "changed", "SIGSEGV before"),
        (FINE_CPP, FINE_CPP.replace("torch::ones({2})", "torch::ones({2}) +"), "changed", "does not compile"),
        (FINE_CPP.replace("main", "helper"), FINE_CPP, "unsupported", "no main()"),
        (FINE_CPP.replace("torch::ones({2});", "torch::no_such_thing({2});"), FINE_CPP, "unsupported", "no_such_thing"),
        (FINE_CPP.replace("{2});", "{2})"), FINE_CPP, "unsupported", "one.cpp:"),
    ],
    ids=[
        "both crash", "after crashes", "before crashes", "after does not compile", "no main", "name missing",
        "before does not compile",
    ],
)  # fmt: skip
@pytest.mark.thorough
def test_broken_cpp(tmp_path: Path, before: str, after: str, verdict: str, words: str) -> None:
    _, entry = against(tmp_path, before, after, suffix=".cpp")
    assert entry["verdict"] == verdict, entry
    assert words in entry["reason"]


def test_random_numbers_that_nobody_seeded_are_the_same_in_each_run(tmp_path: Path) -> None:
    text = (
        "import random\nimport numpy\nimport torch\nmodel = torch.nn.Linear(3, 2)\nwith torch.no_grad():\n"
        "    print(model(torch.randn(1, 3)), random.random(), numpy.random.rand())\n"
    )
    _, entry = against(tmp_path, text, text.replace("no_grad", "inference_mode"))
    assert entry["verdict"] == "same", entry
    cpp = (
        "#include <torch/torch.h>\n#include <iostream>\n"
        "int main() { c10::InferenceMode guard; std::cout << torch::rand({3}); }\n"
    )
    _, entry = against(tmp_path, cpp, cpp, suffix=".cpp")
    assert entry["verdict"] == "same", entry


def test_a_program_that_prints_for_ever(tmp_path: Path) -> None:
    _, entry = against(tmp_path, IMPORT + "while True: print('x' * 100000)\n", FINE, "--timeout", "20")
    assert entry["verdict"] == "unsupported"
    assert "prints endlessly" in entry["reason"]


@pytest.mark.thorough
def test_a_program_that_is_stopped_has_its_own_guards_alone(tmp_path: Path) -> None:
    """What it has imported it can't say any more."""
    guarded = "with torch.inference_mode(), torch.no_grad():\n    torch.ones(2).sum()\n"
    write(tmp_path, "endless.py", f"{IMPORT}{guarded}while True: pass\n")
    write(tmp_path, "fine.py", IMPORT + guarded)
    status, entries = run(tmp_path, "--timeout", "3")
    assert status == 1
    assert {
        Path(entry["filename"]).name: (entry["verdict"], [Path(guard["filename"]).name for guard in entry["guards"]])
        for entry in entries
    } == {"endless.py": ("unsupported", ["endless.py"]), "fine.py": ("same", ["fine.py"])}


@pytest.mark.thorough
def test_unsupported_can_be_allowed(tmp_path: Path) -> None:
    _, entry = against(tmp_path, "import torch\ntorch.no_such\n", FINE, "--allow-unsupported")
    assert entry["verdict"] == "changed"  # no name of PyTorch's: the program's own mistake
    status, entry = against(tmp_path, "import torch, no_such_module\n", FINE, "--allow-unsupported")
    assert (status, entry["verdict"], entry["reason"]) == (1, "not run", "no_such_module isn't installed")
    status, entry = against(tmp_path, "import torch.onnx\ntorch.onnx.export(1)\n", FINE, "--allow-unsupported")
    assert (status, entry["verdict"]) == (0, "unsupported")


def test_no_program_is_no_success(tmp_path: Path) -> None:
    write(tmp_path, "library.cpp", "int add(int a, int b) { return a + b; }\n")
    write(tmp_path, "library.py", "import torch\ndef f(): return torch.ones(2)\n")
    assert run(tmp_path)[0] == 2


def test_no_compiler_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    program = write(tmp_path, "one.cpp", LEGACY_CPP)
    done = CliRunner().invoke(command, [str(program), "--isolated"])
    assert done.exit_code == 2
    assert "no-such-compiler" in done.stderr


@pytest.mark.thorough
def test_a_migrated_header_counts(tmp_path: Path) -> None:
    """The guard stands in a header of another folder of the tree; the program that includes it is run."""
    (tmp_path / "include").mkdir()
    write(
        tmp_path / "include",
        "predict.h",
        "#pragma once\n#include <torch/script.h>\n"
        "inline at::Tensor predict(torch::jit::Module& model, const at::Tensor& x) {\n"
        "  at::AutoNonVariableTypeMode guard(true);\n  return model.forward({x}).toTensor();\n}\n"
        "inline at::Tensor scale(const at::Tensor& x) {\n"
        "  at::AutoNonVariableTypeMode guard(true);\n  return x * 2;\n}\n",
    )
    write(
        tmp_path,
        "main.cpp",
        "#include <predict.h>\n#include <iostream>\nint main() {\n  auto y = scale(torch::ones({2}));\n"
        "  std::cout << y.is_inference() << std::endl;\n}\n",
    )
    _, [entry] = run(tmp_path, "--include", tmp_path / "include")
    assert entry["filename"].endswith("main.cpp")
    assert entry["before"]["stdout"] == "0\n"
    assert entry["after"] is not None


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.thorough
def test_what_a_program_writes_goes_to_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "data.txt", "7")
    text = (
        "import tempfile, torch\nwith torch.no_grad():\n    value = torch.tensor(float(open('data.txt').read()))\n"
        "open('result.txt', 'w').write(str(value.item()))\nopen('data.txt', 'a').write('1')\n"
        "tempfile.mkstemp()\nprint(value)\n"
    )
    one = write(tmp_path, "one.py", text)
    two = write(tmp_path, "two.py", text.replace("no_grad", "inference_mode"))
    monkeypatch.chdir(tmp_path)
    before = tree(tmp_path)
    status, [entry] = run(one, "--against", two)
    assert (status, entry["verdict"]) == (0, "same"), entry
    assert tree(tmp_path) == before


def children() -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.add(int(entry.name))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("rounds", [3, 10])
def test_nothing_is_left_behind(tmp_path: Path, cache: Path, rounds: int) -> None:
    """Run after run: no file, no process, no open descriptor, no growth."""
    program = write(tmp_path, "one.cpp", LEGACY_CPP)
    forking = write(
        tmp_path, "two.py", IMPORT + "import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint(torch.ones(1))\n"
    )
    assert run(program)[0] == 0
    assert run(forking, "--against", forking)[0] == 0
    wait_for_headers(cache)
    assert run(program)[0] == 0
    before = tree(tmp_path), tree(cache), children(), len(os.listdir("/proc/self/fd"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(rounds):
        assert run(program)[0] == 0
        assert run(forking, "--against", forking)[0] == 0
    assert (tree(tmp_path), tree(cache), children(), len(os.listdir("/proc/self/fd"))) == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 20_000  # kB
    assert not (cache / "verify").exists()


def wait_for_headers(cache: Path) -> None:
    """Until the header is precompiled that the first program has begun with."""
    deadline = time.monotonic() + 60
    while list(cache.glob("programs/unfinished/*")) and time.monotonic() < deadline:
        time.sleep(0.05)


def running(argument: str) -> int:
    """How many processes have the argument."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += argument.encode() in (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["interrupted", "terminated"])
@pytest.mark.few("interrupted")
def test_a_stopped_run_cleans_up(tmp_path: Path, cache: Path, number: int) -> None:
    seconds = f"4711.{os.getpid()}{number:02}"  # no other run of this test looks for it
    text = f"import subprocess, torch\nprint(torch.ones(1))\nsubprocess.run(['sleep', '{seconds}'])\n"
    program = write(tmp_path, "one.py", text)
    process = subprocess.Popen(
        [sys.executable, "-m", "guardfix", "verify", str(program), "--against", str(program)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A shell starts what it puts in the background with interrupts ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while running(seconds) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(seconds) == 2
    process.send_signal(number)
    assert process.wait(30) != 0
    time.sleep(0.2)
    assert running(seconds) == 0
    assert not (cache / "verify").exists()
