"""Options that choose among fixes: `--unsafe`, `--no-hoist`, `--remove-redundant`."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check

SAFE, UNSAFE = FixChoice(), FixChoice(unsafe=True)

FORWARD = """#include <torch/torch.h>

{helper}
class Scale : public torch::autograd::Function<Scale> {{
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& input) {{
    ctx->save_for_backward({{input}});
    at::AutoNonVariableTypeMode g;
    return {call};
  }}
}};
"""
PLAIN = "at::Tensor scale_impl(const at::Tensor& input) {\n  return input.mul(2);\n}\n"


def migrated(text: str, folder: Path, choice: FixChoice) -> str:
    path = folder / "a.cpp"
    path.write_bytes(text.encode())
    apply_fixes(fixes_for(check([str(path)], Options(select=("GF1",))), choice=choice))
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("helper", "call", "removed"),
    [
        pytest.param(PLAIN, "scale_impl(input)", True, id="an implementation in the same file"),
        pytest.param("", "scale_impl(input)", False, id="an implementation that cannot be seen"),
        pytest.param("", "at::mul(input, 2)", False, id="an op through the dispatcher"),
        pytest.param("", "input.mul(2)", False, id="a method through the dispatcher"),
        pytest.param(
            "at::Tensor scale(const at::Tensor& input) {\n"
            '  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("demo::scale", "").typed<decltype(scale)>();\n'
            "  return op.call(input);\n}\n",
            "scale(input)",
            False,
            id="a function that calls the op by its schema: deleting would recurse",
        ),
        pytest.param(
            "at::Tensor scale(const at::Tensor& input);\nat::Tensor scale_impl(const at::Tensor& input) {\n"
            "  return scale(input);\n}\n",
            "scale_impl(input)",
            False,
            id="an implementation that calls what cannot be seen",
        ),
        pytest.param(
            PLAIN + "at::Tensor twice(const at::Tensor& input) {\n  return scale_impl(scale_impl(input));\n}\n",
            "twice(input)",
            True,
            id="two functions deep",
        ),
    ],
)
def test_remove_redundant_only_where_the_callee_provably_bypasses_the_dispatcher(
    helper: str, call: str, removed: bool, tmp_path: Path
) -> None:
    text = FORWARD.format(helper=helper, call=call)
    gone = text.replace("    at::AutoNonVariableTypeMode g;\n", "")
    renamed = text.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
    assert migrated(text, tmp_path, FixChoice(unsafe=True, remove_redundant=True)) == (gone if removed else renamed)
    assert migrated(text, tmp_path, UNSAFE) == renamed
    assert migrated(text, tmp_path, SAFE) == renamed
    assert migrated(text, tmp_path, FixChoice(remove_redundant=True)) == (text if removed else renamed)


LOAD = """#include <torch/script.h>

at::Tensor predict(const at::Tensor& input) {
  // The model.
  auto module = torch::jit::load("m.pt");
  torch::NoGradGuard no_grad;
  at::AutoNonVariableTypeMode guard;  // off
  return module.forward({input}).toTensor();
}
"""


OLD, NEW = "  at::AutoNonVariableTypeMode guard;\n", "  c10::InferenceMode guard;\n"
LOADED = '  auto module = torch::jit::load("m.pt");\n'
RUN = "  return module.forward({input}).toTensor();\n}\n"
HEAD = "#include <torch/script.h>\n\nat::Tensor predict(const at::Tensor& input) {\n"


@pytest.mark.parametrize(
    ("body", "moved"),
    [
        pytest.param(
            f"{LOADED}  // No gradients\n  // from here on.\n{OLD}",
            f"  // No gradients\n  // from here on.\n{NEW}{LOADED}",
            id="about the guard",
        ),
        pytest.param(
            f"{LOADED}  /* No gradients\n   * here. */\n{OLD}",
            f"  /* No gradients\n   * here. */\n{NEW}{LOADED}",
            id="a block about the guard",
        ),
        pytest.param(f"{LOADED}  // Resize it.\n{OLD}", f"{NEW}{LOADED}  // Resize it.\n", id="about something else"),
        pytest.param(f"{LOADED}  // no grad\n\n{OLD}", f"{NEW}{LOADED}  // no grad\n\n", id="a line apart"),
        pytest.param(
            f"{LOADED}  // no grad\n  input.size(0);{OLD[1:]}",
            f"{NEW}{LOADED}  // no grad\n  input.size(0);\n",
            id="behind something else",
        ),
        pytest.param(
            f"{LOADED}  // guardfix: inference\n{OLD}", f"{NEW}{LOADED}", id="a declaration, which is done with"
        ),
    ],
)
def test_a_comment_about_the_guard_moves_up_with_it(tmp_path: Path, body: str, moved: str) -> None:
    assert migrated(HEAD + body + RUN, tmp_path, UNSAFE) == HEAD + moved + RUN
    windows = (HEAD + body + RUN).replace("\n", "\r\n")
    assert migrated(windows, tmp_path, UNSAFE) == (HEAD + moved + RUN).replace("\n", "\r\n")


def test_a_guard_below_the_load_moves_up_with_unsafe_and_stays_with_no_hoist(tmp_path: Path) -> None:
    lines = LOAD.splitlines(keepends=True)
    stays = "".join([*lines[:5], "  c10::InferenceMode guard;  // off\n", *lines[7:]])
    moved = "".join([*lines[:4], "  c10::InferenceMode guard;  // off\n", lines[4], *lines[7:]])
    assert migrated(LOAD, tmp_path, SAFE) == stays
    assert migrated(LOAD, tmp_path, FixChoice(unsafe=True, hoist=False)) == stays
    assert migrated(LOAD, tmp_path, UNSAFE) == moved
