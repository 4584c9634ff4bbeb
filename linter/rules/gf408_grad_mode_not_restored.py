"""GF408 grad-mode-not-restored: grad mode is switched off by a call, and stays off when the function is left.

What it flags: `torch.set_grad_enabled(False)` or `torch._C._set_grad_enabled(False)` as a statement, and
`GradMode::set_enabled(false)`, in a function that goes on to work and doesn't set the mode again, or sets it again in a
statement that an exception skips: outside of `finally`, with calls between. Also such a statement of Python at the top
of a module that is imported.

Why it is bad: the mode belongs to the thread, not to the function. After the function has returned, or an exception has
left it, the caller's code records nothing either. Nothing fails where the mode was switched: training goes on without
gradients, or `backward()` fails much later.

Example:

    torch::Tensor run(torch::nn::Linear& net, const torch::Tensor& input) {
      bool before = torch::GradMode::is_enabled();
      torch::GradMode::set_enabled(false);
      auto output = net->forward(input);
      torch::GradMode::set_enabled(before);
      return output;
    }

Use instead: a guard, which sets the mode again on every way out. In Python `with torch.no_grad():`.

    torch::Tensor run(torch::nn::Linear& net, const torch::Tensor& input) {
      torch::NoGradGuard no_grad;
      return net->forward(input);
    }

Fix: unsafe. The statement becomes a guard: `torch::NoGradGuard no_grad;`, or in Python `with torch.no_grad():` around
the rest of the block. The statement that set the mode again goes, where it is the last one before `return`. What relied
on the mode that was left behind records gradients again.

Not flagged: `with torch.set_grad_enabled(False):`; a restore in `finally`, in an object's destructor, in another method
of the class, or in a function that is handed to somebody (`addCleanup`); code below a guard that sets the mode again;
functions that set the mode and do nothing else, or that are called so (`disable_gradients`, `setup`); `main` and what a
script does last; functions that a thread or process is started with; phases of training, each of which sets the mode
that it needs; scripts and tests, at their top.

Limits: a mode that isn't a literal is not followed, and a function that another one calls to set the mode isn't looked
into. Files without a guard are read for it if they contain `GradMode::set_enabled` or `_C._set_grad_enabled`.

Seen in public code: `run_ASR_BPE_CTC` in NeMo's decoder_timestamps_utils.py leaves gradients off for its caller.

References: torch/autograd/grad_mode.py and c10/core/GradMode.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.cpp_mode_switches import cpp_mode_switches
from ..analysis.grad_switches import ModeSwitch
from ..analysis.project import Project
from ..analysis.python_mode_switches import python_mode_switches
from ..facts import Facts
from ..findings import Applicability, Finding
from ..guards import GRAD_MODE_SETTER, PYTHON, SET_GRAD_ENABLED, Guard
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup


def _setter(guard: Guard) -> bool:
    """Python's `set_grad_enabled`, which is a guard as well."""
    return guard is PYTHON[SET_GRAD_ENABLED]


RULE = Rule(
    "GF408",
    "grad-mode-not-restored",
    group=RuleGroup.LEAKS,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("cpp", "python"),
    odd_uses_only=True,
    guards=_setter,
    needles_in={"cpp": (GRAD_MODE_SETTER.encode(),), "python": (b"_C._set_grad_enabled",)},
)


@RULE.check_file
def not_restored(facts: Facts, project: Project) -> Iterator[Finding]:
    switches = {"cpp": cpp_mode_switches, "python": python_mode_switches}.get(facts.language)
    for switch in switches(facts) if switches is not None else ():
        yield RULE.at(facts, switch.span, _message(switch, facts))


def _message(switch: ModeSwitch, facts: Facts) -> str:
    if not switch.function:
        return f"`{switch.written}` switches gradients off for every program that imports this module; use a guard"
    if switch.restore is None:
        return f"grad mode stays off when `{switch.function}` is left: nothing sets it again; use a guard"
    row = facts.row(switch.restore.start)
    return (
        f"grad mode stays off when `{switch.skipped_by}` raises: an exception skips line {row}, which sets it again; "
        "use a guard"
    )
