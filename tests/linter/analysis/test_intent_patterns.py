"""Which pattern of the configuration a file falls under, and where the configuration says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.linter.analysis.intent_patterns import IntentPatterns
from guardfix.linter.files.workspace import DISK, Workspace

TEXT = '[intent]\n"src/**" = "kernel"\n"src/models/*.cpp" = "inference"\n'
PAIRS = [("src/**", "kernel"), ("src/models/*.cpp", "inference")]


@pytest.mark.parametrize(
    ("path", "purpose"),
    [
        pytest.param("src/a.cpp", "kernel", id="a file"),
        pytest.param("src/deep/er/a.cpp", "kernel", id="in a folder of the folder"),
        pytest.param("src/models/a.cpp", "inference", id="the last pattern that matches"),
        pytest.param("src/models/deep/a.cpp", "kernel", id="only the first pattern"),
        pytest.param("src/models/a.cpp#kernel_source", "inference", id="code inside a file"),
        pytest.param("test/a.cpp", None, id="beside the folder"),
        pytest.param("src.cpp", None, id="a name that begins like it"),
    ],
)
def test_the_last_pattern_that_matches_counts(tmp_path: Path, path: str, purpose: str | None) -> None:
    intent = IntentPatterns.of(PAIRS, str(tmp_path), "").declared(str(tmp_path / path))
    assert (intent and intent.purpose.name.lower()) == purpose


def on_disk(path: Path) -> Workspace:
    path.write_text(TEXT)
    return DISK


def in_an_editor(path: Path) -> Workspace:
    path.write_text(TEXT)
    return Workspace.over_disk({str(path): "# one more line\n" + TEXT})


def texts_alone(path: Path) -> Workspace:
    path.write_text(TEXT)
    return Workspace.in_memory({str(path.parent / "a.cpp"): ""})


@pytest.mark.parametrize(
    ("workspace_for", "row"),
    [
        pytest.param(on_disk, 3, id="on the disk"),
        pytest.param(in_an_editor, 4, id="with changes that an editor has not saved"),
        pytest.param(texts_alone, 3, id="on the disk, for texts in memory"),
        pytest.param(lambda _: DISK, 1, id="nowhere"),
    ],
)
def test_where_the_configuration_says_it(tmp_path: Path, workspace_for: object, row: int) -> None:
    configuration = tmp_path / "guardfix.toml"
    assert callable(workspace_for)
    patterns = IntentPatterns.of(PAIRS, str(tmp_path), str(configuration), workspace_for(configuration))
    intent = patterns.declared(str(tmp_path / "src/models/a.cpp"))
    assert intent is not None
    assert intent.where.row(intent.offset) == row


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="'training' is not something that a guard can be for"):
        IntentPatterns.of([("src/**", "training")], "", "")
