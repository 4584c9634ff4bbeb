"""Modules written for the shim and for PyTorch alike, and what both must answer for them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def imported(path: Path, text: str, torch: str) -> ModuleType:
    """The module with this text, once written to `path`. `{module}` in it stands for `torch`, a module's name."""
    path.write_text(text.replace("{module}", torch))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def assert_pytorch_answers(theirs: ModuleType, results: Iterable[Any], refusals: Iterable[Any]) -> None:
    """PyTorch gives the results of these rows, (call, result), and refuses those, (call, pattern of the words)."""
    script = theirs.torch.jit.script
    assert [row.values[0](theirs, script) for row in results] == [row.values[1] for row in results]
    for row in refusals:
        call, words = row.values
        with pytest.raises(Exception) as error:  # noqa: PT011
            call(theirs, script)
        assert re.search(words, str(error.value)), f"{row.id}: {error.value}"
