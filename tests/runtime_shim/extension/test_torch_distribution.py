"""Which version of PyTorch the shim's distribution gives itself out as, so that a project can be built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.runtime_shim.extension.cmake_package import VERSION, version_for, write_torch_distribution

PROJECTS = [
    pytest.param({}, VERSION, id="nothing asked"),
    pytest.param({"setup.py": "install_requires=['torch>=1.12', 'numpy']"}, VERSION, id="a lower bound"),
    pytest.param({"setup.cfg": "setup_requires = torch>=2.7.0,<2.8.0\n"}, "2.7.0", id="a range"),
    pytest.param({"requirements.txt": "numpy<2\ntorch == 2.1.2 ; python_version > '3'\n"}, "2.1.2", id="one version"),
    pytest.param({"requirements-dev.txt": "torch==1.13.1+cpu\n"}, "1.13.1+cpu", id="one build"),
    pytest.param({"setup.py": '"torch==2.0.*"'}, "2.0.0", id="a series"),
    pytest.param({"pyproject.toml": '[build-system]\nrequires = ["torch~=2.3", "torchvision==0.5"]\n'}, VERSION, id="~="),
    pytest.param({"setup.py": '"torch<2.5"', "pyproject.toml": '"torch>=2.2"'}, "2.4.0", id="in two files"),
    pytest.param({"setup.py": '"torch!=2.13.0"'}, "2.12.0", id="not ours"),
    pytest.param({"setup.py": '"torch<2", "torch>3"'}, VERSION, id="what no release is"),
    pytest.param({"setup.py": "torch >= then\nimport torch; torch.x == 1\n'pytorch==1.0', 'torch-scatter==2.0'"}, VERSION,
                 id="other things"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "version"), PROJECTS)
def test_the_version_that_fits(files: dict[str, str], version: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert version_for(tmp_path) == version


def test_installers_see_it(tmp_path: Path) -> None:
    write_torch_distribution(tmp_path, "2.1.2")
    asked = "import importlib.metadata as m, torch; print(m.version('torch'), torch.__version__)"
    found = subprocess.run(
        [sys.executable, "-c", asked], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert found.stdout.split() == ["2.1.2", f"{VERSION}+guardfix.shim"]
