"""What a diagnostic says of how a finding comes about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol.types import DiagnosticRelatedInformation, Location, Position, PositionEncodingKind, Range

from finding_stories import STORY, report_of, steps_of
from guardfix import StepTaken
from guardfix.output.finding_places import file_uri
from guardfix.server.document_checks import lines_in
from guardfix.server.finding_diagnostics import diagnostic_of


def related(steps: Sequence[StepTaken], folder: str) -> Sequence[DiagnosticRelatedInformation] | None:
    report = report_of(steps, folder=folder)
    [finding] = report.findings
    return diagnostic_of(finding, lambda path: lines_in(report, path, PositionEncodingKind.Utf16)).related_information


def test_steps_are_related_places_across_files(tmp_path: Path) -> None:
    folder = f"{tmp_path}/a b/"
    places = (("features.py", 3, 0), ("features.py", 5, 11), ("train.py", 7, 16))
    assert related(steps_of(folder=folder), folder) == [
        DiagnosticRelatedInformation(
            Location(file_uri(folder + path), Range(Position(line, character), Position(line, character))),
            f"step {number}: {message}",
        )
        for number, ((message, *_), (path, line, character)) in enumerate(zip(STORY, places, strict=True), 1)
    ]


def test_without_steps_there_are_none() -> None:
    assert related((), "") is None
