"""The tables of docs/decisions.md, made from the registered signals, the policy and the weighing itself.

    python -m guardfix.linter.decision.decision_tables docs/decisions.md

rewrites what is between `<!-- NAME: generated -->` and `<!-- end of NAME -->` in the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..findings import Context, Side
from ..lazy_regex import lazy_regex
from .policy import POLICY
from .signal_kinds import Asked, Signal, SignalKind, Weight
from .signal_registry import signal_kinds
from .weighing import weigh

_BLOCK = lazy_regex(r"(<!-- (\w+): generated -->\n).*?(<!-- end of \2 -->)", re.DOTALL)
_SIDES = (Side.KERNEL, Side.BELOW_AUTOGRAD, Side.INFERENCE, Side.REMOVE)
_CASES: tuple[tuple[str, tuple[Weight, ...], tuple[Weight, ...]], ...] = (
    ("one weak signal", (Weight.WEAK,), ()),
    ("one moderate signal", (Weight.MODERATE,), ()),
    ("one strong signal", (Weight.STRONG,), ()),
    ("two strong signals", (Weight.STRONG, Weight.STRONG), ()),
    ("two strong signals, one weak against", (Weight.STRONG, Weight.STRONG), (Weight.WEAK,)),
    ("two strong signals, one strong against", (Weight.STRONG, Weight.STRONG), (Weight.STRONG,)),
    ("one decisive signal", (Weight.DECISIVE,), ()),
    ("one decisive signal, one weak against", (Weight.DECISIVE,), (Weight.WEAK,)),
    ("one decisive signal, one strong against", (Weight.DECISIVE,), (Weight.STRONG,)),
)
"""What is found for a side, and against it: from inference, or for inference from a kernel."""


def signal_table() -> str:
    """Every kind of signal, with what it speaks for and its weight: by side, heaviest first."""
    weights = list(Weight)
    kinds = sorted(signal_kinds(), key=lambda kind: (list(Side).index(kind.side), -weights.index(kind.weight)))
    rows = [(f"`{kind.name}`", _meaning(kind), _speaks_for(kind), kind.weight.value) for kind in kinds]
    return _table(("signal", "what is found", "speaks for", "weight"), rows)


def _meaning(kind: SignalKind) -> str:
    instead = ", ".join(f"`{other.name}`" for other in kind.unless)
    said = [f"not beside {instead}"] if instead else []
    if kind.asked is not Asked.ALWAYS:
        said.append(f"only {kind.asked.value}")
    return f"{kind.meaning} ({'; '.join(said)})" if said else kind.meaning


def _speaks_for(kind: SignalKind) -> str:
    side = kind.side.value.replace("against_", "against ")
    return f"{side}; {kind.in_place.value} for an in-place or view op" if kind.in_place is not None else side


def policy_table() -> str:
    """Every number of the policy, with its reason."""
    rows = []
    for name, (value, reason) in POLICY.reasons().items():
        rows.append((f"`{name}`", ("yes" if value else "no") if isinstance(value, bool) else str(value), reason))
    return _table(("number", "is", "why"), rows)


def outcome_table() -> str:
    """What the weighing itself makes of some signals of one side."""
    rows = [(case, *(_outcome(side, own, against) for side in _SIDES)) for case, own, against in _CASES]
    return _table(("signals", *(side.value for side in _SIDES)), rows)


def _outcome(side: Side, own: Sequence[Weight], against: Sequence[Weight]) -> str:
    opposite = Side.KERNEL if side is Side.INFERENCE else Side.INFERENCE
    found = [_example(side, weight) for weight in own] + [_example(opposite, weight) for weight in against]
    known = [signal for signal in found if signal is not None]
    if len(known) < len(found):
        return "-"  # no such signal is registered
    context, confidence = weigh(known, POLICY)
    return "unknown" if context is Context.UNKNOWN else confidence.value


def _example(side: Side, weight: Weight) -> Signal | None:
    """A signal for that side with that weight, when there is a kind that can give one."""
    kinds = (kind for kind in signal_kinds() if side in (kind.side, kind.in_place) and kind.weight is weight)
    kind = next(kinds, None)
    return Signal(kind, side, "", "", 0, 0) if kind is not None else None


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: dict[str, Callable[[], str]] = {
    "signals": signal_table,
    "outcomes": outcome_table,
    "policy": policy_table,
}


def with_current_tables(page: str) -> str:
    """The page with each table made again. Raises `KeyError` for a block of a name that is not a table."""
    return _BLOCK.sub(lambda block: block[1] + TABLES[block[2]]() + block[3], page)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_current_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
