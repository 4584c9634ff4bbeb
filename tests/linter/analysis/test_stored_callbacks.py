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


HELD = """#pragma once
#include <functional>
#include <torch/torch.h>
using Body = std::function<at::Tensor(at::Tensor)>;
struct Loop {
  explicit Loop(Body first = nullptr) : first_(std::move(first)) {}
  void set_body(Body b) { body_ = std::move(b); }
  void add(std::string name, Body b) { table_[name] = b; steps_.push_back(std::move(b)); }
  at::Tensor once(at::Tensor x);
  Body first_, body_, open;
  std::map<std::string, Body> table_;
  std::vector<Body> steps_;
};
"""
SERVES = "struct Net { at::Tensor run(at::Tensor x) { return m.forward({x}).toTensor(); } torch::jit::Module m; };\n"
USES = {
    "a setter": ("body_(x)", f"void wire(Loop& l, torch::jit::Module m) {{ l.set_body({MODEL}); }}"),
    "a constructor": ("first_(x)", f"int main() {{ torch::jit::Module m; Loop l({MODEL}); }}"),
    "a constructor, in braces": ("first_(x)", f"int main() {{ torch::jit::Module m; Loop l{{{MODEL}}}; }}"),
    "a constructor, by a maker": (
        "first_(x)",
        f"auto f(torch::jit::Module m) {{ return std::make_unique<Loop>({MODEL}); }}",
    ),
    "a constructor, by new": (
        "first_(x)",
        f"auto f(torch::jit::Module m) {{ auto* l = new Loop({MODEL}); return l; }}",
    ),
    "std::bind": ("body_(x)", SERVES + "void wire(Loop& l, Net* n) { l.set_body(std::bind(&Net::run, n, _1)); }"),
    "a bound method": ("open(x)", SERVES + "void wire(Loop& l, Net* n) { l.open = std::bind(&Net::run, n, _1); }"),
    "a static method": ("body_(x)", SERVES + "void wire(Loop& l) { l.set_body(&Net::run); }"),
    "a variable": ("body_(x)", f"void wire(Loop& l, torch::jit::Module m) {{ auto f = {MODEL}; l.set_body(f); }}"),
    "a map": ('table_.at("a")(x)', f'void wire(Loop& l, torch::jit::Module m) {{ l.add("a", {MODEL}); }}'),
    "a map, by index": ('table_["a"](x)', f'void wire(Loop& l, torch::jit::Module m) {{ l.add("a", {MODEL}); }}'),
    "a map's entry": ("it->second(x)", f'void wire(Loop& l, torch::jit::Module m) {{ l.add("a", {MODEL}); }}'),
    "a list": ("steps_.front()(x)", f'void wire(Loop& l, torch::jit::Module m) {{ l.add("a", {MODEL}); }}'),
    "through a function": (
        "body_(x)",
        f"static void give(Loop& l, Body b) {{ l.set_body(std::move(b)); }}\n"
        f"void wire(Loop& l, torch::jit::Module m) {{ give(l, {MODEL}); }}",
    ),
}
"""How a function that runs a model gets into a member, and is called."""


def held(call: str, other: str) -> dict[str, str]:
    find = 'auto it = table_.find("a"); ' if "it->" in call else ""
    run = RUN.replace("return body(x)", f"{find}return {call}")
    return {"loop.h": HELD, "run.cpp": run, "a.cpp": f"{HEAD}{other}\n"}


CASES |= {f"held: {name}": (held(*use), "inference medium") for name, use in USES.items()}
CASES |= {
    f"held: {name}, not a model": (held(u[0], u[1].replace("forward", "to")), "unknown low") for name, u in USES.items()
}
CASES |= {
    "held: one setter of two gives another thing": (
        held("body_(x)", USES["a setter"][1]) | {"b.cpp": f"{HEAD}void other(Loop& l) {{ l.set_body({PLAIN}); }}\n"},
        "unknown low",
    ),
    "held: one of two isn't in sight": (
        held("body_(x)", USES["a setter"][1]) | {"b.cpp": f"{HEAD}void other(Loop& l) {{ l.set_body(made()); }}\n"},
        "unknown low",
    ),
    "held: another member": (held("body_(x)", USES["a constructor"][1]), "unknown low"),
    "held: a setter of another class": (
        held("body_(x)", USES["a setter"][1])
        | {"a.cpp": "#include <torch/script.h>\nstruct Page;\n" + USES["a setter"][1].replace("Loop&", "Page&")},
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
