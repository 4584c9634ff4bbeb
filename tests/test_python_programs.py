"""Every Python fixture is run, as it is found and as it is migrated, and prints what its comments say.

Comments at the end of a fixture hold its output, line by line: `# prints:` both times, `# before:` only as it is found,
`# after:` only when it is migrated. The programs import torch; here that is the runtime shim, and under the marker
`oracle` PyTorch itself. Every program runs on both.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixture_files import FIXTURES, Fixture
from forked_programs import ProgramServer, programs_on

PROGRAMS = sorted(
    path for path in (FIXTURES / "python").glob("*.py") if ".migrated" not in path.name and ".unsafe" not in path.name
)
SHIM = "guardfix.runtime_shim"
_OUTPUT = re.compile(r"^# (prints|before|after): ?(.*)$", re.MULTILINE)


def expected_output(path: Path, *, migrated: bool) -> list[str]:
    skipped = "before" if migrated else "after"
    return [text for kind, text in _OUTPUT.findall(path.read_text()) if kind != skipped]


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


@pytest.fixture(scope="module")
def shim() -> Iterator[ProgramServer]:
    with programs_on(SHIM) as server:
        yield server


@pytest.fixture(scope="module")
def pytorch() -> Iterator[ProgramServer]:
    with programs_on("torch") as server:
        yield server


@pytest.mark.skipif(not has_module(SHIM), reason="the runtime shim is not there")
@pytest.mark.parametrize(("path", "migrated"), RUNS)
def test_prints_on_the_shim_what_its_comments_say(
    path: Path, migrated: bool, shim: ProgramServer, tmp_path: Path
) -> None:
    assert shim.output_of(path, tmp_path) == expected_output(path, migrated=migrated)


@pytest.mark.oracle
@pytest.mark.skipif(not has_module("torch"), reason="PyTorch is not installed")
@pytest.mark.parametrize(("path", "migrated"), RUNS)
def test_prints_on_pytorch_what_its_comments_say(
    path: Path, migrated: bool, pytorch: ProgramServer, tmp_path: Path
) -> None:
    assert pytorch.output_of(path, tmp_path) == expected_output(path, migrated=migrated)


@pytest.mark.thorough
def test_every_migrated_fixture_is_run() -> None:
    migrated = [path for path in PROGRAMS if len(versions(path)) == 2]
    silent = [path.name for path in migrated if not _OUTPUT.search(path.read_text())]
    # C++ that load_inline would compile, and functions that TorchScript would; the file that imports torch only when it
    # is migrated prints nothing; libraries that train are not installed; others define what nothing calls.
    assert silent == [
        "grad_mode_not_restored.py",
        "guard_in_load_inline.py",
        "guard_in_scripted_code.py",
        "inference_tensors_in_training.py",
        "legacy_guard_imported_alone.py",
        "override_loses_guard.py",
        "training_through_wrappers.py",
    ]
