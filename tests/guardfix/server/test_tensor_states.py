"""What the editor shows of tensors and modes, as the real server says it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("pygls")

from .editor_client import EditorClient, Message, applied, span

PYTHON = dedent(
    """\
    import torch

    w = torch.nn.Parameter(torch.ones(3))


    def helper(x):
        y = x * w
        return y.view(-1)


    @torch.inference_mode()
    def predict(x: torch.Tensor):
        h = torch.relu(torch.ones(3))
        return helper(h)


    def train():
        v = torch.ones(3, requires_grad=True)
        with torch.no_grad():
            target = torch.relu(v * 2)
        loss = (v * target).sum()
        target = predict(v)
        return target * v


    def unknown(given):
        return given
    """
)
CPP = dedent(
    """\
    #include <torch/torch.h>

    at::Tensor scale(const at::Tensor& x, const at::Tensor& w) {
      return x * w;
    }

    at::Tensor run() {
      auto w = torch::ones({3}, torch::requires_grad());
      at::Tensor features;
      {
        c10::InferenceMode guard;
        features = torch::relu(torch::ones({3}));
        auto row = features.view({1, 3});
      }
      auto product = scale(features, w);
      {
        torch::NoGradGuard no_grad;
        auto doubled = w * 2;
      }
      return product;
    }
    """
)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditorClient]:
    folder = tmp_path_factory.mktemp("project")
    (folder / ".git").mkdir()
    with EditorClient(folder, options={"inlayHints": False, "modeHints": True}) as client:
        yield client


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@pytest.fixture(autouse=True)
def nothing_left_open(editor: EditorClient) -> Iterator[None]:
    yield
    editor.close_all()


def place_of(text: str, shown: str) -> tuple[int, int]:
    """The line and character of the `|` in a line of the text that has it nowhere."""
    lines = text.splitlines()
    return lines.index(shown.replace("|", "")), shown.index("|")


def hover_lines(editor: EditorClient, path: Path, text: str, shown: str) -> list[str] | None:
    """The lines of a hover, without the addresses of its links."""
    uri = editor.open(path, text)
    found = editor.hover(uri, *place_of(text, shown))
    if found is None:
        return None
    value = found["contents"]["value"].replace(f"({uri}#L", "(#")
    return [line for line in value.splitlines() if line]


HOVERS = [
    pytest.param(
        PYTHON,
        "    |y = x * w",
        [
            "### `y`",
            "Called from [line 14](#14): an inference tensor, doesn't require grad",
            "1. inference mode begins ([line 11](#11))",
            "2. calls `helper` ([line 14](#14))",
            "3. `*` makes an inference tensor ([line 7](#7))",
            "From other callers: a normal tensor, requires grad if `w` or `x` does (if `x` is a tensor)",
            "---",
            "At this line, called from [line 14](#14): inference mode is on (`inference_mode`, [line 11](#11))",
            "At this line, from other callers: autograd records",
        ],
        id="what a function makes depends on who calls it",
    ),
    pytest.param(
        PYTHON,
        "        target = torch.|relu(v * 2)",
        [
            "### `torch.relu(v * 2)`",
            "A normal tensor, doesn't require grad",
            "1. `no_grad` begins: nothing is recorded ([line 19](#19))",
            "---",
            "At this line, grad mode is off (`no_grad`, [line 19](#19))",
        ],
        id="over a function's name, what it gives",
    ),
    pytest.param(
        PYTHON,
        "    loss = (v * |target).sum()",
        [
            "### `target`",
            "A normal tensor, doesn't require grad",
            "1. `no_grad` begins: nothing is recorded ([line 19](#19))",
            "---",
            "At this line, autograd records",
        ],
        id="a tensor that was made under a guard, behind it",
    ),
    pytest.param(
        PYTHON,
        "    target = predict(|v)",
        [
            "### `v`",
            "A normal tensor, requires grad, a leaf",
            "---",
            "At this line, autograd records",
        ],
        id="a leaf",
    ),
    pytest.param(PYTHON, "def |helper(x):", None, id="no tensor: a function"),
    pytest.param(PYTHON, "import |torch", None, id="no tensor: a module"),
    pytest.param(PYTHON, "    return |given", None, id="nothing is known"),
    pytest.param(
        PYTHON.replace("torch.inference_mode()", "timed").replace("torch.no_grad()", "span()"),
        "    |y = x * w",
        None,
        id="no guard in the program",
    ),
    pytest.param(
        CPP,
        "    auto |row = features.view({1, 3});",
        [
            "### `row`",
            "An inference tensor, doesn't require grad, a view of `features`",
            "1. inference mode begins ([line 11](#11))",
            "2. `relu` makes an inference tensor ([line 12](#12))",
            "---",
            "At this line, inference mode is on (`InferenceMode`, [line 11](#11))",
        ],
        id="C++: a view",
    ),
    pytest.param(
        CPP,
        "  return |x * w;",
        [
            "### `x`",
            "Called from [line 15](#15): an inference tensor, doesn't require grad",
            "1. inference mode begins ([line 11](#11))",
            "2. `relu` makes an inference tensor ([line 12](#12))",
            "From other callers: nothing is known of it here",
            "---",
            "At this line, autograd records",
        ],
        id="C++: an argument",
    ),
    pytest.param(
        CPP,
        "    auto doubled = w |* 2;",
        [
            "### `w * 2`",
            "A normal tensor, doesn't require grad",
            "1. `NoGradGuard` begins: nothing is recorded ([line 17](#17))",
            "---",
            "At this line, grad mode is off (`NoGradGuard`, [line 17](#17))",
        ],
        id="C++: an operator",
    ),
]


@pytest.mark.parametrize(("text", "shown", "lines"), HOVERS)
def test_hover_over_a_tensor(
    editor: EditorClient, project: Path, text: str, shown: str, lines: list[str] | None
) -> None:
    path = project / ("states.py" if text.startswith("import") else "states.cpp")
    assert hover_lines(editor, path, text, shown) == lines


def test_what_has_saved_a_tensor_is_told(editor: EditorClient, project: Path) -> None:
    text = "import torch\n\n\ndef f(a):\n    with torch.no_grad():\n        x = torch.ones(3)\n"
    text += "    v = torch.ones(3, requires_grad=True)\n    y = x * v\n    x.add_(1)\n    return y\n"
    lines = hover_lines(editor, project / "saved.py", text, "    |x.add_(1)")
    assert lines is not None
    assert "1. `*` saves it for backward ([line 8](#8))" in lines


MODES = [
    pytest.param(
        PYTHON,
        [
            ("def helper(x):", "inference mode is on or autograd records"),
            ("def predict(x: torch.Tensor):", "inference mode is on"),
            ("    with torch.no_grad():", "grad mode is off"),
        ],
        id="decorated, called under a guard, and a block",
    ),
    pytest.param(
        CPP,
        [
            ("    c10::InferenceMode guard;", "inference mode is on"),
            ("    torch::NoGradGuard no_grad;", "grad mode is off"),
        ],
        id="C++: guards that are declared",
    ),
    pytest.param(
        "import torch\n\n\ndef f(x):\n    torch.set_grad_enabled(False)\n    y = x * 2\n"
        "    torch.set_grad_enabled(True)\n    return y\n",
        [
            ("    torch.set_grad_enabled(False)", "grad mode is off"),
            ("    torch.set_grad_enabled(True)", "autograd records"),
        ],
        id="a call that sets the mode",
    ),
    pytest.param(
        "import torch\n\n\ndef f(x):\n    with torch.enable_grad():\n        return x\n", [], id="nothing changes"
    ),
]


@pytest.mark.parametrize(("text", "hints"), MODES)
def test_hints_tell_the_mode_that_begins(
    editor: EditorClient, project: Path, text: str, hints: list[tuple[str, str]]
) -> None:
    uri = editor.open(project / ("modes.py" if text.startswith("import") else "modes.cpp"), text)
    params = {"textDocument": {"uri": uri}, "range": span(0, 0, 99, 0)}
    lines = text.splitlines()
    found = sorted((one["position"]["line"], one["label"]) for one in editor.request("textDocument/inlayHint", params))
    assert [(lines[line], label) for line, label in found] == hints


def test_modes_are_told_only_where_asked_for(tmp_path: Path) -> None:
    with EditorClient(tmp_path, options={"inlayHints": False}) as client:
        uri = client.open(tmp_path / "modes.py", PYTHON)
        params = {"textDocument": {"uri": uri}, "range": span(0, 0, 99, 0)}
        assert client.request("textDocument/inlayHint", params) == []


def why_titles(found: list[Message]) -> list[str]:
    return [one["title"] for one in found if one["title"].startswith("guardfix: ")]


def test_why_where_the_machine_foresees_an_error(editor: EditorClient, project: Path) -> None:
    uri = editor.open(project / "why.cpp", CPP)
    line, _ = place_of(CPP, "  return |x * w;")
    found = editor.actions(uri, span(line, 2, line, 2))
    why, cure = [one for one in found if one["title"].startswith("guardfix: ")]
    assert why["title"] == "guardfix: why “Inference tensors cannot be saved for backward”?"
    assert cure["title"].startswith("guardfix: `NoGradGuard` in place of `c10::InferenceMode` at line:11 (cost: ")
    assert "c10::NoGradGuard guard;" in applied(CPP, cure["edit"])
    editor.request("workspace/executeCommand", why["command"])
    told = editor.told("window/showMessage")["message"]
    assert "`features` is an inference tensor: `*` must save it for backward." in told
    assert "2. `relu` makes an inference tensor (why.cpp:12)" in told
    assert "What cures it:" in told


PLAIN = "import torch\n\n\ndef f(x):\n    with torch.no_grad():\n        y = x * 2\n    return y.sum()\n"


@pytest.mark.parametrize(
    ("message", "source", "titles"),
    [
        pytest.param(
            "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
            "pytest",
            ["guardfix: why “element … of tensors does not require grad and does not have a grad_fn”?"],
            id="a test runner shows PyTorch's message",
        ),
        pytest.param("AssertionError: 1 != 2", "pytest", [], id="another message"),
        pytest.param("`x` is possibly unbound", "pyright", [], id="another tool"),
    ],
)
def test_why_of_what_others_tell(
    editor: EditorClient, project: Path, message: str, source: str, titles: list[str]
) -> None:
    uri = editor.open(project / "told.py", PLAIN)
    where = span(6, 4, 6, 10)
    told = {"range": where, "message": message, "source": source}
    params = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": [told]}}
    found = editor.request("textDocument/codeAction", params)
    assert [title for title in why_titles(found) if "why" in title] == titles


def test_a_line_without_an_error_has_no_why(editor: EditorClient, project: Path) -> None:
    uri = editor.open(project / "why.cpp", CPP)
    assert why_titles(editor.actions(uri, span(7, 4, 7, 4))) == []
