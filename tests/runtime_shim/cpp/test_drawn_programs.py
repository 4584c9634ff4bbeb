"""C++ programs that were drawn at random: those that once differed, and fresh ones against libtorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from .drawn import corpus
from .drawn.building import on_shim, on_torch, printed_by, source_text
from .drawn.comparing import Difference, first_difference
from .drawn.generator import PROFILES, generate
from .drawn.scene import CppProgram
from .running import torch_folder

FRESH = 40
#: Of fresh programs; what differs is in docs/shim.md.
TARGET = 0.85


def differences(
    programs: list[CppProgram], expected: list[str | None], got: list[str | None]
) -> list[tuple[CppProgram, Difference | str]]:
    found: list[tuple[CppProgram, Difference | str]] = []
    for program, want, have in zip(programs, expected, got, strict=True):
        if want is None:
            continue
        difference = "the process ends" if have is None else first_difference(want, have, program)
        if difference is not None:
            found.append((program, difference))
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_programs_are_the_same_every_time(profile: str) -> None:
    for seed in range(50):
        program = generate(seed, profile)
        assert program == generate(seed, profile)
        assert sum(line.strip() == "{" for line in program.lines) == sum(line.strip() == "}" for line in program.lines)


PROGRAM = CppProgram(1, ("  S(v[0] = torch::ones({2}))", "  S(v[1] = v[0].exp())"))
SEEN = "0 ok\n  v[0] Float [2] version 0 values  1 1\n1 ok\n  v[1] Float [2] version 0 values  2.71828 2.71828\n"


@pytest.mark.parametrize(
    ("got", "aspect"),
    [
        pytest.param(SEEN, None, id="the same"),
        pytest.param(SEEN.replace("2.71828\n", "2.71829\n"), None, id="a last digit"),
        pytest.param(SEEN.replace("2.71828\n", "2.72\n"), "values", id="another value"),
        pytest.param(SEEN.replace("version 0", "version 1"), "version", id="a version"),
        pytest.param(SEEN.replace("1 ok", "1 c10::Error: no"), "outcome", id="an error"),
    ],
)
def test_what_counts_as_a_difference(got: str, aspect: str | None) -> None:
    found = first_difference(SEEN, got, PROGRAM)
    assert (found and found.aspect) == aspect


def test_words_about_a_tensor_that_has_become_undefined_do_not_count() -> None:
    program = CppProgram(1, ("  S(v[0] = torch::ones({2}))", "  S(v[0] = at::Tensor())", "  S(v[1] = v[0].exp())"))
    seen = "0 ok\n  v[0] Float [2]\n1 ok\n  v[0] undefined\n2 c10::Error: {}\n"
    assert first_difference(seen.format("a"), seen.format("b"), program) is None


@pytest.mark.thorough
def test_programs_that_once_differed_print_what_libtorch_prints(tmp_path: Path) -> None:
    programs, expected = zip(*corpus.load(), strict=True)
    source = tmp_path / "found.cpp"
    source.write_text(source_text(programs), encoding="utf-8")
    assert differences(list(programs), list(expected), printed_by(on_shim(source), programs)) == []


@pytest.mark.oracle
@pytest.mark.parametrize("profile", PROFILES)
def test_fresh_programs_agree_with_libtorch(profile: str, tmp_path: Path) -> None:
    if torch_folder() is None:
        pytest.skip("PyTorch is not installed")
    programs = [generate(seed, profile) for seed in range(900_000, 900_000 + FRESH)]
    source = tmp_path / "fresh.cpp"
    source.write_text(source_text(programs), encoding="utf-8")
    found = differences(programs, printed_by(on_torch(source), programs), printed_by(on_shim(source), programs))
    assert len(found) <= (1 - TARGET) * FRESH, found[:3]
