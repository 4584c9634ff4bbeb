"""GF103: the condition of the branch with the new guard lets torch 2 in."""

from __future__ import annotations

from guardfix.linter.lazy_regex import lazy_regex
from guardfix.linter.rules.gf103_stale_version_gate import stale_gates

from ..fix import Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_ONE_POINT_X = lazy_regex(
    r"\(?\s*TORCH_VERSION_MAJOR\s*==\s*1\s*\)?\s*&&\s*\(?\s*TORCH_VERSION_MINOR\s*(>=?)\s*(\d+)\s*\)?"
)


@FIX.fix
def widen(site: Site) -> Fix | None:
    """`MAJOR == 1 && MINOR >= n` -> `MAJOR > 1 || (MAJOR == 1 && MINOR >= n)`, where that is the whole condition."""
    gates = (gate.branch for gate in stale_gates(site.facts) if gate.directive == site.finding.span)
    branch = next(gates, None)
    if branch is None or _ONE_POINT_X.fullmatch(branch.condition.strip()) is None:
        return None
    # The condition stays as it is written, comments and continued lines included.
    edits = [
        insertion(branch.condition_start, "TORCH_VERSION_MAJOR > 1 || ("),
        insertion(branch.directive.end, ")"),
    ]
    return site.fix("make torch 2 use the branch with the new guard", edits)
