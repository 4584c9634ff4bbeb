"""The `#include` that a replacement needs: whether it is added, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check

UNSAFE = FixChoice(unsafe=True)


def migrated(text: str, folder: Path) -> str:
    path = folder / "a.cpp"
    path.write_text(text)
    apply_fixes(fixes_for(check([str(path)], Options(select=("GF1",))), choice=UNSAFE))
    return path.read_text()


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
    text = migrated(includes + body, tmp_path)
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
