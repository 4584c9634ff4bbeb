"""What the calls showed, as a row: the probe wins over the declaration."""

from __future__ import annotations

from collections.abc import Sequence

from op_probe import Seen
from op_rows import Row

_REST = {"number", "none", "other"}


def one_result(seen: Sequence[str], declared: str) -> str:
    """What a result is over all calls."""
    kinds = {*seen} - ({"none"} if len({*seen}) > 1 else set())
    if len(kinds) == 1:
        (only,) = kinds
        if only == "new" and declared.startswith("view:"):
            return "maybe:" + declared.partition(":")[2]  # in no sample, but PyTorch says that it may
        return only
    shared = sorted(kind.partition(":")[2] for kind in kinds if ":" in kind)
    if kinds & _REST:
        return "other"
    return f"maybe:{shared[0]}"


def several_results(calls: Sequence[Sequence[str]]) -> str:
    """What the tensors of a list are."""
    kinds = {kind for call in calls for kind in call}
    shared = sorted(kind.partition(":")[2] for kind in kinds if ":" in kind)
    if not shared:
        return "other" if kinds & _REST else "tensors"
    return f"maybe:{shared[0]}" if "new" in kinds else f"views:{shared[0]}"


def results(row: Row, seen: Seen) -> tuple[str, ...]:
    """Each result, where a signature says how many there are."""
    declared = row.results
    calls = [[kind for kind in call if kind not in "(["] for call in seen.results]
    if len(declared) == 1 and declared[0].partition(":")[0] in {"tensors", "views"}:
        return (several_results(calls),)
    if any(len(call) != len(declared) for call in calls):
        return declared
    return tuple(one_result([call[place] for call in calls], said) for place, said in enumerate(declared))


def undeclared_results(seen: Seen, lists: bool) -> tuple[str, ...]:
    """The results of a Python function, whose signature says nothing about them."""
    bare = [[kind for kind in call if kind not in "(["] or ["other"] for call in seen.results]
    tuples = [call[:1] == ["("] for call in seen.results]
    sequences = [call[:1] in (["("], ["["]) for call in seen.results]
    if not any(sequences):
        return (one_result([call[0] for call in bare], ""),)
    if all(tuples) and not lists and len({len(call) for call in bare}) == 1:
        return tuple(one_result([call[place] for call in bare], "") for place in range(len(bare[0])))
    if all(sequences):
        return (several_results(bare),)
    # A tensor, or a tuple of it and something else, as an argument says.
    return (one_result([call[0] for call in bare], ""),)


def apply(row: Row, seen: Seen, lists: bool | None = None) -> list[str]:
    """Puts what was seen into the row, and says where the declaration differs."""
    differences: list[str] = []
    title = f"{row.name}.{row.overload}" if row.overload else row.name

    def differ(what: str, declared: object, probed: object) -> None:
        if declared != probed:
            differences.append(f"{title}: {what}: declared {declared}, probed {probed}")

    found = results(row, seen) if lists is None else undeclared_results(seen, lists)
    if lists is None:
        differ("results", row.results, found)
    row.results = found
    always = {name for name, count in seen.written.items() if count == seen.calls[name]} & seen.refused_writes
    writes = tuple(sorted(always))
    differ("writes", tuple(sorted(row.writes)), writes)
    row.writes = writes
    row.may_write = tuple(sorted((seen.written.keys() & seen.refused_writes) - always))
    saved = {pair for pair, raised in seen.saved.items() if all(raised)}
    sometimes = {pair for pair, raised in seen.saved.items() if any(raised)} - saved
    if row.saves_known:
        differ("saves", sorted(row.saves), sorted(saved | sometimes))
        differ("differentiable", sorted(row.differentiable), sorted(seen.differentiable))
    row.saves, row.may_save, row.saves_known = tuple(sorted(saved)), tuple(sorted(sometimes)), True
    if not seen.saved_results or not any(seen.saved_results):
        row.saves_result = False
    else:
        row.saves_result = True if all(seen.saved_results) else None
    row.differentiable = tuple(seen.differentiable)
    row.probed = True
    return differences
