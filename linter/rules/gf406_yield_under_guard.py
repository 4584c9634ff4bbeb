"""GF406 yield-under-guard: a `yield` or `await` inside a guard's block leaks the mode into other code.

What it flags: `yield`, `await`, `async for` or `async with` inside `with torch.no_grad():` or another guard.

Why it is bad: the mode belongs to the thread, not to the function. While a generator is suspended, its caller runs
in the generator's mode, and a generator that isn't exhausted never gives the mode back. While a coroutine waits,
all other tasks of the event loop run in its mode.

Example:

    def predictions(loader):
        with torch.no_grad():
            for batch in loader:
                yield model(batch)

Use instead: compute under the guard, and `yield` or `await` outside it. Or decorate the generator with
`@torch.no_grad()`, which leaves the mode at every `yield`:

    def predictions(loader):
        for batch in loader:
            with torch.no_grad():
                output = model(batch)
            yield output

Fix: none. Only a person can say what should be computed under the guard.

Not flagged: generators that are context managers or fixtures (`@contextmanager`, `@pytest.fixture`, `quiet =
contextmanager(_quiet)`, …), where this is the purpose; generators that a guard decorates; generators whose only
consumers in the file compute nothing with a step (a loop that keeps the last one, `list(…)`, `*_, last = …`);
functions, lambdas and generator expressions that are defined inside the block, and are suspended when they run.

Limits: only a `with` that names a guard is looked at, not a context manager of the project's own that enters one. What
consumes a generator is looked for in the same file.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (locally disabling gradient computation);
torch/utils/_contextlib.py of torch 2.13 (`_wrap_generator`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ..analysis.project import Project
from ..facts import Facts, Form, Span
from ..facts.expressions import last_name
from ..facts.python_uses import C_GUARDS, MODES, uses_of
from ..facts.spans import Nested
from ..facts.statement_walk import all_statements, bodies_around, bodies_of, calls_of
from ..findings import Finding
from ..guards import current_guards
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF406",
    "yield-under-guard",
    group=RuleGroup.LEAKS,
    since="0.1.0",
    languages=("python",),
    odd_uses_only=True,
    guards=current_guards,
)


@RULE.check_file
def suspension_points(facts: Facts, project: Project) -> Iterator[Finding]:
    reported: set[Span] = set()
    for found in uses_of(facts, MODES | C_GUARDS, Form.WITH):
        if not found.called or found.resumes or not found.suspension_points or found.only_read:
            continue
        pause = min(found.suspension_points, key=lambda pause: pause.span)
        if pause.span in reported:
            continue  # of nested guards the outermost is the leak
        reported.update(other.span for other in found.suspension_points)
        who = "the caller" if pause.word == "yield" else "every other task of the event loop"
        rest = len(found.suspension_points) - 1
        more = f" (and {rest} more in this block)" if rest else ""
        message = f"`{pause.word}` inside `with {found.use.written}(…)`: meanwhile {who} runs in this mode{more}"
        handed = _handed_to_a_thread(pause.span, facts)
        if handed:
            message += f"; what `{handed}` is given runs in another thread, which the guard doesn't reach"
        yield RULE.at(facts, pause.span, message, use=found.use)


_TO_THREADS = frozenset({"run_in_executor", "to_thread", "run_in_threadpool", "run_sync"})


def _handed_to_a_thread(span: Span, facts: Facts) -> str:
    """The function that hands what is awaited to another thread; empty where none does."""
    body = next(bodies_around(span, facts), None)
    if body is None:
        return ""
    return next((name for statement, name in _handing(facts).around(span) if body.span.holds(statement)), "")


@lru_cache(maxsize=16)
def _handing(facts: Facts) -> Nested[tuple[Span, str]]:
    """The statements of a file that hand something to another thread, and by which function."""
    found = [
        (statement.span, last_name(call.callee))
        for body in bodies_of(facts)
        for statement in all_statements(body.statements)
        for call in calls_of(statement)
        if last_name(call.callee) in _TO_THREADS
    ]
    return Nested(found, lambda one: one[0])
