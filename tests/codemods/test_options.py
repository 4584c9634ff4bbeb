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
    path.write_text(text)
    apply_fixes(fixes_for(check([str(path)], Options(select=("GF1",))), choice=choice))
    return path.read_text()


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


def test_a_guard_below_the_load_moves_up_with_unsafe_and_stays_with_no_hoist(tmp_path: Path) -> None:
    lines = LOAD.splitlines(keepends=True)
    stays = "".join([*lines[:5], "  c10::InferenceMode guard;  // off\n", *lines[7:]])
    moved = "".join([*lines[:4], "  c10::InferenceMode guard;  // off\n", lines[4], *lines[7:]])
    assert migrated(LOAD, tmp_path, SAFE) == stays
    assert migrated(LOAD, tmp_path, FixChoice(unsafe=True, hoist=False)) == stays
    assert migrated(LOAD, tmp_path, UNSAFE) == moved


INCLUDES = [
    pytest.param("#include <torch/script.h>\n", False, id="a wide header"),
    pytest.param("#import <LibTorch/LibTorch.h>\n", False, id="the framework's header"),
    pytest.param("#include <c10/core/InferenceMode.h>\n", False, id="its own header"),
    pytest.param("#include <c10/core/GradMode.h>\n", True, id="a narrow header"),
    pytest.param("#include <c10/core/GradMode.h>\n#include <vector>\n", True, id="a narrow header and the library"),
    pytest.param('#include "unknown.h"\n', False, id="a header that cannot be found may bring it"),
    pytest.param('#include "wide.h"\n', False, id="a header of the project that brings it"),
    pytest.param('#include "narrow.h"\n', True, id="a header of the project that does not"),
    pytest.param("", True, id="no header at all"),
]


@pytest.mark.parametrize(("includes", "added"), INCLUDES)
def test_the_include_is_added_only_where_nothing_brings_the_class(includes: str, added: bool, tmp_path: Path) -> None:
    (tmp_path / "wide.h").write_text("#pragma once\n#include <torch/torch.h>\n")
    (tmp_path / "narrow.h").write_text("#pragma once\n#include <c10/util/Exception.h>\n")
    body = "void run(Model& model) {\n  c10::NoGradGuard no_grad;\n  at::AutoNonVariableTypeMode g;\n  model.forward();\n}\n"
    text = migrated(includes + body, tmp_path, UNSAFE)
    line = "#include <c10/core/InferenceMode.h>\n"
    assert text.count(line) == (1 if added or line in includes else 0)
    assert "c10::InferenceMode g;" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("#include <ATen/core/grad_mode.h>\n#include <c10/util/Optional.h>\n",
                     "#include <ATen/core/grad_mode.h>\n#include <c10/core/InferenceMode.h>\n#include <c10/util/Optional.h>\n",
                     id="in order"),
        pytest.param("#include <vector>\n\n#include <c10/core/GradMode.h>\n",
                     "#include <vector>\n\n#include <c10/core/GradMode.h>\n#include <c10/core/InferenceMode.h>\n",
                     id="behind PyTorch's own headers"),
        pytest.param("// License\n\n#pragma once\n\nstruct Model;\n",
                     "// License\n\n#pragma once\n\n#include <c10/core/InferenceMode.h>\n\nstruct Model;\n", id="behind the pragma"),
        pytest.param("#ifdef X\n#include <c10/core/GradMode.h>\n#endif\n#include <c10/util/Optional.h>\n",
                     "#ifdef X\n#include <c10/core/GradMode.h>\n#endif\n#include <c10/core/InferenceMode.h>\n#include <c10/util/Optional.h>\n",
                     id="not inside a condition"),
        pytest.param("#ifndef A_H\n#define A_H\n#include <c10/core/GradMode.h>\n",
                     "#ifndef A_H\n#define A_H\n#include <c10/core/GradMode.h>\n#include <c10/core/InferenceMode.h>\n",
                     id="inside the include guard"),
        pytest.param("#include <c10/core/GradMode.h>\r\n", "#include <c10/core/GradMode.h>\r\n#include <c10/core/InferenceMode.h>\r\n",
                     id="CRLF"),
    ],
)  # fmt: skip
def test_where_the_include_goes(before: str, after: str, tmp_path: Path) -> None:
    newline = "\r\n" if "\r\n" in before else "\n"
    body = newline.join(["void run(Model& model) {", "  c10::NoGradGuard no_grad;", "  at::AutoNonVariableTypeMode g;",
                         "  model.forward();", "}", "#endif" if "A_H" in before else ""])  # fmt: skip
    path = tmp_path / "a.h"
    path.write_bytes((before + body).encode())
    apply_fixes(fixes_for(check([str(path)]), choice=UNSAFE))
    assert path.read_bytes().decode().startswith(after)
