"""Comparing two recordings: where they part, and whether that is meant to be so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from guardfix.runtime_shim.recording.trace_events import ANSWERED_ANEW

TracedEvent = Mapping[str, Any]

_WORDS = {"_version": "its version", "_is_view": "whether it is a view", "requires_grad": "whether it requires grad"}


@dataclass(frozen=True)
class Parting:
    """The first point at which two recordings differ: the events there, None past the end of the shorter one."""

    step: int
    """Counted from 1 among the steps of the thread."""
    thread: int
    before: TracedEvent | None
    after: TracedEvent | None

    @property
    def sides(self) -> tuple[str, str]:
        """What either run does there, in words; of the same call, what differs in its results."""
        before, after = self.before, self.after
        if before is None or after is None:
            before_in_words, after_in_words = ("nothing" if one is None else in_words(one) for one in (before, after))
            return before_in_words, after_in_words
        found = self._differences
        if not found:
            return in_words(before), in_words(after)
        before_in_words, after_in_words = ("; ".join(words) for words in zip(*found, strict=True))
        return f"{_op(before)}: {before_in_words}", f"{_op(after)}: {after_in_words}"

    @property
    def _differences(self) -> list[tuple[str, str]]:
        """What differs in the results of the same call."""
        before, after = self.before, self.after
        if before is None or after is None or before["event"] != after["event"] or before["event"] == "raised":
            return []
        if before.get("op") != after.get("op"):
            return []
        return list(_result_differences(before["results"], after["results"]))[:3]

    def what(self) -> str:
        """What differs, in words."""
        before, after, found = self.before, self.after, self._differences
        if before is None or after is None:
            rest = before or after
            assert rest is not None
            return f"only {'before' if after is None else 'after'}: {in_words(rest)}"
        if not found:
            return f"before: {in_words(before)}; after: {in_words(after)}"
        return f"{_op(before)}: {'; '.join(f'{one} before, {two} after' for one, two in found)}"

    def other_data(self) -> bool:
        """Whether the same call gives other data."""
        before, after = self.before, self.after
        if before is None or after is None or before.get("op") != after.get("op"):
            return False
        pairs = zip(before.get("results", ()), after.get("results", ()), strict=False)
        return any(isinstance(b, dict) and isinstance(a, dict) and b["data"] != a["data"] for b, a in pairs)

    def where(self) -> str:
        event = self.after or self.before
        assert event is not None
        guards = event.get("guards") or ()
        place = f", line {event['line']}" if event.get("line") else ""
        return f"step {self.step}{place}" + (f", under {' > '.join(guards)}" if guards else "")


@dataclass(frozen=True)
class Comparison:
    """Two recordings side by side."""

    parting: Parting | None
    """Where what the program gets to see parts: values, gradients, errors, flags."""
    mark: Parting | None
    """Where the first answer parts that the migration is meant to change: a version, an inference tensor, a view."""
    inference: int = 0
    """How many results are inference tensors after, and were none before."""

    @property
    def first(self) -> Parting | None:
        """The earlier one of the two."""
        found = [parting for parting in (self.mark, self.parting) if parting is not None]
        return min(found, key=lambda parting: (parting.thread, parting.step), default=None)


def compare(before: Iterable[TracedEvent], after: Iterable[TracedEvent]) -> Comparison:
    """Thread by thread. Worker threads start in any order, so theirs are matched by what they did."""
    parting: Parting | None = None
    mark: Parting | None = None
    inference = 0
    for number, (one, two) in enumerate(paired_threads(before, after)):
        for step, (b, a) in enumerate(zip_longest(one, two), 1):
            if b == a:
                continue
            if b is None or a is None or not alike(b, a):
                parting = parting or Parting(step, number, b, a)
                break
            if mark is None and not same_marks(b, a):
                mark = Parting(step, number, b, a)
            inference += sum(
                isinstance(x, dict) and isinstance(y, dict) and y["inference"] and not x["inference"]
                for x, y in zip(b.get("results", ()), a.get("results", ()), strict=False)
            )
    return Comparison(parting, mark, inference)


def _threads(events: Iterable[TracedEvent], *, without_flags: bool = False) -> list[list[TracedEvent]]:
    found: dict[int, list[TracedEvent]] = {}
    for event in events:
        if event["event"] in ("step", "raised", "gradient"):
            found.setdefault(event["thread"], []).append(event)
        elif event["event"] == "cut":
            rest = {"event": "step", "op": "(more)", "results": [event["digest"]]}
            found.setdefault(event["thread"], []).append(rest)
    main = found.pop(0, [])
    meaning = _values if without_flags else _meaning
    return [main, *sorted(found.values(), key=lambda steps: [str(meaning(step)) for step in steps])]


def paired_threads(
    before: Iterable[TracedEvent], after: Iterable[TracedEvent], *, without_flags: bool = False
) -> Iterator[tuple[list[TracedEvent], list[TracedEvent]]]:
    """The steps of each thread, before and after; a thread that only one recording has meets an empty list.

    With `without_flags`, threads that differ in what is recorded for autograd count as the same.
    """
    for one, two in zip_longest(*(_threads(events, without_flags=without_flags) for events in (before, after))):
        yield one or [], two or []


def alike(before: TracedEvent, after: TracedEvent) -> bool:
    """Whether the program gets to see the same at two steps."""
    return _meaning(before) == _meaning(after) or _tracked(before, after)


def _meaning(event: TracedEvent) -> tuple[Any, ...]:
    """What of an event counts as done by the program."""
    if event["event"] == "raised":
        return ("raised", event["op"], event["error"], without_versions(event["message"]))
    op = event.get("op", "gradient")
    if op in ANSWERED_ANEW:
        return (event["event"], op)
    return (event["event"], op, *(_value(result) for result in event["results"]))


def _values(event: TracedEvent) -> tuple[Any, ...]:
    """What an event gives, whatever is recorded of it."""
    values = (result["data"] for result in event.get("results", ()) if isinstance(result, dict))
    return (event["event"], event.get("op", "gradient"), *values)


_VERSIONS = re.compile(r"\bis at version \d+; expected version \d+")


def without_versions(message: str) -> str:
    """A refusal of autograd's without the versions that it names: a migration changes which writes are counted."""
    return _VERSIONS.sub("is at another version than expected", message)


def _value(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    return (*result["shape"], result["dtype"], result["requires_grad"], _history(result), result["data"])


def _history(result: Mapping[str, Any]) -> bool:
    """Whether there is a grad_fn. Which one it is shows in the gradients; of a view it is made when it is read."""
    return result["grad_fn"] is not None


def _tracked(before: TracedEvent, after: TracedEvent) -> bool:
    """Whether all that differs is that a view is tracked now: then it has `requires_grad` from its base."""
    one, two = before.get("results", ()), after.get("results", ())
    return (
        before.get("op") == after.get("op")
        and before["event"] == after["event"] == "step"
        and len(one) == len(two)
        and all(
            isinstance(x, dict)
            and isinstance(y, dict)
            and (x["shape"], x["dtype"], x["data"]) == (y["shape"], y["dtype"], y["data"])
            and (_value(x) == _value(y) or (y["view"] and not x["view"] and not _history(x) and not _history(y)))
            for x, y in zip(one, two, strict=True)
        )
    )


def same_marks(before: TracedEvent, after: TracedEvent) -> bool:
    """Whether two steps agree in what a migration is meant to change: versions, inference tensors, views."""
    return bool(_marks(before) == _marks(after))


def _marks(event: TracedEvent) -> Any:
    if event.get("op") in ANSWERED_ANEW:
        return event["results"]
    return [
        (result["version"], result["inference"], result["view"])
        for result in event.get("results", ())
        if isinstance(result, dict)
    ]


def _result_differences(before: list[Any], after: list[Any]) -> Iterator[tuple[str, str]]:
    if len(before) != len(after):
        yield f"{len(before)} results", f"{len(after)} results"
        return
    for b, a in zip(before, after, strict=True):
        if not isinstance(b, dict) or not isinstance(a, dict):
            if b != a:
                yield _shown(b), _shown(a)
            continue
        if b["data"] != a["data"] or b["shape"] != a["shape"]:
            yield tensor_in_words(b), tensor_in_words(a)
        for name, words in (
            ("dtype", "dtype {}"),
            ("requires_grad", "requires_grad {}"),
            ("inference", "{}"),
            ("view", "{}"),
            ("version", "version {}"),
        ):
            if b[name] != a[name]:
                yield _flag(name, words, b[name]), _flag(name, words, a[name])
        if _history(b) != _history(a):
            yield f"grad_fn {b['grad_fn'] or 'none'}", f"grad_fn {a['grad_fn'] or 'none'}"


def _flag(name: str, words: str, value: Any) -> str:
    if name == "inference":
        return "an inference tensor" if value else "a normal tensor"
    if name == "view":
        return "a tracked view" if value else "no tracked view"
    return words.format("none" if value is None else str(value).lower() if isinstance(value, bool) else value)


def tensor_in_words(result: Mapping[str, Any]) -> str:
    count = 1
    for size in result["shape"]:
        count *= size
    shown = [_number(x) for x in result["first"]]
    return f"[{', '.join(shown)}{', …' if count > len(shown) else ''}]"


def _number(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:.6g}"


def _op(event: TracedEvent) -> str:
    if event["event"] == "gradient":
        return "the gradient of a leaf"
    if "op" not in event:
        return "the program"
    return f"`{event['op']}`"


def in_words(event: TracedEvent) -> str:
    """An event, in words."""
    if event["event"] == "raised":
        return f"{_op(event)} raises {event['error']}: {short(event['message'])}"
    results = event.get("results", ())
    shown = ", ".join(tensor_in_words(r) if isinstance(r, dict) else _shown(r) for r in results[:2])
    if event["event"] == "gradient":
        return f"{_op(event)} is {shown}"
    return f"{_op(event)} gives {shown}"


def _shown(value: Any) -> str:
    return {"True": "true", "False": "false", "None": "nothing"}.get(str(value), str(value))


def short(message: str) -> str:
    """The first sentence or so of an error."""
    line = message.strip().splitlines()[0] if message.strip() else ""
    for end in (". ", ".You ", ".See ", "; expected", " Hint:"):
        head, found, _ = line.partition(end)
        if found and len(head) > 20:
            line = head
    line = line.rstrip(".")
    return line if len(line) <= 200 else line[:197] + "…"


def described(event: TracedEvent | None) -> dict[str, Any] | None:
    """An event as JSON has it."""
    if event is None:
        return None
    return {key: value for key, value in event.items() if key != "thread"}
