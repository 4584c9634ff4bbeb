"""GF401 guard-on-async-def: a guard that decorates an `async def` has no effect.

What it flags: `@torch.no_grad()`, `@torch.inference_mode()`, `@torch.enable_grad()` or `@torch.set_grad_enabled(…)`
on a coroutine function or an asynchronous generator.

Why it is bad: the decorator enters the guard, calls the function, and leaves the guard. But calling an `async def`
only creates a coroutine. Its body runs later, when it is awaited, and by then the guard is gone. There is no error
or warning: gradients are recorded, memory use grows, and everything else works.

Example:

    @torch.no_grad()
    async def embed(text):
        return model(tokenize(text))

Use instead: a `with` statement inside the function, around the computation but not around an `await`:

    async def embed(text):
        with torch.no_grad():
            return model(tokenize(text))

Fix: unsafe, if the body neither awaits nor yields: the decorator becomes a `with` around the body, and the guard,
which had no effect, takes effect. If there are several guards above one function, the lowest one has the fix for
all of them. Otherwise the fix is only described: a guard held across an `await` also applies to all other tasks of
the event loop (GF406).

Not flagged: a guard above a decorator that may turn the coroutine function into an ordinary one (`@torch.no_grad()`
above `@async_to_sync`); plain functions and generators, which the decorator handles.

Limits: what an unknown decorator returns isn't looked up: a guard above one is left out, even if the decorator gives
back a coroutine function.

References: torch/utils/_contextlib.py of torch 2.13 (`context_decorator` handles generators but not coroutines).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.project import Project
from ..answered_once import answered_once
from ..facts import Facts, Form, Span
from ..facts.python_model import Kind, PythonUse
from ..facts.python_uses import MODES, uses_of
from ..findings import Applicability, Finding
from ..guards import public_guards, python_guard
from ..lazy_regex import lazy_regex
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF401",
    "guard-on-async-def",
    group=RuleGroup.NO_EFFECT,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    languages=("python",),
    odd_uses_only=True,
    guards=public_guards,
)

# Decorators that give the function back as it was, or wrap it in another coroutine function.
_TRANSPARENT = lazy_regex(
    r"^(?:pytest|pytest_asyncio|typing|typing_extensions|abc|functools\.wraps)\b|^(?:staticmethod|classmethod|override"
    r"|abstractmethod|wraps)$|\.(?:get|post|put|delete|patch|head|route|websocket|on_event|api_route|exception_handler)$"
)


@RULE.check_file
def on_async_def(facts: Facts, project: Project) -> Iterator[Finding]:
    for stack in stacks(facts).values():
        for found in stack:
            decorated = found.decorated
            assert decorated is not None
            message = (
                f"`@{found.use.written}` has no effect on the {decorated.kind} `{decorated.name}`: "
                "its body runs after the guard has exited"
            )
            yield RULE.at(facts, found.use.span, message, use=found.use)


@answered_once
def stacks(facts: Facts) -> dict[Span, list[PythonUse]]:
    """The guards that do nothing above each `async def`, from above."""
    found: dict[Span, list[PythonUse]] = {}
    opaque: dict[Span, int] = {}
    for use in uses_of(facts, MODES, Form.DECORATOR):
        decorated = use.decorated
        if decorated is None or decorated.kind not in (Kind.ASYNC_FUNCTION, Kind.ASYNC_GENERATOR):
            continue
        if decorated.span not in opaque:
            opaque[decorated.span] = _lowest_opaque(decorated.decorators)
        if decorated.position >= opaque[decorated.span]:
            found.setdefault(decorated.span, []).append(use)
    return found


def _lowest_opaque(decorators: Sequence[str]) -> int:
    """Which decorator is the last that may make something else of a coroutine function; -1 when none may."""
    for position in reversed(range(len(decorators))):
        if not (_TRANSPARENT.search(decorators[position]) or python_guard(decorators[position])):
            return position
    return -1
