"""A little of everything, in ten seconds: `make smoke`, or `pytest -m smoke`.

Each command, each front end, a fix of each applicability in both languages, and the shim under Python and under C++.
What is checked here is checked more closely elsewhere; this tells within seconds that something is badly wrong.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from guardfix.cli.main import cli

pytestmark = pytest.mark.smoke

KERNEL = """\
#include <torch/torch.h>

struct Scale : torch::autograd::Function<Scale> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoNonVariableTypeMode g;
    return at::mul(x, 2);
  }
};
"""
MIGRATED_KERNEL = KERNEL.replace("at::AutoNonVariableTypeMode", "at::AutoDispatchBelowADInplaceOrView")
TEMPORARY = "#include <torch/torch.h>\nvoid f(at::Tensor x) {\n  torch::NoGradGuard();\n  x.add_(1);\n}\n"
STATIC_API = "bool f() { return at::NonVariableTypeMode::is_enabled(); }\n"
UNCALLED = "import torch\n\nwith torch.no_grad:\n    print(torch.ones(2))\n"
ASYNC = "import torch\n\n@torch.no_grad()\nasync def f(x):\n    return x * 2\n"
ESCAPE = "import torch\n\nwith torch.inference_mode():\n    x = torch.ones(2)\nx.add_(1)\n"
EMBEDDED = f'import torch\n\nSOURCE = r"""\n{KERNEL}"""\n'
CLEAN = "int main() { return 0; }\n"


def guardfix(*arguments: str | Path) -> Result:
    outcome = CliRunner().invoke(cli, [*map(str, arguments)])
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
    return outcome


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "code", "applicability"),
    [
        pytest.param("a.cpp", KERNEL, "GF101", "safe", id="C++, safe"),
        pytest.param("a.cpp", TEMPORARY, "GF201", "unsafe", id="C++, unsafe"),
        pytest.param("a.cpp", STATIC_API, "GF104", "display", id="C++, display"),
        pytest.param("a.cu", KERNEL, "GF101", "safe", id="CUDA"),
        pytest.param("a.py", UNCALLED, "GF403", "safe", id="Python, safe"),
        pytest.param("a.py", ASYNC, "GF401", "unsafe", id="Python, unsafe"),
        pytest.param("a.py", ESCAPE, "GF501", "display", id="Python, display"),
        pytest.param("a.py", EMBEDDED, "GF105", "safe", id="C++ in Python"),
        pytest.param("a.md", f"```cpp\n{KERNEL}```\n", "GF105", "display", id="C++ in Markdown"),
        pytest.param("a.cpp", CLEAN, None, None, id="nothing"),
    ],
)
def test_check(folder: Path, name: str, text: str, code: str | None, applicability: str | None) -> None:
    (folder / name).write_text(text)
    outcome = guardfix("check", "--isolated", "--include-docs", "--output-format", "json", ".")
    found = [(each["code"], each["fix"]["applicability"]) for each in json.loads(outcome.stdout)]
    assert found == ([(code, applicability)] if code else [])
    assert outcome.exit_code == (1 if code else 0)


def test_migrate_shows_and_writes(folder: Path) -> None:
    (folder / "a.cpp").write_text(KERNEL)
    (folder / "b.py").write_text(ASYNC)
    shown = guardfix("migrate", "--isolated", ".")
    assert shown.exit_code == 1
    assert "+    at::AutoDispatchBelowADInplaceOrView g;" in shown.stdout
    assert (folder / "a.cpp").read_text() == KERNEL
    assert guardfix("migrate", "--isolated", "--apply", ".").exit_code == 0
    assert (folder / "a.cpp").read_text() == MIGRATED_KERNEL
    assert (folder / "b.py").read_text() == ASYNC
    assert guardfix("check", "--isolated", "--fix", "--unsafe", ".").exit_code == 0
    assert (folder / "b.py").read_text() != ASYNC
    assert guardfix("check", "--isolated", ".").exit_code == 0


def test_rules_and_explain() -> None:
    assert "GF101  legacy-guard" in guardfix("rules").stdout
    assert guardfix("explain", "legacy-guard").stdout.startswith("GF101 legacy-guard: ")


def test_every_command_has_help() -> None:
    names = cli.list_commands(cli.make_context("guardfix", ["--help"], resilient_parsing=True))
    assert set(names) >= {"check", "migrate", "verify", "run", "rules", "explain"}
    for name in names:
        assert guardfix(name, "--help").stdout.startswith(f"Usage: cli {name}")


def test_the_real_process(folder: Path) -> None:
    (folder / "a.cpp").write_text(KERNEL)
    command = [sys.executable, "-m", "guardfix", "check", "a.cpp"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stderr) == (1, "")
    assert outcome.stdout.startswith("a.cpp:5:5: GF101 [*] ")


def test_the_shim() -> None:
    torch = importlib.import_module("guardfix.runtime_shim")
    weight = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        inferred = torch.ones(2)
    (weight * 3).sum().backward()
    assert weight.grad.tolist() == [3.0, 3.0]
    assert inferred.is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        inferred.add_(1)


# Running programs is for systems with POSIX processes, and for C++ also with the GNU linker.
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="programs are run on POSIX systems")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="C++ programs are run on Linux")


@needs_posix
def test_verify_runs_a_python_program(folder: Path) -> None:
    (folder / "before.py").write_text(ESCAPE.replace("inference_mode", "no_grad"))
    (folder / "after.py").write_text(ESCAPE)
    outcome = guardfix("verify", "--isolated", "before.py", "--against", "after.py", "--output-format", "json")
    assert [entry["verdict"] for entry in json.loads(outcome.stdout)] == ["stricter"]
    assert outcome.exit_code == 1


@needs_linux
def test_run_compiles_and_runs_a_cpp_program(folder: Path) -> None:
    (folder / "a.cpp").write_text(
        "#include <c10/core/InferenceMode.h>\n#include <cstdio>\n"
        'int main() { c10::InferenceMode guard; std::printf("%d\\n", c10::InferenceMode::is_enabled()); return 3; }\n'
    )
    command = [sys.executable, "-m", "guardfix", "run", "a.cpp"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stdout) == (3, "1\n"), outcome.stderr
