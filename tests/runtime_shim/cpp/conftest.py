"""C++ tests need a compiler, and share one cache of compiled programs for the whole run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from guardfix.runtime_shim.cpp import ToolchainMissing, toolchain


@pytest.fixture(autouse=True, scope="session")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs are compiled into a fresh folder, never into the user's cache."""
    folder = tmp_path_factory.mktemp("compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GUARDFIX_CACHE_DIR", str(folder))
        yield
    shutil.rmtree(folder)  # pytest keeps its folders, and PyTorch's headers precompiled are 0.7 GB


@pytest.fixture(autouse=True, scope="session")
def compiler() -> None:
    try:
        toolchain.find()
    except ToolchainMissing as missing:
        pytest.skip(str(missing))
