"""What the machine has shown is kept between runs, and told of nothing else than what it was shown of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cpp_snippets import facts_of
from guardfix.linter.analysis.project import Project
from guardfix.linter.files import code_digest
from guardfix.linter.files.entry_store import EntryStore
from guardfix.linter.flow import kept_runs, running
from guardfix.linter.flow.kept_runs import KeptRuns, Shown, shown_by
from guardfix.linter.frontends.extraction import guard_tables_extended
from guardfix.linter.guards import Effect, Guard, Takes

PROGRAM = {
    "helper.py": "import torch\n\n\n@torch.inference_mode()\ndef features(x):\n    return x * 2\n",
    "between.py": "import torch\nfrom helper import features\n\n\ndef scaled(x):\n    return features(x)\n",
    "serve.py": "import torch\nfrom between import scaled\n\n\ndef change(x):\n    y = scaled(x)\n    y.add_(1)\n",
    "model.cpp": "at::Tensor encode(at::Tensor x) {\n  c10::InferenceMode guard;\n  return x * 2;\n}\n",
    "main.cpp": "at::Tensor encode(at::Tensor x);\nvoid run(at::Tensor x) {\n  auto y = encode(x);\n  y.add_(1);\n}\n",
}
_WATCHED = ("features", "scaled", "encode")
EDITS = {
    "helper.py": ("inference_mode", "no_grad"),
    "between.py": ("features(x)", "features(x).clone()"),
    "serve.py": ("y.add_(1)", "y.clone().add_(1)"),
    "model.cpp": ("c10::InferenceMode", "at::NoGradGuard"),
    "main.cpp": ("y.add_(1)", "y.clone().add_(1)"),
}


@pytest.fixture(autouse=True)
def _little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "WORTH_KEEPING", 0)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What guards are run as, in each run of the machine."""
    found: list[object] = []
    real = running.run_flow

    def counted(files: Any, instead: Any) -> Any:
        found.append(dict(instead))
        return real(files, instead)

    monkeypatch.setattr(running, "run_flow", counted)
    return found


def shown(texts: Mapping[str, str], folder: Path | None, instead: Mapping[str, Effect] | None = None) -> Shown:
    project = Project([facts_of(text, path, _WATCHED) for path, text in texts.items()])
    if folder is not None:
        project.lasting_memory(KeptRuns).store = EntryStore(str(folder))
    return shown_by(project, instead or {})


def test_a_program_is_run_once(tmp_path: Path, runs: list[object]) -> None:
    first = shown(PROGRAM, tmp_path)
    assert {event.path for event in first.events} == {"serve.py", "main.cpp"}
    assert shown(PROGRAM, tmp_path) == first == shown(PROGRAM, None)
    assert runs == [{}, {}]


@pytest.mark.parametrize("name", EDITS)
def test_each_file_on_the_way_is_looked_at(tmp_path: Path, runs: list[object], name: str) -> None:
    before = shown(PROGRAM, tmp_path)
    edited = PROGRAM | {name: PROGRAM[name].replace(*EDITS[name])}
    after = shown(edited, tmp_path)
    assert len(after.events) == len(before.events) - 1
    assert after == shown(edited, None)
    runs.clear()
    assert shown(PROGRAM, tmp_path) == before
    assert shown(edited, tmp_path) == after
    assert runs == []


@pytest.mark.parametrize("name", PROGRAM)
def test_a_file_that_goes_or_moves_is_noticed(tmp_path: Path, name: str) -> None:
    shown(PROGRAM, tmp_path)
    without = {path: text for path, text in PROGRAM.items() if path != name}
    assert shown(without, tmp_path) == shown(without, None)
    moved = without | {f"other_{name}": PROGRAM[name]}
    assert shown(moved, tmp_path) == shown(moved, None)


def test_what_guards_are_run_as_counts(tmp_path: Path) -> None:
    old = PROGRAM["model.cpp"].replace("c10::InferenceMode", "at::AutoNonVariableTypeMode")
    text = {"model.cpp": old, "main.cpp": PROGRAM["main.cpp"]}
    assert not shown(text, tmp_path).events
    assert len(shown(text, tmp_path, {"AutoNonVariableTypeMode": Effect.INFERENCE}).events) == 1
    assert not shown(text, tmp_path).events


def test_other_guards_and_other_code_run_it_again(
    tmp_path: Path, runs: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(PROGRAM, tmp_path)
    with guard_tables_extended((("cpp", Guard("Quiet", ("mine",), Takes.NOTHING, Effect.INFERENCE)),)):
        shown(PROGRAM, tmp_path)
    assert len(runs) == 2
    monkeypatch.setattr(code_digest, "installed_parsers", lambda: {"tree_sitter": "99.0"})
    code_digest.code_digest.cache_clear()
    shown(PROGRAM, tmp_path)
    code_digest.code_digest.cache_clear()
    assert len(runs) == 3


def test_a_damaged_run_is_made_again(tmp_path: Path, runs: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_runs, "pack", lambda found: b"\x00" if isinstance(found, Shown) else b"facts")
    assert shown(PROGRAM, tmp_path) == shown(PROGRAM, tmp_path)
    assert runs == [{}, {}]


def test_little_is_run_rather_than_looked_up(
    tmp_path: Path, runs: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_runs, "WORTH_KEEPING", 1 << 20)
    assert shown(PROGRAM, tmp_path) == shown(PROGRAM, tmp_path)
    assert runs == [{}, {}]
    assert not list(tmp_path.iterdir())
