"""`verify --missing`: all names that the shim lacks, at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.verify.programs.missing_names import missing_python_names

PYTHON = {
    "a function": ("import torch\ntorch.sparse_coo_tensor(x)", ["torch.sparse_coo_tensor"]),
    "under another name": ("import torch as t\nt.sparse_coo_tensor(x)", ["torch.sparse_coo_tensor"]),
    "a module of PyTorch's": ("import torch.sparse as sparse\nsparse.mm(f, f)", ["torch.sparse"]),
    "from a module": ("from torch.sparse import addmm, mm", ["torch.sparse"]),
    "a module that dir(torch) doesn't list": ("import torch\nimport torch.onnx\ntorch.onnx.export(m)", ["torch.onnx"]),
    "a module below one of these": ("from torch.onnx import symbolic_helper", ["torch.onnx"]),
    "a module that dir(torch.utils) doesn't list": ("from torch.utils import show_pickle", ["torch.utils.show_pickle"]),
    "such a module, as an attribute": ("import torch\ntorch.onnx.export(m, x)", ["torch.onnx"]),
    "a layer": ("from torch import nn\nnn.CrossMapLRN2d(2)\nnn.CrossMapLRN2d(3)", ["torch.nn.CrossMapLRN2d"]),
    "a method by its class": ("import torch\ntorch.Tensor.sspaddmm(x)", ["torch.Tensor.sspaddmm"]),
    "two names": (
        "import torch\ntorch.sparse_coo_tensor(torch.lobpcg(x))",
        ["torch.lobpcg", "torch.sparse_coo_tensor"],
    ),
    "what is there": ("import torch\nimport torch.nn.functional as F\nF.relu(torch.ones(2)).sum()", []),
    "a result's attribute": ("import torch\ntorch.ones(2).sum().nothing_like_it", []),
    "a misspelt name": ("import torch\nfrom torch import nn\ntorch.onse(2)\nnn.Lineaar(2)", []),
    "a misspelt module": ("import torch.onxx\nfrom torch.utils.show_pickel import main", []),
    "another's module": ("from .torch import fft\nimport torchvision", []),
    "ops that a library registers": ("import torch\ntorch.ops.my.op(1)", []),
    "no Python": ("import torch\nif", []),
}


@pytest.mark.parametrize("case", PYTHON)
def test_python(case: str) -> None:
    text, names = PYTHON[case]
    assert sorted(missing_python_names(text)) == names


@pytest.mark.parametrize("form", ["text", "json"])
def test_command(tmp_path: Path, form: str) -> None:
    (tmp_path / "a.py").write_text("import torch\ntorch.lobpcg(torch.sparse_coo_tensor(x))\n")
    (tmp_path / "b.py").write_text("import torch\ntorch.lobpcg(x)\n")
    (tmp_path / "c.py").write_text("import torch\ntorch.ones(2)\n")
    (tmp_path / "d.py").write_text("print('nothing of it')\n")
    done = CliRunner().invoke(command, ["--missing", str(tmp_path), "--isolated", "--output-format", form])
    assert done.exit_code == 1
    if form == "json":
        found = json.loads(done.stdout)
        assert list(found["missing"]) == ["torch.lobpcg", "torch.sparse_coo_tensor"]
        assert found["files"] == 3
        return
    assert done.stdout.splitlines() == [
        f"torch.lobpcg: 2 files ({tmp_path}/a.py, {tmp_path}/b.py)",
        f"torch.sparse_coo_tensor: 1 file ({tmp_path}/a.py)",
    ]
    assert done.stderr == "2 names missing, in 2 of 3 files with torch.\n"


def test_nothing_is_missing(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text("import torch\ntorch.ones(2)\n")
    done = CliRunner().invoke(command, ["--missing", str(tmp_path), "--isolated"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "Nothing is missing: 1 file with torch checked.\n"


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
@pytest.mark.thorough
def test_files_that_get_torch_through_a_header(tmp_path: Path) -> None:
    for name, text in (
        ("setup.py", ""),
        ("include/mine/common.h", "#pragma once\n#include <mine/base.h>\n"),
        ("include/mine/base.h", "#pragma once\n#include <ATen/ATen.h>\n"),
        ("src/lacks.cpp", "#include <mine/common.h>\nat::Tensor f(at::Tensor x) { return at::no_such_op(x); }\n"),
        ("src/fine.cpp", "#include <mine/common.h>\nat::Tensor g(at::Tensor x) { return x * 2; }\n"),
        ("src/other.cpp", "#include <vector>\nint h() { return 1; }\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = CliRunner().invoke(command, ["--missing", str(tmp_path), "--isolated", "--output-format", "json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["files"]) == (1, 2)
    assert (found["missing"], found["refused"]) == ({"at::no_such_op": [str(tmp_path / "src/lacks.cpp")]}, {})


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_what_does_not_compile_is_not_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.cpp").write_text("#include <ATen/ATen.h>\nint f() { return 1 }\n")
    done = CliRunner().invoke(command, ["--missing", str(tmp_path), "--isolated"])
    assert done.exit_code == 1
    assert done.stdout.startswith(f"{tmp_path}/broken.cpp does not compile: ")
    assert done.stderr == (
        "No name is known to be missing; of 1 file with torch, 1 file can't be checked, as it does not compile.\n"
    )
