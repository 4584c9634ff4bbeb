"""What a name means: imports, aliases, scopes; and what is not worth parsing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import FIXTURES
from guardfix.linter.engine import Options, check
from guardfix.linter.frontends.python.python_look import may_matter

NAMES = [
    ("import torch", "torch.no_grad", True),
    ("import torch as t", "t.no_grad", True),
    ("import torch.nn", "torch.no_grad", True),
    ("import torch.nn as torch", "torch.no_grad", False),
    ("from torch import no_grad", "no_grad", True),
    ("from torch import no_grad as ng", "ng", True),
    ("from torch import *", "no_grad", True),
    ("from torch.autograd import no_grad", "no_grad", True),
    ("from torch.autograd.grad_mode import no_grad", "no_grad", True),
    ("from torch import autograd", "autograd.no_grad", True),
    ("import torch.autograd as ag", "ag.grad_mode.no_grad", True),
    ("import guardfix.runtime_shim as torch", "torch.no_grad", True),
    ("from guardfix.runtime_shim import no_grad", "no_grad", True),
    ("import torch\nguard = torch.no_grad", "guard", True),
    ("import torch\nfirst = torch\nsecond = first.no_grad", "second", True),
    ("torch = pytest.importorskip('torch')", "torch.no_grad", True),
    ("torch, nn = try_import_torch()", "torch.no_grad", True),
    ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch.no_grad", True),
    ("if fast:\n    from torch import inference_mode as g\nelse:\n    from torch import no_grad as g", "g", True),
    ("import paddle", "paddle.no_grad", False),
    ("import mindtorch as torch", "torch.no_grad", False),
    ("import jax.numpy as torch", "torch.no_grad", False),
    ("from paddle import no_grad", "no_grad", False),
    ("from paddle import *", "no_grad", False),
    ("from tinygrad import Tensor", "Tensor.no_grad", False),
    ("import torch\ndef no_grad(): ...", "no_grad", False),
    ("import torch\nguard = torch.no_grad if fast else other", "guard", False),
    ("import torch\nguard = torch.no_grad\nguard = other", "guard", False),
    ("import torch\nfor guard in guards: pass", "guard", False),
    ("no_grad = no_grad", "no_grad", False),
    ("a = b\nb = a", "a.no_grad", False),
]


@pytest.mark.parametrize(
    ("imports", "name", "is_guard"), NAMES, ids=[f"{i} | {n}".replace("\n", "; ") for i, n, _ in NAMES]
)
def test_names_resolve_through_imports_and_aliases(imports: str, name: str, is_guard: bool, tmp_path: Path) -> None:
    path = tmp_path / "names.py"
    path.write_text(f"{imports}\n\n\ndef run():\n    with {name}:\n        pass\n")
    codes = [finding.code for finding in check([str(path)], Options(select=("GF403",), workers=1)).findings]
    assert codes == (["GF403"] if is_guard else [])


SHADOWED = [
    pytest.param(
        "def f(g):\n    if (guard := g()):\n        with guard:\n            pass\n", id="by an assignment expression"
    ),
    pytest.param("x = [guard := g for g in guards]\nwith guard:\n    pass\n", id="by one in a comprehension"),
    pytest.param(
        "def f(x):\n    match x:\n        case {'key': guard}:\n            with guard:\n                pass\n",
        id="by a capture of a pattern",
    ),
    pytest.param(
        "def f(x):\n    match x:\n        case [*guard] | {**guard} | (1 as guard):\n"
        "            with guard:\n                pass\n",
        id="by a rest of a pattern",
    ),
    pytest.param(
        "def f():\n    try:\n        g()\n    except* E as guard:\n        with guard:\n            pass\n",
        id="by except*",
    ),
    pytest.param(
        "def prepare():\n    global guard\n    guard = nullcontext()\n\ndef f():\n    with guard:\n        pass\n",
        id="by a function that declares it global",
    ),
    pytest.param(
        "def f():\n    guard = torch.no_grad\n    def prepare():\n        nonlocal guard\n"
        "        guard = nullcontext()\n    prepare()\n    with guard:\n        pass\n",
        id="by a function that declares it nonlocal",
    ),
]


@pytest.mark.parametrize("text", SHADOWED)
def test_a_shadowed_name_is_no_guard(text: str, tmp_path: Path) -> None:
    path = tmp_path / "names.py"
    path.write_text("import torch\n\nguard = torch.no_grad\n\n" + text)
    assert list(check([str(path)], Options(select=("GF403",), workers=1)).findings) == []


FINE = [
    pytest.param("with torch.no_grad():\n    pass\n", False, id="the usual block"),
    pytest.param("@torch.no_grad()\ndef f(): ...\n", False, id="the usual decorator"),
    pytest.param("@torch.no_grad()\n@staticmethod\n@wraps(f)\ndef f(): ...\n", False, id="above other decorators"),
    pytest.param("# torch.no_grad() is not used\n", False, id="a comment"),
    pytest.param("use_no_grad = my_inference_mode_flag\n", False, id="part of another name"),
    pytest.param("with torch.no_grad():\n    yield 1\n", True, id="a block in a file that yields"),
    pytest.param("with torch.no_grad():\n    await f()\n", True, id="a block in a file that awaits"),
    pytest.param("with torch.no_grad():\n    Thread(target=f).start()\n", True, id="a block in a file with threads"),
    pytest.param(
        "@torch.no_grad()\ndef f():\n    pool.map(g, x)\nclass A(Thread): ...\n", True, id="a class of threads"
    ),
    pytest.param("with torch.no_grad():\n    torch.set_num_threads(1)\n", False, id="the number of threads"),
    pytest.param("@torch.no_grad()\nasync def f(): ...\n", True, id="decorated async def"),
    pytest.param("@torch.no_grad()\nclass A: ...\n", True, id="decorated class"),
    pytest.param("@torch.no_grad()\n@torch.inference_mode()\ndef f(): ...\n", True, id="two guards"),
    pytest.param("with torch.no_grad:\n    pass\n", True, id="not called"),
    pytest.param("torch.no_grad()\n", True, id="a statement"),
    pytest.param("with torch.inference_mode():\n    pass\n", True, id="inference mode"),
    pytest.param("from torch import no_grad\n", True, id="an import that others may use"),
    pytest.param("X = 'AutoNonVariableTypeMode'\n", True, id="the old guard, wherever it stands"),
    pytest.param("with torch.no_grad(): # torch.no_grad\n    pass\n", True, id="twice on a line"),
]


@pytest.mark.parametrize(("text", "matters"), FINE)
def test_only_files_that_can_matter_are_parsed(text: str, matters: bool) -> None:
    assert may_matter(text.encode()) is matters


def test_a_clean_file_costs_no_parser(tmp_path: Path) -> None:
    path = tmp_path / "clean.py"
    path.write_text("import torch\n\n\n@torch.no_grad()\ndef f():\n    pass\n")
    program = (
        "import sys; sys.argv = ['guardfix', 'check', sys.argv[1]]\n"
        "from guardfix.__main__ import main; main()\n"
        "heavy = {'ast', 'libcst', 'click', 'dataclasses', 'tree_sitter', 'numpy'} & set(sys.modules)\n"
        "print(sorted(heavy - set(before)))"
    )
    # What the interpreter and an editable install import by themselves does not count.
    program = "import sys; before = list(sys.modules)\n" + program
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout == "All checks passed (1 file).\n[]\n"


@pytest.mark.thorough
def test_what_is_passed_over_unparsed_has_no_findings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fine = {f"fine{number}.py": str(case.values[0]) for number, case in enumerate(FINE) if not case.values[1]}
    fixtures = {path.name: path.read_text() for path in sorted((FIXTURES / "python").glob("*.py"))}
    for name, text in {**fine, **fixtures}.items():
        (tmp_path / name).write_text(text)
    options = Options(select=("GF1", "GF4", "GF5"), workers=1)

    def found() -> list[tuple[str, str, int]]:
        return [(one.path, one.code, one.span.start) for one in check([str(tmp_path)], options).findings]

    with_the_look = found()
    monkeypatch.setattr("guardfix.linter.frontends.python.python_extraction.may_matter", lambda *_, **__: True)
    assert found() == with_the_look != []
