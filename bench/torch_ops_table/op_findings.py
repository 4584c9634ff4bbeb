"""What the calls showed, as a row: the probe wins over the declaration."""

from __future__ import annotations

from collections.abc import Sequence

from op_probe import Call
from op_rows import Row

_REST = {"number", "none", "other"}


def apply(row: Row, calls: Sequence[Call], declared: bool, lists: bool = False) -> list[str]:
    """Puts what was seen into the row, and says where the declaration differs."""
    before = {
        "results": row.results,
        "writes": {*row.writes},
        "saves": {*row.saves} if row.saves_known else None,
        "differentiable": {*row.differentiable} if row.saves_known else None,
    }
    row.results = _declared_results(row, calls) if declared else _undeclared_results(calls, lists)
    _writes(row, calls)
    _saves(row, calls)
    row.differentiable = tuple({name for call in calls for name in call.differentiable})
    row.probed = True
    after = {
        "results": row.results,
        "writes": {*row.writes, *row.may_write},
        "saves": {*row.saves, *row.may_save},
        "differentiable": {*row.differentiable},
    }
    title = f"{row.name}.{row.overload}" if row.overload else row.name
    return [
        f"{title}: {what}: declared {_shown(said)}, probed {_shown(after[what])}"
        for what, said in before.items()
        if declared and said is not None and said != after[what]
    ]


def _shown(what: object) -> str:
    items = sorted(what) if isinstance(what, set) else what
    return ", ".join("<".join(item) if isinstance(item, tuple) else str(item) for item in items) or "nothing"  # type: ignore[attr-defined]


def _one_result(seen: Sequence[str], declared: str = "") -> str:
    """What a result is over all calls."""
    kinds = {*seen}
    if len(kinds) > 1:
        kinds.discard("none")
    if kinds == {"new"} and declared.startswith("view:"):
        return "maybe:" + declared.partition(":")[2]  # in no sample, but PyTorch says that it may
    if len(kinds) == 1:
        return kinds.pop()
    if kinds & _REST:
        return "other"
    return "maybe:" + min(kind.partition(":")[2] for kind in kinds if ":" in kind)


def _several_results(calls: Sequence[Sequence[str]]) -> str:
    """What the tensors of a list are."""
    kinds = {kind for call in calls for kind in call}
    shared = [kind.partition(":")[2] for kind in kinds if ":" in kind]
    if not shared:
        return "other" if kinds & _REST else "tensors"
    return f"maybe:{min(shared)}" if "new" in kinds else f"views:{min(shared)}"


def _bare(calls: Sequence[Call]) -> list[list[str]]:
    return [[kind for kind in call.results if kind not in "(["] or ["other"] for call in calls]


def _declared_results(row: Row, calls: Sequence[Call]) -> tuple[str, ...]:
    """Each result, where a signature says how many there are."""
    bare = _bare(calls)
    if is_list(row):
        return (_several_results(bare),)
    if any(len(call) != len(row.results) for call in bare):
        return row.results
    return tuple(_one_result([call[place] for call in bare], said) for place, said in enumerate(row.results))


def is_list(row: Row) -> bool:
    """Whether the op gives a list of tensors."""
    return row.results[0].partition(":")[0] in {"tensors", "views"}


def _undeclared_results(calls: Sequence[Call], lists: bool) -> tuple[str, ...]:
    """The results of a Python function, whose signature says nothing about them."""
    bare = _bare(calls)
    marks = {first if (first := call.results[0] if call.results else "") in {"(", "["} else "" for call in calls}
    if marks == {"("} and not lists and len({len(call) for call in bare}) == 1:
        return tuple(_one_result([call[place] for call in bare]) for place in range(len(bare[0])))
    if "" not in marks:
        return (_several_results(bare),)
    # A tensor, or with some option a tuple of it and others.
    return (_one_result([call[0] for call in bare]),)


def _writes(row: Row, calls: Sequence[Call]) -> None:
    given = [call for call in calls if call.given]
    written = {name for call in given for name in call.written}
    always = {name for name in written if all(name in call.written for call in given if name in call.given)}
    row.writes, row.may_write = tuple(always), tuple(written - always)


def _saves(row: Row, calls: Sequence[Call]) -> None:
    plain = [call for call in calls if not call.strided] or calls
    pairs = sorted({pair for call in plain for pair, raised in call.saved.items() if raised})
    always, options = set(), set()
    for pair in pairs:
        missing = _explained(pair, plain)
        if missing is not None:
            always.add(pair)
            options |= missing
    row.saves, row.may_save = tuple(always), tuple({*pairs} - always)
    row.options = tuple(options)
    row.copied = tuple(
        {
            saved
            for call in calls
            if call.strided and not call.options.keys() & options
            for (saved, because), raised in call.saved.items()
            if not raised and (saved, because) in always
        }
    )
    row.saves_known = True
    said = [raised for call in plain for raised in call.saved_results]
    row.saves_result = None if any(said) and not all(said) else any(said)


def _explained(pair: tuple[str, str], calls: Sequence[Call]) -> set[str] | None:
    """The options without which the pair is always saved, if there are such; none: it is saved in every call."""
    raising = [call for call in calls if call.saved.get(pair)]
    missing = [call for call in calls if call.saved.get(pair) is False]
    innocent = {option for call in raising for option in call.options.items()}
    options = {name for call in missing for name, value in call.options.items() if (name, value) not in innocent}
    while left := [call for call in missing if not call.options.keys() & options]:
        # Each of their options is seen in a call that saves: take the one that explains most.
        candidates = {option for call in left for option in call.options}
        if not candidates:
            return None

        def worth(option: str, left: Sequence[Call] = left) -> tuple[int, str]:
            return sum(option in call.options for call in left) - sum(
                option in call.options for call in raising
            ), option

        options.add(max(candidates, key=worth))
    return options if any(not call.options.keys() & options for call in raising) else None
