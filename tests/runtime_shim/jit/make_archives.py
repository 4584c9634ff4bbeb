"""Saves the models of `archive_models.py` with PyTorch 2.13 and records what they answer.

    python tests/runtime_shim/jit/make_archives.py

writes `archives/*.pt` and `archives/calls.json.gz`. One archive is byte for byte as `torch.jit.save` writes
it. From the others the debug records are left out: they hold paths of the machine that saved them, no reader
needs them, and they are most of the size.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archive_models as models
import torch
from encoding import encode
from torch import nn

HERE = Path(__file__).parent / "archives"
AS_WRITTEN = {"defined"}

Call = dict[str, Any]


def call(*args: Any, method: str = "forward", mode: str | None = None, **kwargs: Any) -> Call:
    return {"method": method, "mode": mode, "args": args, "kwargs": kwargs}


def ramp(*shape: int, start: float = -1.0, step: float = 0.37) -> torch.Tensor:
    count = int(torch.tensor(shape).prod())
    return ((torch.arange(count) * step + start) % 3 - 1.2).reshape(shape)


def archives() -> dict[str, tuple[Callable[[], nn.Module], list[Call]]]:
    """Name, how to make the module, and the calls in their order."""
    script = torch.jit.script
    image = ramp(2, 1, 8, 8)
    two = torch.tensor([1.0, 2.0])
    grid = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    rows = torch.tensor([0, 2])
    counts = torch.tensor([[1.0, 4.0], [3.0, 2.0]])
    return {
        "mlp": (
            lambda: script(models.Mlp()),
            [call(ramp(3, 4), mode="eval"), call(ramp(3, 4), method="classify"), call(ramp(4))],
        ),
        "mlp_traced": (
            lambda: torch.jit.trace(models.Mlp().eval().layers, ramp(3, 4)),
            [call(ramp(2, 4)), call(input=ramp(5, 4))],
        ),
        "convnet": (
            lambda: script(models.ConvNet()),
            [call(image, mode="eval"), call(image, mode="train"), call(image), call(image, mode="eval")],
        ),
        "convnet_traced": (lambda: torch.jit.trace(models.ConvNet().eval(), image), [call(image)]),
        "text": (
            lambda: script(models.TextNet()),
            [
                call(torch.tensor([[1, 2, 0], [6, 0, 0]])),
                call(torch.tensor([[5]]), scale=2),
                call(torch.tensor([[9]])),
            ],
        ),
        "attention": (
            lambda: script(models.Attention()),
            [call(ramp(2, 3, 4)), call(ramp(1, 3, 4), causal=True)],
        ),
        "recurrent": (
            lambda: script(models.Recurrent()),
            [call(ramp(3, 2, 2)), call(ramp(2, 2, 2), torch.ones(2, 3))],
        ),
        "activations": (lambda: script(models.Activations()), [call(ramp(2, 4))]),
        "more_activations": (lambda: script(models.MoreActivations()), [call(ramp(2, 4))]),
        "control_flow": (
            lambda: script(models.ControlFlow()),
            [call(two, mode) for mode in ("early", "inside", "value", "assert", "plain", "shape", "scale", "other")]
            + [
                call(two, "other", 8, bonus=5),
                call(two[None], "other", 1),
                call(two * 30, "other", bonus=None),
            ]
            + [
                call(two),
                call(1, "other"),
                call(two, "a", 1, 2, 3),
                call(two, "a", wrong=1),
                call(two, "a", 1.5),
            ],
        ),
        "numbers": (
            lambda: script(models.Numbers()),
            [
                call(7, 3, 2.5, 1.5),
                call(-7, 3, -2.5, 2.0),
                call(7, -3, 2.5, -1.5),
                call(10**9, 4, 1e10, 0.5),
                call(3, 3, -0.5, 0.5),
                call(1, 2, 1.0, 0.0),
            ],
        ),
        "strings": (
            lambda: script(models.Strings()),
            [
                call("abc,d", 3, 0.1, counts),
                call(" B ", 0, 1e20, torch.tensor([0.5, 100.0])),
                call("xyz", -2, 2.0, torch.tensor([[1, 20], [3, 4]])),
                call("q12", 1, -1.5e-7, torch.tensor(3)),
                call("abz", 1, 123456.0, torch.tensor([[1e-3, 2.0, 5e6]])),
                call("1234", 1, 1.0, torch.ones(2, 2, 2)),
            ],
        ),
        "containers": (
            lambda: script(models.Containers()),
            [
                call([3, 4, 5], {"b": two, "a": two + 1}),
                call((1, 2, 9), {"b": two}),
                call([1], {"a": two}),
            ],
        ),
        "tree": (
            lambda: script(models.Tree()),
            [
                call(two),
                call(two * 2),
                call(method="report"),
                call(True, method="report"),
                call(method="missing"),
            ],
        ),
        "attributes": (lambda: script(models.Attributes()), [call(two), call(two)]),
        "indexing": (lambda: script(models.Indexing()), [call(grid, rows)]),
        "reductions": (lambda: script(models.Reductions()), [call(grid + 0.5)]),
        "factories": (lambda: script(models.Factories()), [call(grid, 4)]),
        "losses": (
            lambda: script(models.Losses()),
            [call(ramp(2, 3).requires_grad_(), torch.tensor([2, 0]))],
        ),
        "classes": (
            lambda: script(models.Classes()),
            [call(two, two, 3), call(two, 4, "s"), call(two, [1, 2], 1), call(two, "text", "x")],
        ),
        "guards": (lambda: script(models.Guards()), [call(two)]),
        "hooks": (lambda: script(models.HookedParent()), [call(two)]),
        "defined": (lambda: models.Defined(), [call(two)]),
        "stateful": (lambda: script(models.Stateful()), [call(two)]),
    }


def without_debug_records(data: bytes) -> bytes:
    """The same archive without `*.debug_pkl`, as another zip writer would write it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                kind = zipfile.ZIP_DEFLATED if entry.filename.endswith((".py", ".pkl")) else zipfile.ZIP_STORED
                new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry), kind, 9)
    return out.getvalue()


def record(module: Any, wanted: Call) -> dict[str, Any]:
    """One call on the module as PyTorch loads it: what went in, what came out, what was printed."""
    entry: dict[str, Any] = {
        "method": wanted["method"],
        "args": [encode(value) for value in wanted["args"]],
        "kwargs": {name: encode(value) for name, value in wanted["kwargs"].items()},
        "mode": wanted["mode"],
    }
    if wanted["mode"]:
        module.train(wanted["mode"] == "train")
    printed = io.StringIO()
    try:
        method = module if wanted["method"] == "forward" else getattr(module, wanted["method"])
        with printed_to(printed):
            entry["result"] = encode(method(*wanted["args"], **wanted["kwargs"]))
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line]
        own = str(error).startswith("The following operation failed")
        entry["error"] = {"type": type(error).__name__, "line": lines[-1] if own else lines[0]}
    entry["printed"] = printed.getvalue()
    return {key: value for key, value in entry.items() if value or key == "result"}


@contextlib.contextmanager
def printed_to(target: io.StringIO) -> Any:
    """Standard output of C++ too, which is where TorchScript prints."""
    import os
    import sys
    import tempfile

    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as file:
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(saved, 1)
            os.close(saved)
            file.seek(0)
            target.write(file.read())


def one_call_a_line(recorded: dict[str, Any]) -> str:
    def compact(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def lines(archive: dict[str, Any]) -> str:
        calls = ",\n".join(compact(entry) for entry in archive["calls"])
        others = (f"{compact(key)}:{compact(value)}" for key, value in archive.items() if key != "calls" and value)
        return "{" + ",\n".join([*others, f'"calls":[\n{calls}\n]']) + "}"

    return "{" + ",\n\n".join(f"{compact(name)}:{lines(archive)}" for name, archive in recorded.items()) + "}\n"


def main() -> None:
    warnings.simplefilter("ignore")
    HERE.mkdir(exist_ok=True)
    recorded: dict[str, Any] = {}
    for name, (make, calls) in archives().items():
        torch.manual_seed(7)
        buffer = io.BytesIO()
        torch.jit.save(make(), buffer)
        data = buffer.getvalue() if name in AS_WRITTEN else without_debug_records(buffer.getvalue())
        (HERE / f"{name}.pt").write_bytes(data)
        module = torch.jit.load(io.BytesIO(data))
        state_before = {key: encode(value) for key, value in module.state_dict().items()}
        recorded[name] = {
            "parameters": [key for key, _ in module.named_parameters()],
            "buffers": [key for key, _ in module.named_buffers()],
            "modules": [key for key, _ in module.named_modules()],
            "state": state_before,
            "calls": [record(module, wanted) for wanted in calls],
        }
        after = {key: encode(value) for key, value in module.state_dict().items()}
        recorded[name]["changed"] = {key: value for key, value in after.items() if value != state_before[key]}
    (HERE / "calls.json.gz").write_bytes(gzip.compress(one_call_a_line(recorded).encode(), mtime=0))
    total = sum(path.stat().st_size for path in HERE.iterdir())
    for path in sorted(HERE.iterdir()):
        print(f"{path.stat().st_size:7} {path.name}")
    print(f"{total:7} bytes in all")


if __name__ == "__main__":
    main()
