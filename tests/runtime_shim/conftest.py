"""The modules that tests of what the shim shares with PyTorch run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import guardfix.runtime_shim as shim

Torch = Any


@pytest.fixture(params=["shim", pytest.param("oracle", marks=pytest.mark.oracle)])
def torch(request: pytest.FixtureRequest) -> Iterator[Torch]:
    module: Torch = shim
    if request.param == "oracle":
        module = pytest.importorskip("torch")
        if not module.__version__.startswith("2.13."):
            pytest.skip(f"the oracle is torch 2.13, not {module.__version__}")
    yield module
    assert module.is_grad_enabled()
    assert not module.is_inference_mode_enabled()
