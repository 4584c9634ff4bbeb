"""Small trees of C++ files, and what is decided about one use in them."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Applicability

GUARD = "at::AutoNonVariableTypeMode guard(true);"
BLEND = f"at::Tensor blend(at::Tensor a) {{\n  {GUARD}\n  return at::add(a, a);\n}}\n"
DECLARED = "#pragma once\n#include <torch/torch.h>\nat::Tensor blend(at::Tensor a);\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(my, {key}, m) {{ m.impl("blend", blend); }}\n'


class Said(Struct, frozen=True):
    """A piece of evidence: the file that it is about, and what another file says."""

    about: str
    text: str
    path: str = "src/run.cpp"
    header: str = DECLARED
    """What links the two where both include it; empty where one has to include the other."""
    base: bool = False
    """The file that it is about includes the other one."""


SAID = {
    "registered under Autograd": Said(BLEND, REGISTERED.format(key="Autograd")),
    "registered under AutogradCUDA": Said(BLEND, REGISTERED.format(key="AutogradCUDA")),
    "registered under ADInplaceOrView": Said(BLEND, REGISTERED.format(key="ADInplaceOrView")),
    "registered under CPU": Said(BLEND, REGISTERED.format(key="CPU")),
    "registered without a key": Said(BLEND, 'TORCH_LIBRARY(my, m) { m.def("blend", blend); }\n'),
    "called from a workload": Said(
        BLEND, 'at::Tensor f(at::Tensor x) { auto m = torch::jit::load("m.pt"); return blend(x); }\n'
    ),
    "called from a kernel": Said(
        BLEND,
        'at::Tensor f(at::Tensor x) { return blend(x); }\nTORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("f", f); }\n',
    ),
    "a functor that is registered": Said(
        f"struct Blend {{ at::Tensor operator()(at::Tensor a) {{ {GUARD} return at::add(a, a); }} }};\n",
        'static auto registry = torch::RegisterOperators().op("my::blend", '
        "torch::RegisterOperators::options().kernel<Blend>(c10::DispatchKey::Autograd));\n",
        path="src/run.h",
        header="",
    ),
    "a functor, defined outside its class, that is registered": Said(
        f"at::Tensor Blend::operator()(at::Tensor a) {{ {GUARD} return at::add(a, a); }}\n",
        'static auto registry = torch::RegisterOperators().op("my::blend", '
        "torch::RegisterOperators::options().kernel<Blend>(c10::DispatchKey::Autograd));\n",
        header="#pragma once\n#include <torch/torch.h>\nstruct Blend { at::Tensor operator()(at::Tensor a); };\n",
    ),
    "the class of a method": Said(
        f"at::Tensor Net::forward(at::Tensor a) {{ {GUARD} return at::add(a, a); }}\n",
        "struct Net : torch::autograd::Function<Net> { static at::Tensor forward(at::Tensor a); };\n",
        header="",
        base=True,
    ),
    "the class of a process group's method": Said(
        f"void Ring::reduce(int peer) {{ {GUARD} send(peer); }}\n",
        "struct Ring : c10d::Backend { void reduce(int peer); };\n",
        header="",
        base=True,
    ),
    "the base of a class": Said(
        f"struct Net : Base<Net> {{ static at::Tensor forward(at::Tensor a) {{ {GUARD} return at::add(a, a); }} }};\n",
        "template <class T> struct Base : torch::autograd::Function<T> {};\n",
        header="",
        base=True,
    ),
    "a struct of guards": Said(
        "struct Scope { at::AutoNonVariableTypeMode guard{true}; };\n",
        "at::Tensor f(at::Tensor x) { Scope scope; return model.forward({x}).toTensor(); }\n",
        path="src/run.h",
        header="",
    ),
    "a macro": Said(
        f"#define SCOPE {GUARD[:-1]}\n",
        "at::Tensor f(at::Tensor x) { SCOPE; return model.forward({x}).toTensor(); }\n",
        path="src/run.h",
        header="",
    ),
}
MARK = f"void unrelated() {{ {GUARD} }}\n"
"""A guard, so that each of the other files is read whether or not it is asked about a name."""


class Answer(Struct, frozen=True):
    context: str
    confidence: str
    fix: str
    places: frozenset[str]


def answer(folder: Path, about: str, files: dict[str, str], docs: bool = False) -> Answer:
    """What is decided about the first use in a file, by what places."""
    folder.mkdir(exist_ok=True)
    (folder / "guardfix.toml").touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = fixes_for(check([str(folder)], Options(workers=1, select=("GF1",), include_docs=docs)))
    found = [one for one in report.findings if one.path == str(folder / about) and one.decision is not None]
    decision = found[0].decision
    assert decision is not None
    fix = found[0].fix.applicability if found[0].fix is not None else Applicability.DISPLAY
    places = frozenset(Path(one.path).relative_to(folder).as_posix() for one in decision.evidence)
    return Answer(decision.context.value, decision.confidence.value, fix.value, places)


def python(text: str, name: str = "CODE") -> str:
    return f'{name} = """\n{text}"""\n'
