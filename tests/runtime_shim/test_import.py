"""What importing the shim brings, and that tensors are complete whatever is imported first."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import guardfix.runtime_shim as torch

ARCHIVES = Path(__file__).parent / "jit" / "archives"


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_shim_leaves_the_ops_for_later() -> None:
    loaded = run(
        "import sys, guardfix.runtime_shim as torch\n"
        "with torch.inference_mode(), torch.no_grad(): torch.float32, torch.device('cpu'), torch.Size([1])\n"
        "print(*(m.removeprefix('guardfix.runtime_shim.') for m in sys.modules if 'guardfix.runtime_shim.' in m))"
    )
    assert set(loaded.split()) == {
        *("core", "core.device", "core.dtypes", "core.error_texts", "core.gradient_modes", "core.late_modules"),
        "core.thread_state",
    }


PARAMETER = pickle.dumps(torch.nn.Parameter(torch.tensor([1.0, 2.0])))


@pytest.mark.parametrize(
    "program",
    [
        "from guardfix.runtime_shim import Tensor; t = Tensor([1.0, 2.0])",
        "from guardfix.runtime_shim import tensor; t = tensor([1.0, 2.0])",
        "import guardfix.runtime_shim.autograd, guardfix.runtime_shim as torch; t = torch.tensor([1.0, 2.0])",
        "from guardfix.runtime_shim.autograd import Function; from guardfix.runtime_shim import tensor; t = tensor([1.0, 2.0])",
        "from guardfix.runtime_shim.nn import Parameter, init; import numpy; t = Parameter(init.constant_(Parameter(), 0))\n"
        "t.data = t.new_tensor([1.0, 2.0])",
        "from guardfix.runtime_shim.optim import SGD; import guardfix.runtime_shim as torch; t = torch.tensor([1.0, 2.0])",
        "import guardfix.runtime_shim.library, guardfix.runtime_shim as torch; t = torch.tensor([1.0, 2.0])",
        "import guardfix.runtime_shim.core.tracing, guardfix.runtime_shim as torch; t = torch.tensor([1.0, 2.0])",
        "import guardfix.runtime_shim.core.tensor_printing, guardfix.runtime_shim as torch; t = torch.tensor([1.0, 2.0])",
        f"import pickle; t = pickle.loads({pickle.dumps(torch.tensor([1.0, 2.0]))!r})",
        f"import pickle; t = pickle.loads({PARAMETER!r})",
    ],
    ids=[
        "the class alone",
        "a factory alone",
        "autograd first",
        "a custom Function's base class first",
        "nn alone",
        "optim first",
        "library first",
        "tracing first",
        "printing first",
        "an unpickled tensor, nothing imported",
        "an unpickled parameter, nothing imported",
    ],
)
@pytest.mark.few(
    "a factory alone", "autograd first", "nn alone", "library first", "an unpickled tensor, nothing imported"
)
def test_a_tensor_is_complete_whatever_is_imported_first(program: str) -> None:
    assert run(f"{program}\nprint((t * 2 + 1).sum().item(), t[0].item(), t.cumsum(0).tolist())") == "8.0 1.0 [1.0, 3.0]"


def test_an_archive_loads_with_nothing_else_imported() -> None:
    archive = next(path for path in sorted(ARCHIVES.iterdir()) if path.suffix == ".pt")
    program = f"from guardfix.runtime_shim import jit; module = jit.load({str(archive)!r})\n"
    assert run(program + "print(type(module).__name__)")


@pytest.mark.parametrize(
    ("attempt", "has"),
    [
        pytest.param("torch.igamma", r"digamma, lgamma(, \w+)* and \d+ others", id="function"),
        pytest.param("torch.Tensor.ormqr", r"\d+ other names", id="method"),
        pytest.param("torch.nn.functional.fractional_max_pool2d", r".*max_pool2d.* and \d+ others", id="nn"),
        pytest.param("torch.optim.Muon", "Adadelta, Adagrad, Adam, .*, SGD", id="few"),
    ],
)
@pytest.mark.few("nn")
def test_the_first_name_asked_for_may_be_one_that_is_not_there(attempt: str, has: str) -> None:
    program = (
        f"import guardfix.runtime_shim as torch\ntry: {attempt}()\nexcept NotImplementedError as error: print(error)"
    )
    assert re.fullmatch(rf"the shim has no {attempt}; supported: {has}", run(program))


@pytest.mark.parametrize(
    "name",
    [
        "torch.vander",
        "torch.Tensor.mvlgamma",
        "torch.special.ndtr",
        "torch.view_copy",
        "torch.nn.FractionalMaxPool2d",
        "torch.nn.functional.fractional_max_pool2d",
        "torch.overrides.redispatch_function",
    ],
)
def test_what_was_taken_out_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"the shim has no {re.escape(name)}; supported: "):
        eval(f"{name}()", {"torch": torch})


def test_the_module_lists_what_it_imports_late() -> None:
    assert {"add", "Tensor", "nn", "einsum", "batch_norm", "save", "finfo"} <= set(dir(torch))
    assert not hasattr(torch, "no_such_thing")
