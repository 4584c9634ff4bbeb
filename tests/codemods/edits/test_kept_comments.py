"""A comment where a fix writes is kept beside what is written; only one about what goes goes along."""

from __future__ import annotations

import pytest

import guardfix
from guardfix.codemods.apply.settling import settle

OLD, NEW = "at::AutoNonVariableTypeMode", "at::AutoDispatchBelowADInplaceOrView"
KERNEL = (
    "struct F : torch::autograd::Function<F> {{\n"
    "  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x, bool on) {{\n"
    "{}    return f(x);\n  }}\n}};\n"
)


def fixed(text: str, select: str = "GF1") -> str:
    workspace = guardfix.Workspace.in_memory({"a.cpp": text.encode()})
    options, choice = guardfix.Options(select=(select,), workers=1), guardfix.FixChoice(unsafe=True)
    report = guardfix.check("a.cpp", options=options, choice=choice, workspace=workspace)
    return next((one.text.decode() for one in settle(report).rewrites if not one.refused), text)


REPLACED = [
    pytest.param(f"{OLD} g;", f"{NEW} g;", id="none"),
    pytest.param("at /* a */ ::AutoNonVariableTypeMode g;", f"{NEW} /* a */ g;", id="in the type"),
    pytest.param(
        "at:: // a\n        AutoNonVariableTypeMode g;", f"{NEW} // a\n     g;", id="in the type, up to its line's end"
    ),
    pytest.param(
        "at /* a */ :: // b\n        AutoNonVariableTypeMode\n        g;",
        f"{NEW} /* a */ // b\n        g;",
        id="two, and the type ends its line",
    ),
    pytest.param("at:: /* a\n  b */ AutoNonVariableTypeMode g;", f"{NEW} /* a\n  b */ g;", id="of two lines"),
    pytest.param(
        "at:: // a \\\n  b\n        AutoNonVariableTypeMode g;", f"{NEW} // a \\\n  b\n     g;", id="continued"
    ),
    pytest.param(f"{OLD} g(/* for speed */ true);", f"{NEW} g /* for speed */;", id="at the argument"),
    pytest.param(f"{OLD} g(true  // for speed\n    );", f"{NEW} g // for speed\n    ;", id="behind the argument"),
    pytest.param(f"{OLD} g(/*enabled=*/true);", f"{NEW} g;", id="the name of the argument goes with it"),
    pytest.param(f"{OLD} g{{/* enabled */ true}};", f"{NEW} g;", id="without an equals sign"),
    pytest.param(f"{OLD} /* a */ g(true);", f"{NEW} /* a */ g;", id="where nothing is written"),
    pytest.param(f'{OLD} g(true); log("/* a */ at::// b");', f'{NEW} g; log("/* a */ at::// b");', id="a literal"),
]


@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_replaced(before: str, after: str) -> None:
    assert fixed(KERNEL.format(f"    {before}\n")) == KERNEL.format(f"    {after}\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_line_ends(end: str) -> None:
    text = KERNEL.format("    at:: // a\n      AutoNonVariableTypeMode g;\n").replace("\n", end)
    assert fixed(text) == KERNEL.format(f"    {NEW} // a\n     g;\n").replace("\n", end)


OTHERS = [
    pytest.param("GF203", "at::AutoGradMode /* a */ (on);", "at::AutoGradMode guard /* a */ (on);", id="a name comes"),
    pytest.param(
        "GF203", "at::AutoGradMode // a\n     (on);", "at::AutoGradMode guard // a\n    (on);", id="of a whole line"
    ),
    pytest.param(
        "GF202",
        "if (on) { at::NoGradGuard /* a */ g;  // b\n    }",
        "at::AutoGradMode g(!on);  // b\n    /* a */",
        id="behind one that ends its line",
    ),
    pytest.param(
        "GF202",
        "if (on) { at::NoGradGuard g;  // b \n    }",
        "at::AutoGradMode g(!on);  // b",
        id="moved without its blank",
    ),
]


@pytest.mark.parametrize(("rule", "before", "after"), OTHERS)
def test_other_rules(rule: str, before: str, after: str) -> None:
    assert fixed(KERNEL.format(f"    {before}\n"), rule) == KERNEL.format(f"    {after}\n")


REMOVED = [
    pytest.param("    torch::NoGradGuard g;\n", "", id="none"),
    pytest.param("    torch:: /* a */ NoGradGuard g;\n", "    /* a */\n", id="in the type"),
    pytest.param("    torch:: // a\n      NoGradGuard g;\n", "    // a\n", id="up to its line's end"),
    pytest.param("    torch:: // a\n      NoGradGuard /* b */ g;  // c\n", "    // a\n    /* b */ // c\n", id="three"),
    pytest.param("    int i; torch:: /* a */ NoGradGuard g;\n", "    int i; /* a */\n", id="behind something"),
    pytest.param("    torch:: /* a */ NoGradGuard g; int i;\n", "    /* a */ int i;\n", id="before something"),
    pytest.param(
        "    torch:: // a\n      NoGradGuard g; int i;\n", "    // a\n    int i;\n", id="up to a line's end, before it"
    ),
    pytest.param("    torch:: /* no gradients */ NoGradGuard g;\n", "", id="one about the guard alone goes with it"),
    pytest.param("    // no gradients\n    torch::NoGradGuard g;\n", "", id="above it"),
    pytest.param("    // We need\n    // no gradients\n    torch::NoGradGuard g;\n", "", id="over two lines"),
]


@pytest.mark.parametrize(("before", "after"), REMOVED)
def test_removed(before: str, after: str) -> None:
    text = "void f(at::Tensor a, at::Tensor b) {{\n  c10::InferenceMode outer;\n  {{\n{}    a = a * b;\n  }}\n}}\n"
    assert fixed(text.format(before), "GF303") == text.format(after)


IN_PYTHON = [
    pytest.param("    g = torch._C._InferenceMode(True)\n", "    with torch.inference_mode():\n", id="none"),
    pytest.param(
        "    g = torch._C._InferenceMode(True  # why\n    )\n",
        "    # why\n    with torch.inference_mode():\n",
        id="one",
    ),
    pytest.param(
        "    g = torch._C._InferenceMode(  # a\n        True  # b\n    )\n",
        "    # a\n    # b\n    with torch.inference_mode():\n",
        id="two",
    ),
    pytest.param(
        '    text = """(\n"""\n    g = torch._C._InferenceMode(True  # why\n    )\n',
        '    text = """(\n"""\n    # why\n    with torch.inference_mode():\n',
        id="below a string of two lines",
    ),
    pytest.param(
        "    g = torch._C._InferenceMode(True)  # why\n", "    with torch.inference_mode():  # why\n", id="behind it"
    ),
]


@pytest.mark.parametrize(("before", "after"), IN_PYTHON)
def test_in_python(before: str, after: str) -> None:
    workspace = guardfix.Workspace.in_memory(
        {"a.py": f"import torch\ndef f(m, x):\n{before}    return m(x)\n".encode()}
    )
    options, choice = guardfix.Options(select=("GF405",), workers=1), guardfix.FixChoice(unsafe=True)
    report = guardfix.check("a.py", options=options, choice=choice, workspace=workspace)
    (rewritten,) = settle(report).rewrites
    assert rewritten.text.decode() == f"import torch\ndef f(m, x):\n{after}        return m(x)\n"
