"""Programs that write C++: what their names and branches say about a guard in a string."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check

GUARD = "at::AutoNonVariableTypeMode guard(true);"
FRAGMENT = f"""'''
{GUARD}
${{statements}}
'''"""
WRITTEN = "BODY = '''{{ret}} {}({{args}}) {{{{{{{{\n" + GUARD + "\n{};\n}}}}}}}}'''.format(**parts)"
DOLLARS = f"""BODY = '''
at::Tensor ${{name}}() {{
{GUARD}
return WORK;
}}
'''"""
PER_CENTS = DOLLARS.replace("${name}", "%(name)s") + " % parts"
KERNEL_GUARD = "at::AutoDispatchBelowADInplaceOrView guard;"
BELOW = "at::AutoDispatchBelowAutograd guard;"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        pytest.param(f"DISPATCH_TO_BASE = {FRAGMENT}", "kernel template-of-kernels", id="a kernel's name"),
        pytest.param(f"T.KERNEL_BODY = {FRAGMENT}", "kernel template-of-kernels", id="an attribute's name"),
        pytest.param(f"KERNEL = Template({FRAGMENT})", "kernel template-of-kernels", id="in a call"),
        pytest.param(
            f"INPLACE_DISPATCH = {FRAGMENT}", "below_autograd template-of-in-place-or-view", id="an in-place kernel's"
        ),
        pytest.param(f"SERVE_MODEL = {FRAGMENT}", "inference template-of-workloads", id="a workload's name"),
        pytest.param(f"BODY = {FRAGMENT}", "unknown", id="a name that says nothing"),
        pytest.param(f"def kernel():\n    return {FRAGMENT}", "unknown", id="no variable"),
        pytest.param(WRITTEN.format("{name}", "{call}"), "kernel template-of-calls", id="any function, any call"),
        pytest.param(DOLLARS.replace("WORK", "${call}"), "kernel template-of-calls", id="any call, by a dollar"),
        pytest.param(PER_CENTS.replace("WORK", "%(call)s"), "kernel template-of-calls", id="any call, by a per cent"),
        pytest.param(DOLLARS.replace("WORK", "at::${op}"), "kernel template-of-calls", id="any op of a namespace"),
        pytest.param(
            DOLLARS.replace(GUARD, "").replace("WORK", f"([&]() {{ {GUARD} return at::${{op}}; }})()"),
            "kernel template-of-calls",
            id="in a lambda that is called at once",
        ),
        pytest.param(DOLLARS.replace("WORK", "op.call(x)"), "unknown", id="any function, one op"),
        pytest.param(DOLLARS.replace("WORK", "op.run()"), "unknown", id="any function, one op without arguments"),
        pytest.param(DOLLARS.replace("${name}", "run").replace("WORK", "${call}"), "unknown", id="one function"),
        pytest.param(WRITTEN.format("apply", "{call}"), "unknown", id="one function, any call"),
        pytest.param(WRITTEN.format("{name}", "log({x})"), "unknown", id="any function, one call"),
        *(
            pytest.param(DOLLARS.replace("${name}", "run").replace("return WORK;", work), "unknown", id=f"work: {work}")
            for work in ("{{ work }}", "{% for one in work %}", "@WORK@", "${work}")
        ),
        pytest.param(f"KERNEL = 1\nprint({FRAGMENT})", "unknown", id="another statement's name"),
        pytest.param(
            f"if is_view(f):\n    guard = '{GUARD}'\nelse:\n    guard = '{KERNEL_GUARD}'",
            "below_autograd chosen-beside-kernel-guard",
            id="views have this one",
        ),
        pytest.param(
            f"guard = '{BELOW}' if modifies_arguments(f) else '{GUARD}'",
            "kernel chosen-beside-guard-below-autograd",
            id="all but in-place ops have this one",
        ),
        pytest.param(f"guard = '{BELOW}' if fast else '{GUARD}'", "unknown", id="another condition"),
        pytest.param(f"if is_view(f):\n    guard = '{GUARD}'\nelse:\n    guard = ''", "unknown", id="no other guard"),
        pytest.param(
            f"if is_view(f):\n    a = '{KERNEL_GUARD}'\nelse:\n    def g():\n        b = '{GUARD}'",
            "unknown",
            id="a function of its own",
        ),
        pytest.param(
            f"guard = '{KERNEL_GUARD}' if torch_version >= (1, 9) else '{GUARD}'", "", id="kept for old torch"
        ),
        pytest.param(f"guard = '' if torch_version >= (1, 9) else '{GUARD}'", "unknown", id="nothing for new torch"),
    ],
)
def test_what_a_program_says(program: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "generate.py"
    path.write_text("import torch\n" + program + "\n")
    decisions = [one.decision for one in check([str(path)], Options(workers=1)).findings if one.decision]
    said = [" ".join([one.context.value, *(e.signal for e in one.evidence)]) for one in decisions]
    assert ", ".join(said) == expected
