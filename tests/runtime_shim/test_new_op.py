"""An op is one file: planted in a copy of the shim it is found, and what its description doesn't say is refused.

The words are PyTorch's for an op of the same name, which the oracle confirms.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from guardfix.runtime_shim.cpp import op_rows
from guardfix.runtime_shim.dispatch.op_description import OPS
from guardfix.runtime_shim.dispatch.registration import op

ROOT = Path(__file__).parents[2]

PLANTED = '''
"""The logarithm of the sum of exponentials."""

import numpy as np

from ..dispatch.registration import op


@op(
    "logaddexp",
    inplace=True,
    self=lambda grad, self, result: grad * (self - result).exp(),
    other=lambda grad, other, result: grad * (other - result).exp(),
)
def logaddexp(self, other):
    return np.logaddexp(self, other)
'''

OF_A_NEW_NAME = '''
"""The sum of two squares."""

from ..dispatch.registration import op


@op("hypot2", inplace=True, self=lambda grad, self: 2 * grad * self, other=lambda grad, other: 2 * grad * other)
def hypot2(self, other):
    return self * self + other * other
'''

# Expression over `torch`, and what it gives, for a name that PyTorch hasn't.
NEW_NAME = [
    pytest.param("torch.hypot2(x + 3, x + 4).tolist()", "[25.0, 25.0, 25.0]", id="in Python"),
    pytest.param("torch.ops.aten.hypot2(x + 3, x + 4).tolist()", "[25.0, 25.0, 25.0]", id="in torch.ops"),
    pytest.param("(w + 3).hypot2(w + 4).sum().backward() or w.grad.tolist()", "[14.0, 14.0, 14.0]", id="its gradient"),
    pytest.param("traced(torch, x)(x + 3).tolist()", "[18.0, 18.0, 18.0]", id="in a trace"),
    pytest.param("loaded(torch, traced(torch, x))(x + 3).tolist()", "[18.0, 18.0, 18.0]", id="in an archive"),
    pytest.param("torch.jit.script(twice)(x + 3).tolist()", "[18.0, 18.0, 18.0]", id="in TorchScript"),
]

IN_CPP = """
#include <ATen/ATen.h>
#include <iostream>

int main() {
  at::Tensor w = at::full({3}, 3.0).requires_grad_(), x = at::full({3}, 4.0), out = at::empty({3});
  at::hypot2(w, x).sum().backward();
  std::cout << w.hypot2(x).sum().item<double>() << " " << w.grad().sum().item<double>() << " ";
  std::cout << at::hypot2_out(out, x, x).sum().item<double>() << " " << x.hypot2_(x).sum().item<double>() << "\\n";
}
"""

HYPOT2_ROWS = """\
GUARDFIX_OP(FRESH, hypot2, (const Tensor& other), (other))
GUARDFIX_OP(SELF, hypot2_, (const Tensor& other), (other))
"""

# What registers an op, and its rows for C++.
ROWS = [
    pytest.param(OF_A_NEW_NAME, HYPOT2_ROWS, id="a function, a method, and in place"),
    pytest.param(
        '@op("hypot2")\ndef f(self: Array, p: float, n: int, on: bool): ...\n',
        "GUARDFIX_OP(FRESH, hypot2, (double p, int64_t n, bool on), (p, n, on))\n",
        id="numbers",
    ),
    pytest.param('@op("hypot2")\ndef f(self): ...\n', "GUARDFIX_OP(FRESH, hypot2, (), ())\n", id="one tensor"),
    pytest.param('@op("hypot")\ndef f(self, other): ...\n', "", id="a header has the name"),
    pytest.param('@op("hypot2", function=False)\ndef f(self, other): ...\n', "", id="no function"),
    pytest.param('@op("hypot2", **_KIND)\ndef f(self, other): ...\n', "", id="options from elsewhere"),
    pytest.param('@op("hypot2", outputs=_two)\ndef f(self, other): ...\n', "", id="several results"),
    pytest.param('@op("hypot2")\ndef f(self, dim: Ints): ...\n', "", id="a type that C++ spells in several ways"),
    pytest.param('@op("hypot2")\ndef f(self, dim: int = 0): ...\n', "", id="a default"),
]

# Expression over `torch`, and what it gives or how it is refused.
TABLE = [
    pytest.param("torch.logaddexp(x, x).dtype", "torch.float32", id="floating tensors are taken"),
    pytest.param("x.logaddexp(x).tolist() == torch.logaddexp(x, x).tolist()", "True", id="it is a method as well"),
    pytest.param("torch.logaddexp(x, x.double()).dtype", "torch.float64", id="dtypes are promoted"),
    pytest.param("torch.logaddexp(x, n).dtype", "torch.float32", id="an integer tensor is promoted"),
    pytest.param("torch.logaddexp(input=x, other=x).shape", "torch.Size([3])", id="by keyword"),
    pytest.param("'logaddexp' in dir(torch)", "True", id="it is listed"),
    pytest.param("w.logaddexp(w).sum().backward() or w.grad.sum().item()", "3.0", id="it has its gradient"),
    pytest.param("type(torch.logaddexp(w, w).grad_fn).__name__", "'LogaddexpBackward0'", id="its node has its name"),
    pytest.param(
        "torch.logaddexp(n, n)",
        "NotImplementedError: \"logaddexp_cpu\" not implemented for 'Long'",
        id="integers are refused",
    ),
    pytest.param(
        "torch.logaddexp(n.bool(), n.bool())",
        "NotImplementedError: \"logaddexp_cpu\" not implemented for 'Bool'",
        id="bools are refused",
    ),
    pytest.param(
        "torch.logaddexp(x, 2)",
        "TypeError: logaddexp(): argument 'other' (position 2) must be Tensor, not int",
        id="a number is refused",
    ),
    pytest.param(
        "x.logaddexp(2.5)",
        "TypeError: logaddexp(): argument 'other' (position 1) must be Tensor, not float",
        id="a number is refused by the method",
    ),
    pytest.param(
        "torch.logaddexp([1.0], x)",
        "TypeError: logaddexp(): argument 'input' (position 1) must be Tensor, not list",
        id="a list is refused",
    ),
    pytest.param(
        "torch.logaddexp(x)",
        'TypeError: logaddexp() missing 1 required positional arguments: "other"',
        id="an argument that is missing",
    ),
    pytest.param(
        "torch.logaddexp(x, torch.ones(2))",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
        id="shapes that do not go together",
    ),
    pytest.param("torch.logaddexp(x, x, out=x.double()).dtype", "torch.float64", id="out= is cast to"),
    pytest.param(
        "torch.logaddexp(x, x, out=torch.zeros(3).long())",
        "RuntimeError: result type Float can't be cast to the desired output type Long",
        id="out= of integers is refused",
    ),
    pytest.param(
        "torch.logaddexp(w, w, out=torch.zeros(3))",
        "RuntimeError: logaddexp(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad.",
        id="out= with a gradient is refused",
    ),
    pytest.param(
        "torch.logaddexp(y[:3], y[:3], out=y[1:])",
        "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
        "single memory location. Please clone() the tensor before performing the operation.",
        id="out= that overlaps an input in part is refused",
    ),
    pytest.param(
        "y[:3].logaddexp_(y[1:])",
        "RuntimeError: unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
        "single memory location. Please clone() the tensor before performing the operation.",
        id="in place over a part of an input is refused",
    ),
    pytest.param(
        "n.logaddexp_(x)",
        "RuntimeError: result type Float can't be cast to the desired output type Long",
        id="in place into integers is refused",
    ),
]

OBSERVE = """
import importlib, io, json, sys
torch = importlib.import_module(sys.argv[1])

def twice(a):
    return torch.hypot2(a, a)

def traced(torch, x):
    return torch.jit.trace(twice, (x + 1,))

def loaded(torch, module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)

seen = []
for expression in json.loads(sys.argv[2]):
    names = {
        "torch": torch, "x": torch.zeros(3), "y": torch.zeros(4), "n": torch.tensor([1, 2, 3]),
        "w": torch.zeros(3, requires_grad=True), "traced": traced, "loaded": loaded, "twice": twice,
    }
    try:
        seen.append(repr(eval(expression, names)))
    except Exception as error:
        seen.append(f"{type(error).__name__}: {error}")
print(json.dumps(seen))
"""


def outcomes(module: str, folder: Path, rows: list[Any] = TABLE) -> dict[str, str]:
    """What each expression of the table gives, with the packages below `folder` (none of them for PyTorch)."""
    expressions = [str(row.values[0]) for row in rows]
    # PyTorch's logaddexp has no form in place.
    (folder / "observe.py").write_text(OBSERVE, encoding="utf-8")  # a script is compiled from its file
    asked = [e.replace("logaddexp_", "hypot_") if module == "torch" else e for e in expressions]
    done = subprocess.run(
        [sys.executable, "observe.py", module, json.dumps(asked)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(expressions, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("planted")
    package = folder / "guardfix"
    package.mkdir()
    (package / "__init__.py").touch()
    ignored = shutil.ignore_patterns("__pycache__", "include")
    shutil.copytree(ROOT / "runtime_shim", package / "runtime_shim", ignore=ignored)
    # The shim's own one takes another name, since an op doesn't take the name of another.
    own = package / "runtime_shim/aten/two_operands.py"
    text = own.read_text(encoding="utf-8")
    assert text.count('@op(\n    "logaddexp",') == 1
    own.write_text(text.replace('"logaddexp",', '"not_logaddexp",'), encoding="utf-8")
    (package / "runtime_shim" / "aten" / "logaddexp.py").write_text(PLANTED, encoding="utf-8")
    (package / "runtime_shim" / "aten" / "hypot2.py").write_text(OF_A_NEW_NAME, encoding="utf-8")
    for tables in ("torch_ops", "pytorch_messages"):
        shutil.copytree(ROOT / "guardfix" / tables, package / tables, ignore=ignored)
    return outcomes("guardfix.runtime_shim", folder, [*TABLE, *NEW_NAME])


@pytest.mark.parametrize(("expression", "expected"), NEW_NAME)
def test_an_op_is_one_file(planted: dict[str, str], expression: str, expected: str) -> None:
    assert planted[expression] == expected


@pytest.mark.parametrize(("text", "rows"), ROWS)
def test_an_op_that_no_header_names_has_rows_for_cpp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, rows: str
) -> None:
    (tmp_path / "hypot2.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(op_rows, "ATEN", tmp_path)
    assert op_rows.rows_of_new_ops([ROOT / "runtime_shim/cpp/include/ATen/core/ops.def"]) == rows


@pytest.mark.thorough
def test_an_op_is_one_file_in_cpp_too(tmp_path: Path) -> None:
    for package in ("runtime_shim", "guardfix/torch_ops", "guardfix/pytorch_messages"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / "guardfix" / Path(package).name, ignore=ignored)
    (tmp_path / "guardfix" / "__init__.py").touch()
    (tmp_path / "guardfix/runtime_shim/aten/hypot2.py").write_text(OF_A_NEW_NAME, encoding="utf-8")
    (tmp_path / "program.cpp").write_text(IN_CPP, encoding="utf-8")
    command = [
        sys.executable,
        "-c",
        "from pathlib import Path; from guardfix.runtime_shim.cpp import run_cpp; run_cpp(Path('program.cpp'))",
    ]
    environment = {**os.environ, "GUARDFIX_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("75 18 96 96\n", "")


@pytest.mark.parametrize(("expression", "expected"), TABLE)
def test_an_op_that_says_nothing_refuses(planted: dict[str, str], expression: str, expected: str) -> None:
    assert planted[expression] == expected


@pytest.fixture(scope="module")
def of_pytorch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("torch")
    return outcomes("torch", tmp_path_factory.mktemp("pytorch"))


@pytest.mark.oracle
@pytest.mark.parametrize(("expression", "expected"), TABLE)
def test_pytorch_refuses_in_these_words(of_pytorch: dict[str, str], expression: str, expected: str) -> None:
    assert of_pytorch[expression] == expected


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(OPS["hypot"])])
def test_a_description_does_not_change(field: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(OPS["hypot"], field, None)


MISTAKEN = [
    pytest.param(
        {"self": lambda grad, other: grad},
        "the gradient of f asks for 'other', which is not a parameter of the op",
        id="a gradient that asks for what is not there",
    ),
    pytest.param(
        {"sefl": lambda grad: grad},
        r"f: 'sefl' is neither an option of op\(\) nor a parameter, which are self, axis",
        id="a gradient of what is not there",
    ),
    pytest.param(
        {"inplac": True}, r"f: 'inplac' is neither an option of op\(\) nor a parameter", id="an option that is misspelt"
    ),
    pytest.param({"numbers": True}, "f: `numbers` is a tuple of the op's parameters", id="numbers is not a tuple"),
    pytest.param({"numbers": ("self")}, "f: `numbers` is a tuple of the op's parameters", id="nor one name"),
    pytest.param(
        {"lists": ("tensors",)}, "f: `lists` is a tuple of the op's parameters", id="a list that is no parameter"
    ),
    pytest.param({"computes": "fc"}, "f: `computes` is a Computes, such as ANY_DTYPE", id="kinds as a text"),
]


@pytest.mark.parametrize(("said", "reason"), MISTAKEN)
def test_a_description_that_means_nothing_is_an_error_of_the_file(said: dict[str, Any], reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        op("f", function=False, method=False, **said)(lambda self, axis=None: self)
    assert "f" not in OPS


def test_an_op_does_not_take_the_name_of_another() -> None:
    known = OPS["log"]
    with pytest.raises(ValueError, match="test_new_op registers log, but there is an op of that name already"):
        op("log")(lambda self: self)
    assert OPS["log"] is known
