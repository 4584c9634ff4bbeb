"""Every Python fixture is run, as it is found and as it is migrated, and prints what its comments say.

Comments at the end of a fixture hold its output, line by line: `# prints:` both times, `# before:` only as it is found,
`# after:` only when it is migrated. The programs import torch; here that is the runtime shim, and under the marker
`oracle` PyTorch itself. Every program runs on both.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import FIXTURES, Fixture

PROGRAMS = sorted(
    path for path in (FIXTURES / "python").glob("*.py") if ".migrated" not in path.name and ".unsafe" not in path.name
)
SHIM = "guardfix.runtime_shim"
_OUTPUT = re.compile(r"^# (prints|before|after): ?(.*)$", re.MULTILINE)

# Gives the shim the name that the program imports, then runs the program as a script.
_RUNNER = """
import importlib, runpy, sys, warnings
shim, path = sys.argv[1:3]
warnings.simplefilter("ignore")
if shim != "torch":
    importlib.import_module(shim)
    for name, module in list(sys.modules.items()):
        if name == shim or name.startswith(shim + "."):
            sys.modules["torch" + name[len(shim):]] = module
sys.argv = [path]
runpy.run_path(path, run_name="__main__")
"""


def expected_output(path: Path, *, migrated: bool) -> list[str]:
    skipped = "before" if migrated else "after"
    return [text for kind, text in _OUTPUT.findall(path.read_text()) if kind != skipped]


def output_of(path: Path, module: str) -> list[str]:
    modules = Path(__file__).parent / "python_modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(modules), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", _RUNNER, module, str(path)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def versions(path: Path) -> list[tuple[Path, bool]]:
    """(file, is it migrated) of a fixture as it is found and of its furthest migration."""
    fixture = Fixture(path)
    furthest = fixture.sibling("unsafe") or fixture.sibling("migrated")
    return [(path, False), (furthest, True)] if furthest is not None else [(path, False)]


RUNS = [
    pytest.param(version, migrated, id=version.stem)
    for path in PROGRAMS
    if _OUTPUT.search(path.read_text())
    for version, migrated in versions(path)
]


def has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.skipif(not has_module(SHIM), reason="the runtime shim is not there")
@pytest.mark.parametrize(("path", "migrated"), RUNS)
def test_prints_on_the_shim_what_its_comments_say(path: Path, migrated: bool) -> None:
    assert output_of(path, SHIM) == expected_output(path, migrated=migrated)


@pytest.mark.oracle
@pytest.mark.skipif(not has_module("torch"), reason="PyTorch is not installed")
@pytest.mark.parametrize(("path", "migrated"), RUNS)
def test_prints_on_pytorch_what_its_comments_say(path: Path, migrated: bool) -> None:
    assert output_of(path, "torch") == expected_output(path, migrated=migrated)


def test_every_migrated_fixture_is_run() -> None:
    migrated = [path for path in PROGRAMS if len(versions(path)) == 2]
    silent = [path.name for path in migrated if not _OUTPUT.search(path.read_text())]
    # C++ that load_inline would compile; the file that imports torch only when it is migrated prints nothing; libraries
    # that train are not installed.
    assert silent == ["guard_in_load_inline.py", "legacy_guard_imported_alone.py", "training_through_wrappers.py"]
