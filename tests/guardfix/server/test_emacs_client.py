"""The language server, driven by Emacs's own client, Eglot, set up as docs/editors.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT

pytest.importorskip("pygls")

KERNEL = """#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x) {
  /* \u00e9\U0001f600 */ at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}

TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }
"""


def has_eglot() -> bool:
    """Whether this Emacs has the client; asked by the test alone, as Emacs takes a while to say so."""
    wanted = "(progn (require 'package) (package-initialize) (require 'eglot))"
    ran = subprocess.run(["emacs", "--batch", "-q", "--eval", wanted], capture_output=True, check=False)
    return ran.returncode == 0


def setup() -> str:
    """What the page says to put into init.el."""
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    found = re.search(r"^## Emacs\n.*?^```elisp\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs")
def test_a_session_in_emacs(tmp_path: Path) -> None:
    if not has_eglot():
        pytest.skip("needs Eglot")
    (tmp_path / "kernel.cpp").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "setup.el").write_text(setup(), encoding="utf-8")
    program = tmp_path / "bin" / "guardfix"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m guardfix "$@"\n')
    program.chmod(0o755)
    ran = subprocess.run(
        ["emacs", "--batch", "-q", "-l", str(Path(__file__).with_name("emacs_session.el"))],
        env=os.environ
        | {
            "GUARDFIX_FILE": str(tmp_path / "kernel.cpp"),
            "GUARDFIX_SETUP": str(tmp_path / "setup.el"),
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    said = dict(json.loads(line) for line in ran.stdout.splitlines() if line.startswith("["))
    assert ran.returncode == 0, (said, ran.stderr)
    column, text = said["diagnostic"]
    assert column == 11, "in characters"
    assert "GF101" in text
    assert "AutoNonVariableTypeMode is deprecated" in text
    assert "**kernel** \u2192 `at::AutoDispatchBelowADInplaceOrView`" in said["hover"]
    assert said["moved"] == 7
    assert said["action"].startswith("GF101: replace at::AutoNonVariableTypeMode")
    expected = KERNEL.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
    assert said["text"] == f"// \u4e2d\U0001f600\n\n{expected}"
