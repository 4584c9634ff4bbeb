"""Every committed archive answers on the shim what PyTorch 2.13 answered, call by call."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from guardfix.runtime_shim import jit

from .encoding import decode, differences

_NOT_IN_SHIM = """
    _convolution avg_pool2d batch_norm clamp_min_ conv2d cross_entropy_loss dropout dropout_ einsum elu
    embedding glu group_norm hardtanh hardtanh_ layer_norm leaky_relu max_pool2d mse_loss pad silu
    softplus upsample_nearest1d upsample_nearest2d
"""
NOT_IN_SHIM = frozenset(_NOT_IN_SHIM.split())
"""Ops that the shim may lack. An archive that needs one is skipped; lacking another fails."""

ARCHIVES = Path(__file__).parent / "archives"
RECORDED: dict[str, Any] = json.loads(gzip.decompress((ARCHIVES / "calls.json.gz").read_bytes()))


def backend_named(name: str) -> Any:
    if name == "torch":
        return pytest.importorskip("torch")
    return importlib.import_module("guardfix.runtime_shim")


@pytest.fixture(params=["shim", pytest.param("torch", marks=pytest.mark.oracle)])
def backend(request: pytest.FixtureRequest) -> Any:
    return backend_named(request.param)


@pytest.mark.parametrize("name", RECORDED)
def test_archive_answers_as_recorded(name: str, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        answers_as_recorded(name, jit.load(ARCHIVES / f"{name}.pt", backend=backend), backend, capsys)
    except jit.ArchiveError as error:
        lacking = re.search(r"op `torch\.(\w+)` needs .* which guardfix.runtime_shim has not", str(error))
        if lacking is None or lacking[1] not in NOT_IN_SHIM:
            raise
        pytest.skip(f"the shim has no {lacking[1]}")


def answers_as_recorded(name: str, module: Any, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = RECORDED[name]
    assert [key for key, _ in module.named_parameters()] == recorded.get("parameters", [])
    assert [key for key, _ in module.named_buffers()] == recorded.get("buffers", [])
    assert [key for key, _ in module.named_modules()] == recorded["modules"]
    state = recorded.get("state", {})
    found = differences(module.state_dict(), as_dict(state), "state before")
    for number, call in enumerate(recorded["calls"]):
        found += replay(module, call, backend, capsys, f"call {number}")
    found += differences(module.state_dict(), as_dict({**state, **recorded.get("changed", {})}), "state after")
    assert not found, "\n".join(found)


def test_archives_are_small_and_name_no_place_of_the_machine_that_made_them() -> None:
    assert sum(path.stat().st_size for path in ARCHIVES.iterdir()) < 100_000
    for path in ARCHIVES.glob("*.pt"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                assert b"site-packages" not in archive.read(name)
                assert not re.search(rb"/[\w.-]+/[\w./-]+\.py\b", archive.read(name)), (path.name, name)


def as_dict(encoded: dict[str, Any]) -> dict[str, Any]:
    return {"dict": [[key, value] for key, value in encoded.items()]}


def replay(module: Any, call: dict[str, Any], backend: Any, capsys: Any, where: str) -> list[str]:
    """Makes one call; says what is not as recorded."""
    if "mode" in call:
        module.train(call["mode"] == "train")
    args = decode(call["args"], backend) if "args" in call else []
    kwargs = {key: decode(value, backend) for key, value in call.get("kwargs", {}).items()}
    capsys.readouterr()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if call["method"] == "forward":
                result = module(*args, **kwargs)
            else:
                result = getattr(module, call["method"])(*args, **kwargs)
    except Exception as error:
        if "error" not in call:
            raise
        return error_differences(error, call["error"], where)
    printed = capsys.readouterr().out
    if "error" in call:
        return [f"{where}: no error, expected {call['error']}"]
    found = (
        [] if printed == call.get("printed", "") else [f"{where} printed {printed!r}, expected {call.get('printed')!r}"]
    )
    return found + differences(result, call["result"], where)


def error_differences(error: Exception, expected: dict[str, str], where: str) -> list[str]:
    lines = [line for line in str(error).splitlines() if line]
    line = lines[-1] if lines[0].startswith("The following operation failed") else lines[0]
    actual = {"type": type(error).__name__, "line": line}
    return [] if actual == expected else [f"{where}: {actual}, expected {expected}"]
