"""C++ tests need a compiler."""

from __future__ import annotations

import pytest

from guardfix.runtime_shim.cpp import ToolchainMissing, header_precompilation


@pytest.fixture(autouse=True, scope="session")
def compiler() -> None:
    try:
        header_precompilation.find_toolchain()
    except ToolchainMissing as missing:
        pytest.skip(str(missing))
