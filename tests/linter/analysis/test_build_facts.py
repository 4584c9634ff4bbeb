"""What a build decides: which branches count, which headers a file sees. Without one nothing changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check

OLD = "at::AutoNonVariableTypeMode guard(true);"
BOTH = f"""#include "config.h"
at::Tensor f(at::Tensor x) {{
  {OLD}
#if TRAINING
  loss(x).backward();
#else
  return model.forward({{x}}).toTensor();
#endif
}}
"""
GUARDED = "#ifndef CONFIG_H\n#define CONFIG_H\n{}\n#endif\n"


def decided(folder: Path, files: dict[str, str], commands: dict[str, str] | None, about: str = "a.cpp") -> str:
    """What is decided in the files of a name; `commands` has each source's options."""
    (folder / "guardfix.toml").touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    if commands is not None:
        entries = [
            {"directory": str(folder), "file": name, "command": f"c++ {options} -c {name}"}
            for name, options in commands.items()
        ]
        (folder / "compile_commands.json").write_text(json.dumps(entries))
    found = check([str(folder)], Options(workers=1)).findings
    decisions = [one.decision for one in found if one.path.endswith(about) and one.decision is not None]
    return " ".join(one.context.value for one in decisions)


@pytest.mark.parametrize(
    ("files", "commands", "expected"),
    [
        pytest.param({}, None, "unknown", id="no build: both branches count"),
        pytest.param({}, {"a.cpp": ""}, "unknown", id="a macro that nobody sets can be any library's"),
        pytest.param({}, {"a.cpp": "-DTRAINING=0"}, "inference", id="a macro with a value"),
        pytest.param({}, {"a.cpp": "-UTRAINING"}, "inference", id="a macro that is undefined"),
        pytest.param({}, {"a.cpp": "-DTRAINING"}, "unknown", id="the other branch"),
        pytest.param(
            {}, {"a.cpp": "", "b.cpp": "-DTRAINING"}, "inference", id="a switch that another file's command sets"
        ),
        pytest.param({}, {"a.cpp": "-DTRAINING=level"}, "unknown", id="a value that nobody knows"),
        pytest.param({"config.h": GUARDED.format("#define TRAINING 0")}, {"a.cpp": ""}, "inference", id="by a header"),
        pytest.param(
            {"config.h": GUARDED.format("#define TRAINING 0")}, None, "unknown", id="a header without a build"
        ),
        pytest.param(
            {"inc/config.h": "#pragma once\n#define TRAINING 0"}, {"a.cpp": "-Iinc"}, "inference", id="in a folder"
        ),
        pytest.param(
            {"inc/config.h": "#pragma once\n#define TRAINING 0"}, {"a.cpp": ""}, "unknown", id="not in any folder"
        ),
        pytest.param(
            {"config.h": '#include "more.h"', "more.h": "#define TRAINING 0"},
            {"a.cpp": ""},
            "inference",
            id="two steps",
        ),
        pytest.param(
            {"config.h": "#ifdef FAST\n#define TRAINING 0\n#endif"}, {"a.cpp": ""}, "unknown", id="under a condition"
        ),
        pytest.param(
            {"config.h": "#define TRAINING 0\n#undef TRAINING"}, {"a.cpp": ""}, "unknown", id="defined and forgotten"
        ),
        pytest.param(
            {"config.h": "#define TRAINING 0", "a.cpp": "#define TRAINING 1\n" + BOTH},
            {"a.cpp": ""},
            "unknown",
            id="two values",
        ),
        pytest.param(
            {"a.cpp": BOTH.replace("  loss", f"  {{ {OLD} y(x); }}\n  loss")},
            {"a.cpp": "-DTRAINING=0"},
            "unknown unknown",
            id="a branch with a guard counts for it",
        ),
    ],
)
def test_macros_settle_conditions(
    files: dict[str, str], commands: dict[str, str] | None, expected: str, tmp_path: Path
) -> None:
    assert decided(tmp_path, {"a.cpp": BOTH, **files}, commands) == expected


CPU = "#pragma once\nusing Scope = at::AutoNonVariableTypeMode;\n"
GPU = "#pragma once\nusing Scope = c10::cuda::CUDAGuard;\n"
USER = '#include "scope.h"\nat::Tensor f(at::Tensor x) { Scope scope(true); return model.forward({x}).toTensor(); }\n'


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        pytest.param(None, "", id="no build: the name means two things"),
        pytest.param({"a.cpp": "-Icpu"}, "inference", id="the old guard"),
        pytest.param({"a.cpp": "-Igpu"}, "", id="another class"),
        pytest.param({"a.cpp": ""}, "", id="neither is found"),
    ],
)
def test_headers_settle_names(commands: dict[str, str] | None, expected: str, tmp_path: Path) -> None:
    files = {"cpu/scope.h": CPU, "gpu/scope.h": GPU, "a.cpp": USER}
    assert decided(tmp_path, files, commands) == expected


MACRO = "#pragma once\n#define SCOPE at::AutoNonVariableTypeMode scope(true)\n"
RUN = "at::Tensor run(at::Tensor x) { SCOPE; return model.forward({x}).toTensor(); }\n"
OP = "at::Tensor op(at::Tensor x) { SCOPE; return at::relu(x); }\n"


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        pytest.param(None, "unknown unknown", id="no build: each macro is what all users are"),
        pytest.param({"run.cpp": "-Iapp", "op.cpp": "-Iops"}, "inference kernel", id="each has its own users"),
    ],
)
def test_headers_settle_macros(commands: dict[str, str] | None, expected: str, tmp_path: Path) -> None:
    registered = 'TORCH_LIBRARY_IMPL(ns, Autograd, m) { m.impl("op", op); }\n'
    files = {
        "app/scope.h": MACRO,
        "ops/scope.h": MACRO,
        "run.cpp": "#include <scope.h>\n" + RUN,
        "op.cpp": "#include <scope.h>\n" + OP + registered,
    }
    assert decided(tmp_path, files, commands, "scope.h") == expected
