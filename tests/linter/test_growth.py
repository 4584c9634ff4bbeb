"""Checking and fixing a file takes time in proportion to its size: counted in Python calls, which no clock disturbs."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from call_counting import calls_made
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, Report, check
from guardfix.linter.frontends.python.python_parsing import parse_with_libcst

HEAD = "#include <torch/script.h>\n"
NET = "(torch::jit::Module& m, at::Tensor x)"
GUARD = "at::AutoNonVariableTypeMode g(true);"
RUN = "return m.forward({x}).toTensor();"


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
@pytest.mark.few(
    "namespace scope",
    "InferenceMode in blocks of one function",
    "InferenceMode in branches of one function",
)
def test_work_grows_with_the_file(tmp_path: Path, before: str, line: str, after: str) -> None:
    assert_linear(tmp_path, ".cpp", "@", HEAD + before, line, after)


OLD = "from ext import AutoNonVariableTypeMode\nmodel = torch.jit.load(path).eval()\n"


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        pytest.param("x = '''", "at::AutoNonVariableTypeMode g;\n", "'''\n", id="guards in one string"),
        pytest.param(
            "x = '''void f(Module& m) {\n",
            "{ at::AutoNonVariableTypeMode gNN; m.forward({}); }\n",
            "}'''\n",
            id="blocks in one string",
        ),
        pytest.param("x = (", "'at::AutoNonVariableTypeMode g;\\n'\n", ")\n", id="literals side by side"),
        pytest.param("x = (", "'AutoNonVariableTypeMode g;' ", ")\n", id="literals side by side in one line"),
        pytest.param("", "xNN = 'void f() { at::AutoNonVariableTypeMode g; }'\n", "", id="strings"),
        pytest.param("x = [\n", "f'{{ at::AutoNonVariableTypeMode g; }}',  # noqa: GF2\n", "]\n", id="f-strings"),
        pytest.param("", "@torch.no_grad()\n", "async def f(x): return x\n", id="one guard above one function"),
        pytest.param(
            "", "@torch.set_grad_enabled(NN)\n", "async def f(x):\n  return x\n", id="guards above one function"
        ),
        pytest.param("", "@torch.no_grad()\nasync def fNN(x):\n    return x\n\n", "", id="guards above functions"),
        pytest.param(OLD, "def fNN(x):\n  with AutoNonVariableTypeMode():\n    return model(x)\n", "", id="old guards"),
        pytest.param(
            OLD, "@AutoNonVariableTypeMode()\ndef fNN(x):\n  return model(x)\n", "", id="old guards above functions"
        ),
    ],
)
@pytest.mark.few(
    "guards in one string", "blocks in one string", "one guard above one function", "guards above one function"
)
def test_work_grows_with_the_python_file(
    tmp_path: Path, before: str, line: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []

    def parse(text: str, indent: str, newline: str) -> cst.Module | None:
        parsed.append(len(text))
        return parse_with_libcst(text, indent, newline)

    # One call, whatever it parses.
    monkeypatch.setattr("guardfix.codemods.edits.libcst_regions.parse_with_libcst", parse)
    assert_linear(tmp_path, ".py", "NN", "import torch\n" + before, line, after)
    # 2, 60 and 240 lines; each fix of one line may parse some hundred characters, but not the other lines.
    assert sum(parsed) < 200 * (2 + 60 + 240)


def with_all_fixes(path: Path) -> Report:
    report = fixes_for(check([str(path)], Options(workers=1)))
    report.make_fixes()
    return report


def assert_linear(folder: Path, suffix: str, number: str, before: str, line: str, after: str) -> None:
    def work(count: int) -> int:
        path = folder / f"{count}{suffix}"
        path.write_text(before + "".join(line.replace(number, str(n)) for n in range(count)) + after)
        reports: list[Report] = []
        calls = calls_made(lambda: reports.append(with_all_fixes(path)))
        assert any(facts.guard_uses or facts.embedded for facts in reports[0].project)
        return calls

    work(2)  # what is loaded and compiled once
    small, large = work(60), work(240)
    assert large < 5 * small  # 16 times, were each use compared with all others
