"""Which files call functions of given names: `model_following.calling_files`, with few names and with many."""

from __future__ import annotations

import pytest

from guardfix.linter.model_following import MOST_CALLING, calling_files

TEXTS = {
    "calls.py": "x = sample(y)",
    "calls_with_blank.py": "x = sample  (y)",
    "method.py": "model.sample(y)",
    "defines.py": "def sample(y): ...",
    "mentions.py": "f = sample",
    "part_of_a_word.py": "resample(y); sample_all(y)",
    "trains.py": "loss = sample(y)\nloss.backward()",
    "umlaut.py": "ä = sample(y)",
}


@pytest.mark.parametrize("others", [0, 1000], ids=["few names", "many names"])
@pytest.mark.parametrize(
    ("training", "expected"),
    [
        pytest.param(False, ["calls.py", "calls_with_blank.py", "method.py", "trains.py", "umlaut.py"], id="any"),
        pytest.param(True, ["trains.py"], id="that may train"),
    ],
)
def test_callers(training: bool, expected: list[str], others: int) -> None:
    names = [b"sample", *(f"other_{number}".encode() for number in range(others))]
    texts = [(path, text.encode()) for path, text in TEXTS.items()]
    assert calling_files(names, texts, training) == expected


@pytest.mark.parametrize("others", [0, 1000], ids=["few names", "many names"])
def test_a_name_that_many_files_call_says_nothing(others: int) -> None:
    names = [b"common", b"rare", *(f"other_{number}".encode() for number in range(others))]
    texts = [(f"{number:02}.py", b"common(x)") for number in range(MOST_CALLING + 1)]
    assert calling_files(names, [*texts, ("99.py", b"common(x); rare(x)")], training=False) == ["99.py"]
