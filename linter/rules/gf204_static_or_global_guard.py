"""GF204 static-or-global-guard: a guard with static storage sets the mode of whichever thread initializes it.

What it flags: a guard at namespace scope, a `static` or `thread_local` guard in a function, a static data member.

Why it is bad: the mode is a property of the thread. The constructor sets it for the thread that happens to run the
initializer (the main thread, the first caller, or whichever thread loads the library), and it stays set. Other threads
aren't affected, and all other code on that thread gets a mode that nothing in sight explains. The destructor runs when
the program exits.

Example:

    static torch::NoGradGuard no_grad;

    torch::Tensor detect(const torch::Tensor& image) { return model->forward(image); }

Use instead: a guard in the function that runs the model:

    torch::Tensor detect(const torch::Tensor& image) {
      c10::InferenceMode guard;
      return model->forward(image);
    }

Fix: none. The declaration doesn't say which functions need the guard.

Not flagged: `NoGradGuard no_grad();` at namespace scope (a function), `extern` declarations, static pointers and
optionals without a guard in them, static functions.

Limits: only the guard's own declaration is looked at: a static object of a class that has a guard as a member isn't
(GF206 reports the member).

When not to use it: a single-threaded program that never trains, and whose authors want the mode on from start to
finish.

Seen in public code: all of 10 places that we looked at were wrong: at the top of a file, as a static member, and as
a `static` local in a constructor or in the function that runs the model, where a second thread runs without it.

References: https://pytorch.org/cppdocs/notes/inference_mode.html; c10/core/GradMode.h (the state is thread-local).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse
from ..findings import Finding
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF204",
    "static-or-global-guard",
    group=RuleGroup.LEAKS,
    since="0.1.0",
)


@RULE.check_use
def static_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if use.form not in (Form.STATIC, Form.GLOBAL) or use.macro is not None or use.under_error:
        return
    if not is_gradient_guard(use, facts, project):
        return
    if use.form is Form.GLOBAL:
        how = "at namespace scope sets the mode of the thread that runs the initializers, until the program exits"
    elif use.function is None:
        how = "as a static member sets the mode of the thread that runs the initializers, until the program exits"
    else:
        how = "with static storage stays on in the thread that initializes it, even after this function returns"
    yield RULE.at(facts, use.type_span, f"{use.guard} {how}; declare it in the functions that need it", use=use)
