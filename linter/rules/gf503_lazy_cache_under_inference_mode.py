"""GF503 lazy-cache-under-inference-mode: an attribute is filled with an inference tensor and also used in training.

What it flags: an attribute that a condition fills with a new tensor (`if self.x is None:`, `if n > self.seen:`, `if not
hasattr(self, "x")`) where that runs under inference mode (in a decorated method, in a `with` block, or in a method
called from there), when it is then used where autograd records and would save it. Also one that
`forward`, or a method that it calls, fills, if the model is run both under inference mode and to train: by other
classes and functions, in this file or in others, that build the model, are given it, or hold it as a part of theirs.

Why it is bad: the first call fills the cache. If that is an evaluation, every later training step finds an
inference tensor and raises `Inference tensors cannot be saved for backward`. If it is training, all is well. So the
failure depends on the order of calls.

Example:

    @torch.inference_mode()
    def predict(self, x):
        if self.mask is None:
            self.mask = torch.ones(x.shape[-1])
        return self.model(x * self.mask)

    def forward(self, x):
        return self.model(x * self.mask)

Use instead: fill the cache in `__init__` (as a buffer), or under `with torch.inference_mode(False):`, or use
`torch.no_grad()` for the evaluation.

Fix: none.

Not flagged: caches that are only read by methods under inference mode; values that aren't new tensors; models of
which one object is run under inference mode and another one trained, in different files; models that only tests
(of unittest or pytest) run both ways.

Limits: only attributes of `self` are followed. Calls from code that isn't read, such as another package's trainer,
aren't seen.

References: https://docs.pytorch.org/docs/stable/notes/autograd.html (inference mode).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..decision.event_words import ESCAPES
from ..facts import Facts
from ..findings import Finding
from ..flow.events import Event, EventKind
from ..flow.project_events import events_in
from ..guards import Effect, guards_with
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF503",
    "lazy-cache-under-inference-mode",
    group=RuleGroup.RAISES,
    since="0.1.0",
    languages=("python",),
    odd_uses_only=True,
    follows_models=True,
    guards=guards_with(Effect.INFERENCE),
)


@RULE.check_event(EventKind.CACHE_READ, *ESCAPES)
def filled(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    if event.cached is None or event.cached.path != facts.path:
        return
    first = next(
        one for one in events_in(facts, project) if one.cached and one.certain and one.cached.span == event.cached.span
    )
    if event is not first:
        return  # it is read in several places
    message = (
        f"`{event.cached.shown}` becomes an inference tensor when `{event.cached.function}` fills it under "
        f"inference mode, and {event.what}"
    )
    yield RULE.at_event(event, facts, project, message, span=event.cached.span)
