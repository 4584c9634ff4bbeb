"""C++ tests need a compiler."""

from __future__ import annotations

import pytest

from guardfix.runtime_shim.cpp import ToolchainMissing, toolchain


@pytest.fixture(autouse=True, scope="session")
def compiler() -> None:
    try:
        toolchain.find_toolchain()
    except ToolchainMissing as missing:
        pytest.skip(str(missing))
