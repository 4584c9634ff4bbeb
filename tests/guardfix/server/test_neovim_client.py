"""The language server, driven by Neovim's own client."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")

KERNEL = """#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x) {
  /* \u00e9\U0001f600 */ at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}

TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }
"""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim")
def test_a_session(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
    ran = subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "-l" if _has_l() else "-c", _script()],
        env=os.environ
        | {
            "GUARDFIX_PYTHON": sys.executable,
            "GUARDFIX_FILE": str(tmp_path / "kernel.cpp"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    said = dict(json.loads(line) for line in ran.stdout.splitlines() if line.startswith("["))
    assert ran.returncode == 0, (said, ran.stderr)
    # Neovim counts bytes.
    assert said["diagnostic"] == [4, 15, 42, "GF101", "guardfix"]
    assert "**kernel** \u2192 `at::AutoDispatchBelowADInplaceOrView`" in said["hover"]
    assert said["moved"] == 6
    assert said["action"].startswith("GF101: replace at::AutoNonVariableTypeMode")
    expected = KERNEL.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
    assert said["text"] == ["// \u4e2d\U0001f600", "", *expected.splitlines()]


def _has_l() -> bool:
    """Whether this Neovim runs a script by `-l` (0.9 and later)."""
    return b" -l " in subprocess.run(["nvim", "--help"], capture_output=True, check=False).stdout


def _script() -> str:
    path = str(Path(__file__).with_name("neovim_session.lua"))
    return path if _has_l() else f"luafile {path}"
