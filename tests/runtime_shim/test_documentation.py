"""Every example of docs/shim.md prints what stands below it; what is said to differ from PyTorch does."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from guardfix.runtime_shim.core.gradient_modes import AutoNonVariableTypeMode

DOCUMENT = Path(__file__).parents[2] / "docs" / "shim.md"
_EXAMPLE = re.compile(
    r"^(?:<!-- (?P<mark>the shim alone|differs) -->\n)?```python\n(?P<program>.*?)^```\n\n```text\n(?P<output>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_IMPORT = "import guardfix.runtime_shim as torch\n"


@dataclass(frozen=True)
class Example:
    line: int
    mark: str | None
    program: str
    output: str


def examples(text: str) -> list[Example]:
    return [
        Example(text.count("\n", 0, found.start("program")) + 1, found["mark"], found["program"], found["output"])
        for found in _EXAMPLE.finditer(text)
    ]


def output(example: Example, module: str) -> str:
    """What the example prints, with `torch` the named module."""
    printed = io.StringIO()
    program = example.program.removeprefix(_IMPORT)
    code = compile("\n" * example.line + program, str(DOCUMENT), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, {"torch": importlib.import_module(module), "__name__": "example"})
    return printed.getvalue()


TEXT = DOCUMENT.read_text(encoding="utf-8")
EXAMPLES = examples(TEXT)
IDS = [f"line {e.line}" for e in EXAMPLES]


@pytest.mark.parametrize("example", EXAMPLES, ids=IDS)
def test_prints_what_the_document_says(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AutoNonVariableTypeMode, "_warned", False)  # it warns once a process
    assert output(example, "guardfix.runtime_shim") == example.output


@pytest.mark.oracle
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.mark != "the shim alone"])
def test_pytorch_prints_the_same_unless_said_to_differ(example: Example) -> None:
    pytest.importorskip("torch")
    assert (output(example, "torch") == example.output) == (example.mark is None)


def test_no_example_is_overlooked() -> None:
    assert len(EXAMPLES) == TEXT.count("```python\n") == TEXT.count("```text\n") > 15


def test_a_wrong_output_is_noticed() -> None:
    (example,) = examples("```python\nprint(torch.ones(1))\n```\n\n```text\ntensor([2.])\n```\n")
    assert output(example, "guardfix.runtime_shim") == "tensor([1.])\n" != example.output
