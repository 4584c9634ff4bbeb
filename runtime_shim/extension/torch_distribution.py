"""A distribution named `torch` that is the shim: for child processes, whose builds and tests import PyTorch."""

from __future__ import annotations

from pathlib import Path

VERSION = "2.13.0"
"""The version of PyTorch whose behaviour the shim has."""

_PACKAGE = '''\
"""PyTorch's name for guardfix's runtime shim."""

from guardfix.runtime_shim.cpp.extension_module import bind_for_good

bind_for_good("guardfix.runtime_shim")
'''
_METADATA = f"""\
Metadata-Version: 2.1
Name: torch
Version: {VERSION}
Summary: guardfix's runtime shim under PyTorch's name
"""


def write_torch_distribution(folder: Path) -> Path:
    """Put the distribution into `folder`, which then goes on the PYTHONPATH; returns `folder`.

    `import torch` gives the shim there, and installers find PyTorch installed and fetch no other.
    """
    package, metadata = folder / "torch", folder / f"torch-{VERSION}.dist-info"
    package.mkdir(parents=True, exist_ok=True)
    metadata.mkdir(exist_ok=True)
    (package / "__init__.py").write_text(_PACKAGE, encoding="utf-8")
    (metadata / "METADATA").write_text(_METADATA, encoding="utf-8")
    (metadata / "INSTALLER").write_text("guardfix\n", encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")
    return folder
