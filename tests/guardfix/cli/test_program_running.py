"""`guardfix run FILE ARG...` without options, which goes without click and leaves by C's `exit`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.cli.program_running import plain_program
from hostile_texts import ACTS, harm_in

PROGRAM = """\
#include <torch/torch.h>
#include <cstdlib>
#include <iostream>
struct Last {
  torch::Tensor kept;
  ~Last() { std::cout << "destroyed " << kept.sum().item<float>() << std::endl; }
};
static Last last;
int main(int argc, char** argv) {
  last.kept = torch::ones({3});
  std::atexit([] { std::cout << "at exit\\n"; });
  for (int i = 1; i < argc; ++i) std::cout << argv[i] << "\\n";
  std::cout << "not a whole line";
  return argc;
}
"""


def guardfix_run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "guardfix", "run", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.cpp").write_text("int main() {}\n")
    Path("a.py").write_text("")
    return "a.cpp"


@pytest.mark.parametrize(
    ("arguments", "plain"),
    [
        pytest.param(["a.cpp"], (), id="a file"),
        pytest.param(["a.cpp", "x", "3"], ("x", "3"), id="its arguments"),
        pytest.param(["a.cpp", "--", "-x", "--trace"], ("-x", "--trace"), id="behind two dashes, dashes are its own"),
        pytest.param(["a.cpp", "--"], (), id="nothing behind two dashes"),
        pytest.param([], None, id="nothing"),
        pytest.param(["--trace", "a.cpp"], None, id="an option"),
        pytest.param(["a.cpp", "--trace"], None, id="an option behind the file"),
        pytest.param(["a.cpp", "x", "--", "-x"], None, id="two dashes behind an argument"),
        pytest.param(["--help"], None, id="help"),
        pytest.param(["a.py"], None, id="a Python program ends as the interpreter does"),
        pytest.param(["b.cpp"], None, id="a file that is not there"),
        pytest.param(["."], None, id="a folder"),
    ],
)
def test_what_goes_without_click(file: str, arguments: list[str], plain: tuple[str, ...] | None) -> None:
    assert plain_program(arguments) == (None if plain is None else (Path(file), plain))


def test_the_end_of_a_program_is_that_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(PROGRAM)
    done = guardfix_run("a.cpp", "--", "-x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == "-x\nnot a whole lineat exit\ndestroyed 3\n"


@pytest.mark.parametrize(
    ("text", "status", "error"),
    [
        pytest.param("int helper() { return 0; }\n", 2, "a.cpp defines no main()", id="no main"),
        pytest.param("int main() { return }\n", 2, "guardfix run: ", id="it does not compile"),
        pytest.param("#include <stdexcept>\nint main() { return 0; }\n", 0, "", id="none of our headers"),
        pytest.param(
            '#include <torch/torch.h>\nint main() { TORCH_CHECK(false, "no such luck"); }\n',
            -6,
            "no such luck",
            id="an exception leaves main",
        ),
    ],
)
def test_errors(tmp_path: Path, text: str, status: int, error: str) -> None:
    (tmp_path / "a.cpp").write_text(text)
    done = guardfix_run("a.cpp", cwd=tmp_path)
    assert (done.returncode, error in done.stderr, bool(error) == bool(done.stderr)) == (status, True, True), (
        done.stderr
    )


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")
def test_a_header_that_is_not_found(tmp_path: Path) -> None:
    hint = "Name the folder that net.h is in with `--include`.\n"
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "net.h").write_text("inline int answer() { return 3; }\n")
    (tmp_path / "main.cpp").write_text('#include "net.h"\nint main() { return answer(); }\n')
    (tmp_path / "other.cpp").write_text("#include <torch/no_such.h>\nint main() {}\n")
    done = guardfix_run("main.cpp", cwd=tmp_path)
    assert (done.returncode, done.stderr.endswith(hint)) == (2, True)
    assert guardfix_run("main.cpp", "--include", "include", cwd=tmp_path).returncode == 3
    lacking = guardfix_run("other.cpp", cwd=tmp_path)  # one of PyTorch's, which no folder has
    assert (lacking.returncode, "--include" in lacking.stderr) == (2, False)


@pytest.mark.thorough
def test_third_parties_are_found_as_the_system_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "nets.h").write_text("inline int nets() { return FROM_THE_SYSTEM; }\n")
    (tmp_path / "nets.pc").write_text(
        f"Name: nets\nDescription: nets\nVersion: 1\nCflags: -I{tmp_path}/installed\nLibs: -lm\n"
    )
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    text = '#define FROM_THE_SYSTEM 7\n#include <torch/torch.h>\n#include "nets.h"\nint main() { return nets(); }\n'
    (tmp_path / "a.cpp").write_text(text)
    done = guardfix_run("a.cpp", cwd=tmp_path)
    assert done.returncode == 7, done.stderr
    (tmp_path / "nets.h").write_text("inline int nets() { return 8; }\n")
    assert guardfix_run("a.cpp", cwd=tmp_path).returncode == 8  # the one beside the program comes first
    (tmp_path / "a.cpp").write_text(text.replace("nets.h", "nobodys.h"))
    done = guardfix_run("a.cpp", cwd=tmp_path)
    assert (done.returncode, "nobodys.h: No such file" in done.stderr) == (2, True), done.stderr


def test_modules_that_a_compiled_program_goes_without(tmp_path: Path) -> None:
    """Each of them takes milliseconds, and a small program has 200."""
    (tmp_path / "a.cpp").write_text(
        "#include <torch/torch.h>\n#include <iostream>\n"
        "int main() { std::cout << torch::full({3}, 2).mul(2).sum().item<float>() << std::endl; }\n"
    )
    assert guardfix_run("a.cpp", cwd=tmp_path).stdout == "12\n"
    again = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "guardfix", "run", "a.cpp"],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in again.stderr.splitlines()}
    assert "guardfix.runtime_shim.cpp.shim_backend" in imported
    heavy = {"click", "concurrent.futures", "statistics", "guardfix.runtime_shim.nn.functional", "scipy", "ml_dtypes"}
    assert heavy & imported == set()


SAVED = """\
#include <torch/torch.h>

namespace app {
at::Tensor scale(const at::Tensor& x, const at::Tensor& w) {
  return x * w;
}
}  // namespace app

at::Tensor features() {
  c10::InferenceMode guard;
  return torch::relu(torch::ones({3}));
}

int main() {
  auto w = torch::ones({3}, torch::requires_grad());
  app::scale(features(), w);
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="frames are those of glibc")
def test_an_error_of_pytorch_ends_a_program_with_its_frames_and_its_cause(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(SAVED)
    done = guardfix_run("a.cpp", cwd=tmp_path)
    assert done.returncode == -signal.SIGABRT
    lines = done.stderr.splitlines()
    assert lines[0] == "terminate called after throwing an instance of 'c10::Error'"
    assert lines[1].startswith("  what():  Inference tensors cannot be saved for backward.")
    assert lines[3:5] == ["frame #0: app::scale(at::Tensor const&, at::Tensor const&)", "frame #1: main"]
    assert lines[6] == (
        "guardfix: a.cpp:5: `*` must save it for the gradient of `w`; it was made at a.cpp:11, under the guard of "
        "a.cpp:10"
    )
    assert lines[8] == 'guardfix: for what it means, guardfix explain "Inference tensors cannot be saved for backward"'


def test_an_error_of_the_programs_own_ends_it_as_ever(tmp_path: Path) -> None:
    text = '#include <torch/torch.h>\n#include <stdexcept>\nint main() { throw std::runtime_error("no file"); }\n'
    (tmp_path / "a.cpp").write_text(text)
    done = guardfix_run("a.cpp", cwd=tmp_path)
    assert done.returncode == -signal.SIGABRT
    assert done.stderr == "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no file\n"


def test_a_program_that_is_no_python_is_refused_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = (\n")
    done = guardfix_run("a.py", cwd=tmp_path)
    shown = "  File \"a.py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n"
    assert (done.returncode, done.stderr) == (1, shown)


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
@pytest.mark.parametrize("options", [pytest.param((), id="as it is"), pytest.param(("--contain",), id="contained")])
@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        pytest.param("raise ValueError('\x1b[2J')\n", 1, "ValueError: ␛[2J", id="an error"),
        pytest.param("import torch\ntorch.ones(2).backward()\n", 1, "does not require grad", id="one of the shim's"),
        pytest.param("x = (\n", 1, "SyntaxError: ", id="no Python"),
        pytest.param("import warnings\nwarnings.warn('\x9b2J')\n", 0, "<U+009B>2J", id="a warning"),
        pytest.param("x = 1 is 1\n", 0, "SyntaxWarning: ", id="a warning about syntax"),
        pytest.param(
            "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='\x07')\nt.start(); t.join()\n",
            0,
            "Exception in thread ␇:\n",
            id="an error in a thread",
        ),
        pytest.param("import sys\nsys.stderr.write('its own \\x07')\n", 0, "its own \x07", id="what it prints itself"),
    ],
)
@pytest.mark.some(3)
def test_what_is_said_of_a_program_does_not_act(
    tmp_path: Path, options: tuple[str, ...], text: str, status: int, told: str
) -> None:
    name = "".join(map(ACTS.__getitem__, ("escape", "bidi", "blank", "azure", "github"))) + ".py"
    (tmp_path / name).write_text(text)
    done = guardfix_run(*options, name, cwd=tmp_path)
    assert (done.returncode, told in done.stderr) == (status, True), done.stderr
    assert harm_in(done.stderr.replace("its own \x07", "").encode()) == []
