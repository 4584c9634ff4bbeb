"""What a callback runs that another file stores in a member: it counts, and makes nothing sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check

LOOP = """#pragma once
#include <functional>
#include <torch/torch.h>
struct Loop {
  std::function<at::Tensor(at::Tensor)> body;
  at::Tensor once(at::Tensor x);
};
"""
RUN = """#include "loop.h"
at::Tensor Loop::once(at::Tensor x) {
  at::AutoNonVariableTypeMode guard(true);
  return body(x);
}
"""
HEAD = '#include <torch/script.h>\n#include "loop.h"\n'
MODEL = "[m](at::Tensor x) mutable { return m.forward({x}).toTensor(); }"
PLAIN = "[](at::Tensor x) { return x.relu(); }"
TRAINS = "[n, &o](at::Tensor x) mutable { auto y = n->forward(x).sum(); y.backward(); o.step(); return y; }"
# Somewhere the project computes gradients and defines ops, so that what it is about says nothing.
REST = {
    "fit.cpp": "#include <torch/torch.h>\nvoid fit(at::Tensor w) { w.sum().backward(); }\n",
    "ops.cpp": '#include <torch/library.h>\nTORCH_LIBRARY(my, m) { m.def("ident(Tensor x) -> Tensor"); }\n',
}


def stores(callback: str, into: str = "Loop& l", head: str = HEAD) -> str:
    return f"{head}void set({into}, torch::jit::Module m) {{ l.body = {callback}; }}\n"


CASES = {
    "a model": ({"a.cpp": stores(MODEL)}, "inference medium"),
    "a model, by a pointer": (
        {"a.cpp": HEAD + f"void set(Loop* l, torch::jit::Module m) {{ l->body = {MODEL}; }}\n"},
        "inference medium",
    ),
    "a model, in an object of its own": (
        {"a.cpp": HEAD + f"int serve(torch::jit::Module m) {{ Loop l; l.body = {MODEL}; return 0; }}\n"},
        "inference medium",
    ),
    "two models": ({"a.cpp": stores(MODEL), "b.cpp": stores(MODEL)}, "inference medium"),
    "no model": ({"a.cpp": stores(PLAIN)}, "unknown low"),
    "a model, and what trains": (
        {"a.cpp": stores(MODEL), "b.cpp": stores(TRAINS, "Loop& l, torch::nn::Linear n, torch::optim::SGD& o")},
        "unknown low",
    ),
    "a model, and no model": ({"a.cpp": stores(MODEL), "b.cpp": stores(PLAIN)}, "unknown low"),
    "a member of another class": (
        {"page.h": LOOP.replace("Loop", "Page"), "a.cpp": stores(MODEL, "Page& l", HEAD.replace("loop.h", "page.h"))},
        "unknown low",
    ),
    "an object whose class is not in sight": ({"a.cpp": stores(MODEL, "T& l")}, "unknown low"),
    "a class of the same name": (
        {"a.cpp": stores(MODEL, head="#include <torch/script.h>\nstruct Loop { std::function<void()> body; };\n")},
        "unknown low",
    ),
    "a vendored library": ({"third_party/other/a.cpp": stores(MODEL)}, "unknown low"),
    "a folder of tests": ({"tests/a.cpp": stores(MODEL, head="#include <torch/script.h>\n")}, "unknown low"),
    "a string": ({"make.py": f"CODE = '''\n{stores(MODEL)}'''\n"}, "unknown low"),
    "a document": ({"docs/loop.md": f"```cpp\n{stores(MODEL)}```\n"}, "unknown low"),
    "another target": (
        {
            "other/a.cpp": stores(MODEL, head="#include <torch/script.h>\n"),
            "CMakeLists.txt": "add_library(run run.cpp)\nadd_library(other other/a.cpp)\n",
        },
        "unknown low",
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_a_callback_of_another_file(files: dict[str, str], expected: str, tmp_path: Path) -> None:
    for name, text in {"guardfix.toml": "", "loop.h": LOOP, "run.cpp": RUN, **REST, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    report = check([str(tmp_path)], Options(workers=1, select=("GF1",), include_docs=True))
    found = [one.decision for one in report.findings if one.path == str(tmp_path / "run.cpp")]
    assert [f"{one.context.value} {one.confidence.value}" for one in found if one is not None] == [expected]
