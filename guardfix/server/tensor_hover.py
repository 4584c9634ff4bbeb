"""What is shown over an expression: the state of its tensor, how that came about, and the modes at its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol.types import Hover, InlayHint, InlayHintKind, MarkupContent, MarkupKind, Position

from guardfix.linter.facts import Span
from guardfix.linter.findings import StepTaken
from guardfix.linter.flow.tensor_states import ModesSeen, TensorSeen, scopes_entered, watch_file
from guardfix.linter.flow.values import Modes, Step

from .document_checks import CheckedText
from .guard_hover import hover_over_guard, link_to, steps_as_list

_MOST_WAYS = 4


def hover_at(checked: CheckedText, position: Position) -> Hover | None:
    """What there is to say at a position: about the guard there, or else about the tensor."""
    offset = checked.lines_of(checked.document.path).offset(position)
    return hover_over_guard(checked, offset) or hover_over_tensor(checked, offset)


def hover_over_tensor(checked: CheckedText, offset: int) -> Hover | None:
    """What is known of the tensor at a place; None where none is seen."""
    seen = checked.seen_around(offset)
    statement = seen.statement_at(offset) if seen is not None else None
    if seen is None or statement is None:
        return None
    lines = checked.lines_of(checked.document.path)
    found = _expression_at(offset, statement, seen.tensors.get(statement, ()), lines.data)
    if found is None:
        return None
    span, tensors = found
    parts = [f"### `{lines.data[span.start : span.end].decode('utf-8', 'replace')}`", *_ways(tensors, checked)]
    parts += ["---", *_modes_here(seen.modes[statement], checked)]
    return Hover(MarkupContent(MarkupKind.Markdown, "\n\n".join(parts)), lines.range(span))


_TOKEN = re.compile(rb"\w+|[^\w\s]")


def _expression_at(
    offset: int, statement: Span, tensors: Sequence[TensorSeen], text: bytes
) -> tuple[Span, list[TensorSeen]] | None:
    """The smallest expression around a place that is a tensor, and all that was seen of it.

    Expressions have no places: they are found again in the statement by their words.
    """
    words = list(_TOKEN.finditer(text, statement.start, statement.end))
    targets = {one.written for one in tensors if one.is_target}
    best: tuple[int, Span, list[TensorSeen]] | None = None
    for written in dict.fromkeys(one.written for one in tensors):
        wanted = _TOKEN.findall(written.encode())
        starts = [at for at in range(len(words)) if [word[0] for word in words[at : at + len(wanted)]] == wanted]
        for number, at in enumerate(starts):
            span = Span(words[at].start(), words[at + len(wanted) - 1].end())
            if not span.start <= offset <= span.end:
                continue
            # Of `x = x + 1` the first `x` is what the statement makes.
            is_target = written in targets and (number == 0 or len(starts) == 1)
            same = [one for one in tensors if one.written == written]
            chosen = [one for one in same if one.is_target is is_target] or same
            if best is None or len(wanted) < best[0]:
                best = len(wanted), span, chosen
    return (best[1], best[2]) if best is not None else None


def _ways(tensors: Sequence[TensorSeen], checked: CheckedText) -> Iterator[str]:
    """The states of a tensor, each with the calls from which it has it."""
    by_state: dict[str, list[TensorSeen]] = {}
    for one in tensors:
        by_state.setdefault(state_in_words(one), []).append(one)
    # What is known of a call says more than what holds for callers that aren't in sight.
    ordered = sorted(by_state.items(), key=lambda pair: not any(one.calls for one in pair[1]))
    for number, (words, same) in enumerate(ordered):
        if number == _MOST_WAYS:
            yield f"and {len(by_state) - _MOST_WAYS} other states"
            return
        sentence = f"{_called_from(same, checked)}{words}" if len(by_state) > 1 else words
        yield sentence[:1].upper() + sentence[1:]
        steps = _taken(_story(same[0]), checked)
        if steps:
            yield steps_as_list(steps, checked.document.path)


def state_in_words(seen: TensorSeen) -> str:
    """Normal or inference, whether it requires grad, what it is a view of."""
    tensor = seen.tensor
    if tensor is None:
        given = f"what `{seen.origin}` gives isn't known" if seen.origin else "nothing is known of it here"
        return f"{given}; a new tensor would be an inference tensor" if seen.under is not None else given
    kind = {True: "an inference tensor", False: "a normal tensor", None: "a normal or an inference tensor"}
    parts = [kind[tensor.inference]]
    names = [f"`{name}`" for name in dict.fromkeys(seen.requires or ()) if name]
    if seen.requires is None:
        parts.append("requires grad")
    elif not seen.requires:
        parts.append("doesn't require grad")
    else:
        parts.append(f"requires grad if {' or '.join(names)} does" if names else "may require grad")
    if tensor.leaf and seen.requires is None:
        parts.append("a leaf")
    if tensor.base is not None:
        parts.append(f"a view of `{seen.base}`" if seen.base else "a view")
    presumed = f" ({tensor.presumed})" if tensor.presumed else ""
    return f"{', '.join(parts)}{presumed}"


def _story(seen: TensorSeen) -> Iterator[Step]:
    """The guard and the op that made it what it is, why it has no graph, and what has saved it."""
    if seen.tensor is None:
        if seen.under is not None:
            yield Step(seen.under.path, seen.under.span, f"`{seen.under.name}` begins")
        return
    yield from seen.tensor.made or seen.tensor.unrecorded
    yield from seen.tensor.saved


def _taken(steps: Iterator[Step], checked: CheckedText) -> list[StepTaken]:
    return [
        StepTaken(step.message, step.path, step.span.start, checked.row(step.path, step.span))
        for step in dict.fromkeys(steps)
    ]


def _called_from(seen: Sequence[TensorSeen | ModesSeen], checked: CheckedText) -> str:
    """The calls that lead to a state, in front of it."""
    path = checked.document.path
    calls = {link_to(one.calls[-1].path, checked.row(*one.calls[-1][:2]), path): None for one in seen if one.calls}
    if not calls:
        return "from other callers: "
    others = " and elsewhere" if any(not one.calls for one in seen) else ""
    return f"called from {', '.join(calls)}{others}: "


# -- modes


def _modes_here(seen: Sequence[ModesSeen], checked: CheckedText) -> Iterator[str]:
    by_modes: dict[str, list[ModesSeen]] = {}
    for one in seen:
        guards = dict.fromkeys(
            f"`{guard.name}`, {link_to(guard.path, checked.row(guard.path, guard.span), checked.document.path)}"
            for guard in one.opened
            if not guard.is_engine
        )
        because = f" ({'; '.join(guards)})" if guards else ""
        by_modes.setdefault(f"{modes_in_words(one.modes)}{because}", []).append(one)
    for words, same in sorted(by_modes.items(), key=lambda pair: not any(one.calls for one in pair[1])):
        yield f"At this line, {_called_from(same, checked) if len(by_modes) > 1 else ''}{words}"


def modes_in_words(modes: Modes) -> str:
    """What the modes do to what is computed."""
    if modes == Modes():
        return "autograd records"
    words = []
    if modes.inference:
        words.append("inference mode is on")
    elif modes.grad is False:
        words.append("grad mode is off")
    if modes.below_view:
        words.append("Autograd and ADInplaceOrView are skipped")
    elif modes.below_autograd:
        words.append("Autograd is skipped")
    if None in modes:
        words.append("a mode isn't known")
    return " and ".join(words)


def mode_hints(checked: CheckedText) -> list[InlayHint]:
    """Behind each function, block and guard with which a mode begins: what it is."""
    path, files = checked.document.path, checked.program
    if not files:
        return []
    lines = checked.lines_of(path)
    return [
        InlayHint(
            position=lines.position(scope.span.end),
            label=" or ".join(dict.fromkeys(map(modes_in_words, scope.modes))),
            kind=InlayHintKind.Type,
            padding_left=True,
        )
        for scope in scopes_entered(files[path], watch_file(files.values(), path))
    ]
