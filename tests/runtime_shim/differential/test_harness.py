"""The differential test itself: programs, shrinking, comparing, recording. It needs no tensors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from . import recording
from .compare import ALL, DOCUMENTED, Strictness, first_disagreement
from .generator import PROFILES, generate
from .observe import Seen, first_sentence
from .program import Program, script, without
from .runner import Step
from .shrink import shrink

TENSOR = Seen(
    dtype="float32",
    shape=(2,),
    values=(1.0, 2.0),
    is_inference=False,
    requires_grad=True,
    is_leaf=True,
    is_view=False,
    version=0,
    base=None,
    grad_fn=None,
    same_as="a",
    grad=None,
)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        pytest.param("One. Two.", "One.", id="first of two sentences"),
        pytest.param("not allowed.You can", "not allowed.You can", id="PyTorch's missing space joins sentences"),
        pytest.param("shape torch.Size([3]) and 1.5", "shape torch.Size([3]) and 1.5", id="dots inside words"),
        pytest.param("f(): out=... arguments no. More", "f(): out=... arguments no.", id="an ellipsis ends nothing"),
        pytest.param("got one of:\n * (x)", "got one of:", id="a line ends it too"),
        pytest.param("<f object at 0x7f01> no", "<f> no", id="addresses differ in every run"),
    ],
)
def test_first_sentence(message: str, sentence: str) -> None:
    assert first_sentence(RuntimeError(message)) == f"RuntimeError: {sentence}"


@pytest.mark.parametrize("profile", PROFILES)
def test_programs_are_python_and_the_same_every_time(profile: str) -> None:
    for seed in range(150):
        program = generate(profile, seed)
        assert program == generate(profile, seed)
        compile(script(program), program.name, "exec")


def test_programs_do_not_depend_on_the_python_version() -> None:
    """The text of two programs, so that a change of the drawing is seen and the recording made anew."""
    assert generate("documented", 1).lines[:2] == FIRST_LINES["documented"]
    assert generate("leaks", 1).lines[:2] == FIRST_LINES["leaks"]


FIRST_LINES = {
    "documented": (
        "a = torch.tensor([[0.5, -0.5], [-1.0, 0.25]], requires_grad=True)",
        "b = torch.tensor([[3.0, 0.75], [0.75, 2.5]])",
    ),
    "leaks": ("a = torch.ones(2, 3, requires_grad=True)", "b = torch.ones(1)"),
}


def test_removing_a_with_moves_its_body_left() -> None:
    lines = ("with x:", "    a", "    with y:", "        b", "c")
    assert without(lines, 0, 1) == ("a", "with y:", "    b", "c")
    assert without(lines, 2, 3) == ("with x:", "    a", "    b", "c")
    assert without(lines, 3, 4) == ("with x:", "    a", "c")
    assert without(lines, 0, 4) == ("c",)


def test_shrinking_leaves_only_what_is_needed() -> None:
    lines = ("a", "b", "with x:", "    c", "    d", "with y:", "    e", "f")
    tried = []

    def fails(program: Program) -> bool:
        tried.append(program)
        text = [line.strip() for line in program.lines]
        return "b" in text and "    e" in program.lines and "f" in text

    assert shrink(Program("documented", 0, lines), fails).lines == ("b", "with y:", "    e", "f")
    assert len(tried) < 40


def test_script_defines_what_the_program_uses_and_what_that_uses() -> None:
    program = Program("documented", 0, ("a = torch.ones(2)", "with torch.no_grad():", "    Modes.apply(a)", "a[5]"))
    text = script(program, failing=frozenset({3}), module="guardfix.runtime_shim")
    assert text.startswith("import guardfix.runtime_shim as torch\nseen = []\nclass Modes(")
    assert "class Square" not in text
    assert text.endswith("try:\n    a[5]\nexcept Exception as error:\n    print(type(error).__name__, error)\n")
    compile(text, "script", "exec")


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        pytest.param({"values": (1.0, 2.002)}, "values", id="0.1 % off"),
        pytest.param({"values": (1.0, float("nan"))}, "values", id="nan"),
        pytest.param({"values": (1.0,)}, "values", id="a value less"),
        pytest.param({"dtype": "float64"}, "dtype", id="dtype"),
        pytest.param({"shape": (1, 2)}, "shape", id="shape"),
        pytest.param({"is_inference": True}, "is_inference", id="inference"),
        pytest.param({"requires_grad": False}, "requires_grad", id="requires_grad"),
        pytest.param({"is_leaf": "!RuntimeError: no"}, "is_leaf", id="leaf raises"),
        pytest.param({"is_view": True}, "is_view", id="view"),
        pytest.param({"version": 1}, "version", id="version"),
        pytest.param({"base": "b"}, "base", id="base"),
        pytest.param({"grad_fn": "AddBackward0"}, "grad_fn", id="grad_fn"),
        pytest.param({"same_as": "b"}, "same_as", id="identity"),
        pytest.param({"grad": replace(TENSOR, values=(0.0, 0.0))}, "grad", id="a gradient"),
    ],
)
def test_every_aspect_counts(change: dict[str, object], aspect: str) -> None:
    other = replace(TENSOR, **change)  # type: ignore[arg-type]
    found = first_disagreement([Step("ok", None, {"a": TENSOR})], [Step("ok", None, {"a": other})])
    assert found is not None
    assert (found.line, found.variable, found.aspect) == (0, "a", aspect)


@pytest.mark.parametrize(
    ("change", "strict", "agrees"),
    [
        pytest.param({"values": (1.00001, 2.0)}, DOCUMENTED, True, id="rounding"),
        pytest.param({"grad_fn": "AddBackward0"}, DOCUMENTED, True, id="names of nodes"),
        pytest.param({"grad_fn": "AddBackward0"}, ALL, False, id="names of nodes, on request"),
        pytest.param({"grad_fn": "!RuntimeError: x"}, DOCUMENTED, False, id="a node that raises"),
        pytest.param({"grad": replace(TENSOR, version=4)}, DOCUMENTED, True, id="version of a gradient"),
        pytest.param({"grad": replace(TENSOR, version=4)}, ALL, False, id="version of a gradient, on request"),
        pytest.param({"grad": replace(TENSOR, values=(1.0, 2.002))}, DOCUMENTED, False, id="gradient 0.1 % off"),
    ],
)
def test_what_is_tolerated(change: dict[str, object], strict: Strictness, agrees: bool) -> None:
    tensor = replace(TENSOR, grad_fn="MulBackward0", grad=TENSOR)
    other = replace(tensor, **change)  # type: ignore[arg-type]
    found = first_disagreement([Step("ok", None, {"a": tensor})], [Step("ok", None, {"a": other})], strict)
    assert (found is None) is agrees


@pytest.mark.parametrize(
    ("got", "aspect"),
    [
        pytest.param(Step("RuntimeError: b", None, {}), "message", id="another message"),
        pytest.param(Step("TypeError: a", None, {}), "outcome", id="another type"),
        pytest.param(Step("ok", None, {}), "outcome", id="no error"),
    ],
)
def test_errors_are_compared(got: Step, aspect: str) -> None:
    found = first_disagreement([Step("RuntimeError: a", None, {})], [got])
    assert found is not None
    assert found.aspect == aspect


def test_modes_are_compared() -> None:
    found = first_disagreement([Step("ok", modes=(False, True))], [Step("ok", modes=(True, True))])
    assert found is not None
    assert found.aspect == "modes"


def test_values_of_expressions_are_compared() -> None:
    assert first_disagreement([Step("ok", [1, True])], [Step("ok", [1, 1])]) is not None
    assert first_disagreement([Step("ok", "tensor(1)")], [Step("ok", "tensor(2)")]) is not None
    assert first_disagreement([Step("ok", "tensor(7.0001)")], [Step("ok", "tensor(7.0002)")]) is None
    assert first_disagreement([Step("ok", "tensor(7.0001)")], [Step("ok", "tensor(7.01)")]) is not None
    assert first_disagreement([Step("ok", "tensor(7.)")], [Step("ok", "tensor(7.0)")]) is not None
    assert first_disagreement([Step("ok", "float32")], [Step("ok", "float64")]) is not None
    assert first_disagreement([Step("ok", "tensor([7.])")], [Step("ok", "tensor([7., 7.])")]) is not None
    assert first_disagreement([Step("ok", TENSOR)], [Step("ok", replace(TENSOR, version=1))]) is not None


def test_a_recording_survives_the_file(tmp_path: Path) -> None:
    steps = (
        Step("ok", None, {"a": TENSOR}),
        Step("ok", [], {"a": TENSOR, "b": replace(TENSOR, version="!RuntimeError: no", grad=TENSOR, shape=())}),
        Step("RuntimeError: x", None, {"a": TENSOR, "b": [True, None, [1.5, "text"]]}),
        Step("ok", 0, {"b": None}, (False, True)),
        Step("ok", False, {"b": None, "c": [[replace(TENSOR, is_leaf="!RuntimeError: gone")]]}),
        Step("ok", TENSOR, {}),
    )
    made = recording.Recording(Program("leaks", 3, ("a",) * len(steps)), "every", steps)
    recording.save([made], "2.13.0", tmp_path / "file")
    assert recording.load(tmp_path / "file") == [made]
