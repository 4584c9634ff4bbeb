"""What PyTorch has and the shim lacks: it can be named, imported and inherited from, and stops only what uses it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guardfix.runtime_shim.core import supported_names
from guardfix.runtime_shim.cpp.extension_module import bound_to
from guardfix.runtime_shim.extension.cmake_package import write_torch_distribution

BEFORE = "import torch, torch.onnx, torch.nn.utils.prune as prune\nfrom torch.optim import ASGD\n"


@pytest.fixture(autouse=True)
def torch() -> Iterator[None]:
    with bound_to("guardfix.runtime_shim"):
        yield


def run(text: str, name: str = "__main__") -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": name}
    exec(compile(BEFORE + text, "program.py", "exec"), names)
    return names


@pytest.mark.parametrize(
    "text",
    [
        "from torch import ormqr, sparse_coo",
        "from torch.nn.utils.prune import BasePruningMethod, remove",
        "from torch.utils.tensorboard import SummaryWriter",
        "from torch._vmap_internals import _vmap",
        "import torch.distributed.fsdp; from torch.distributed.fsdp import FullyShardedDataParallel",
        "import torch.onnx.symbolic_helper, torch._dynamo.config",
        "f = {torch.orgqr: 1, torch.quint8: 2, torch.sparse.mm: 3}",
        "def f(reduction=torch.distributed.rpc.RpcBackendOptions): pass",
        "from typing import Optional\ndef f(x: Optional[ASGD], y: ASGD | None, z: Optional[torch.orgqr]): pass",
        "def f(x: torch.orgqr | None, y: None | torch.orgqr = None, z: int | torch.orgqr = 1): pass",
        "class Both(torch.nn.Module, torch.optim.ASGD): pass",
        "class Writer(torch.onnx.ONNXProgram, dict): x = torch.sparse.sum",
        "from typing import Protocol\nclass Steps(Protocol):\n  def step(self): ...\nclass Own(ASGD, Steps): pass",
        "class Table(ASGD[int]): step = ASGD.step",
        "def f(x: torch.orgqr[int] = None): pass",
        "assert not isinstance(torch.ones(1), ASGD) and not issubclass(torch.optim.SGD, torch.optim.ASGD)",
        "assert torch.ones(1).layout != torch.sparse_coo and torch.ones(1).dtype not in (torch.quint8, torch.qint8)",
        "assert torch.optim.ASGD is ASGD and torch.nn.modules.pooling.LPPool3d is torch.nn.LPPool3d",
        "from torch.nn.modules.pooling import AvgPool2d; assert AvgPool2d is torch.nn.AvgPool2d",
        "import torch.linalg, torch.nn.modules.loss\ntorch.linalg.norm(torch.ones(2)), torch.nn.modules.loss._Loss()",
        "from torch._dynamo import allow_in_graph, mark_static; allow_in_graph(len); mark_static(torch.ones(1))",
        "assert not torch.profiler.itt.is_available() and not torch.backends.cusparselt.is_available()",
        "try: from torch.onnx import nonsense\nexcept ImportError: pass\nelse: raise AssertionError",
        "try: import torch.nn.utils.nonsense\nexcept ModuleNotFoundError: pass\nelse: raise AssertionError",
        "try: torch.onse\nexcept AttributeError: pass\nelse: raise AssertionError",
        "assert not any(hasattr(torch, name) for name in ('orgqr', 'sparse', 'onse', 'quint8'))",
        "assert not any(hasattr(torch.optim, name) for name in ('ASGD', 'Rprop', 'nonsense'))",
        "try: 1 / 0\nexcept torch.distributed.DistBackendError: raise\nexcept ZeroDivisionError: pass",
        "class Own(torch.distributed.DistBackendError, ValueError): pass\nassert issubclass(Own, Exception)",
        "class Own(ASGD): pass\ntry: Own.typo\nexcept AttributeError: pass\nelse: raise AssertionError",
        "class Lazy:\n  def __getattr__(self, name): return torch.orgqr\ngetattr(Lazy(), 'x')",
        "assert getattr(torch, 'orgqr', None) is None and not hasattr(ASGD, 'step') and callable(torch.orgqr)",
    ],
)
def test_what_does_not_use_it_goes_on(text: str) -> None:
    run(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torch.orgqr(torch.ones(3))", "torch.orgqr"),
        ("ASGD([])", "torch.optim.ASGD"),
        ("class Own(ASGD):\n  def __init__(self): pass\nOwn()", "torch.optim.ASGD"),
        ("class Own(torch.nn.Module, ASGD): pass\nOwn()", "torch.optim.ASGD"),
        ("torch.eye(2).to_sparse()", "torch.Tensor.to_sparse"),
        ("ASGD.step(1)", "torch.optim.ASGD"),
        ("torch.orgqr.default", "torch.orgqr"),
        ("getattr(torch, 'orgqr')", "torch.orgqr"),
        ("getattr(torch.optim, 'Rprop')", "torch.optim.Rprop"),
        ("prune.remove(1, 'weight')", "torch.nn.utils.prune.remove"),
        ("torch.onnx.export(1)", "torch.onnx.export"),
        ("torch.nn.modules.pooling.LPPool3d(2, 1)", "torch.nn.LPPool3d"),
    ],
)
def test_what_uses_it_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"the shim has no {name}(;|$)"):
        run(text)


IMPORTED = """
@torch.utils.benchmark.Timer("x")
def decorated(x): return x
made = ASGD([])
table = torch.orgqr(1)["x"]
class Own(torch.orgqr(1)): pass
class Cases:
    sparse = [torch.eye(n).to_sparse() for n in (1, 2)]
"""


def test_what_a_module_calls_while_it_is_imported_refuses_when_it_is_used() -> None:
    names = run(IMPORTED, "project")
    for used in (
        lambda: names["decorated"](1),
        lambda: names["made"].step(),
        lambda: names["table"] + 1,
        lambda: 2 * names["table"],
        lambda: list(names["table"]),
        lambda: names["Own"](),
        lambda: bool(names["made"]),
        lambda: names["Cases"].sparse[1] * 2,
    ):
        with pytest.raises(NotImplementedError, match="the shim has no torch"):
            used()
    with pytest.raises(NotImplementedError, match=r"the shim has no torch\.utils\.benchmark"):
        run(IMPORTED)  # a script's own code is what it does


def test_a_bound_name_sees_classes_of_others_from_the_start(tmp_path: Path) -> None:
    program = tmp_path / "library.py"
    program.write_text(
        "import torch\n"
        "class Other:\n"
        "    lacking = [torch.ones(1).to_sparse() for _ in (1,)]\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None): return func.__name__\n"
    )
    write_torch_distribution(tmp_path)
    script = "import torch, library; print(torch.inverse(library.Other()), torch.abs(library.Other()))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "inverse abs\n"


def test_a_placeholder_says_what_it_stands_for() -> None:
    found = run("shown = repr(torch.orgqr), torch.onnx.__name__, ASGD.__name__, ASGD.__module__")["shown"]
    assert found == ("<torch.orgqr, which the shim has not>", "torch.onnx", "ASGD", "torch.optim")


@pytest.mark.oracle
def test_the_names_are_those_of_the_installed_pytorch(tmp_path: Path) -> None:
    script, made = Path(__file__).parents[2] / "bench" / "write_torch_names.py", tmp_path / "names.txt"
    subprocess.run([sys.executable, script, made], check=True)
    assert made.read_text() == Path(supported_names.__file__).with_name("pytorch_names.txt").read_text()
