"""Small git repositories for the tests of campaigns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

OLD = "#include <ATen/ATen.h>\nvoid f() {\n  at::AutoNonVariableTypeMode g;\n}\n"
UNCALLED = "import torch\n\nwith torch.no_grad:\n    print(torch.ones(1))\n"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    dates = {"GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"}
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=os.environ | dates, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


MakeRepository = Callable[[str, Mapping[str, str]], Path]
"""(name, files) -> the folder. Called again with a name, it makes a further commit."""
