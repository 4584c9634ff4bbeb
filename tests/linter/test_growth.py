"""Checking and fixing a file takes time in proportion to its size: counted in Python calls, which no clock disturbs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from guardfix.codemods.plan import with_fixes
from guardfix.linter.engine import Options, check

HEAD = "#include <torch/script.h>\n"
NET = "(torch::jit::Module& m, at::Tensor x)"
GUARD = "at::AutoNonVariableTypeMode g(true);"
RUN = "return m.forward({x}).toTensor();"


def calls_made(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, `work` calls."""
    count = 0

    def called(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        pytest.param("", f"at::Tensor f@{NET} {{ {GUARD} {RUN} }}\n", "", id="functions"),
        pytest.param("", f"at::Tensor f@{NET} {{ {GUARD} {RUN} }} ", "", id="functions in one line"),
        pytest.param("struct Net {\n", f"at::Tensor f@{NET} {{ {GUARD} {RUN} }}\n", "};\n", id="methods of one class"),
        pytest.param(
            "",
            "struct F@ : torch::autograd::Function<F@> { static at::Tensor forward("
            f"torch::autograd::AutogradContext* ctx, at::Tensor x) {{ {GUARD} return at::relu(x); }} }};\n",
            "",
            id="autograd functions",
        ),
        pytest.param(
            "", f"using G@ = at::AutoNonVariableTypeMode; at::Tensor f@{NET} {{ G@ g; {RUN} }}\n", "", id="aliases"
        ),
        pytest.param(
            "using G = at::AutoNonVariableTypeMode;\n",
            f"at::Tensor f@{NET} {{ G g(true); {RUN} }}\n",
            "",
            id="uses of one alias",
        ),
        pytest.param(
            "using at::AutoNonVariableTypeMode;\n",
            f"at::Tensor f@{NET} {{ AutoNonVariableTypeMode g(true); {RUN} }}\n",
            "",
            id="uses of one using-declaration",
        ),
        pytest.param("", f"#define G@ {GUARD}\nat::Tensor f@{NET} {{ G@ {RUN} }}\n", "", id="macros"),
        pytest.param(
            "",
            "struct G@ { at::AutoGradMode a{false}; at::AutoNonVariableTypeMode b{true}; };\n"
            f"at::Tensor f@{NET} {{ G@ g; {RUN} }}\n",
            "",
            id="structs of guards",
        ),
        pytest.param(
            "", f"at::Tensor f@{NET} {{\n{GUARD}  // NOLINT(GF2)\n{RUN} }}\n", "", id="comments for the linter"
        ),
        pytest.param("", "at::AutoNonVariableTypeMode guard@(true);\n", "", id="namespace scope"),
        pytest.param(
            "void f(at::Tensor x) {\n  at::Tensor y = x;\n",
            "  { c10::InferenceMode guard; y = torch::relu(x); }\n  y = y.clone();\n",
            "}\n",
            id="InferenceMode in blocks of one function",
        ),
        pytest.param(
            "void f(at::Tensor x) {\n  at::Tensor y = x;\n",
            "  if (y.numel() > @) { c10::InferenceMode guard; y = torch::relu(x); }\n",
            "}\n",
            id="InferenceMode in branches of one function",
        ),
    ],
)
def test_work_grows_with_the_file(tmp_path: Path, before: str, line: str, after: str) -> None:
    def work(count: int) -> int:
        path = tmp_path / f"{count}.cpp"
        path.write_text(HEAD + before + "".join(line.replace("@", str(n)) for n in range(count)) + after)
        return calls_made(lambda: with_fixes(check([str(path)], Options(workers=1))))

    work(2)  # what is loaded and compiled once
    small, large = work(60), work(240)
    assert large < 5 * small  # 16 times, were each use compared with all others
