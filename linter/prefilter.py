"""What is searched for, and in which files: derived from the guard table, the rules and the front ends.

Nothing else says it. A run derives what its own rules look for; what all rules look for, which decides what of a file
is read, is recorded in `files/prefilter_table.py`, so that a run need not import every rule, and a clean file none.
`python -m guardfix.linter.record_prefilter` writes that file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from .files import prefilter_record, prefilter_table
from .files.search_terms import SearchTerms, recorded
from .frontends.frontend import Frontend, frontends
from .guards import Guard
from .named_tuples import NamedTuple
from .rule import Rule, all_rules

_HEAD = '''"""What the guard table, the rules and the front ends declare, for code that cannot import these first.

Written by `python -m guardfix.linter.record_prefilter`; a test holds it to what they say.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

'''

_SHARED = 12
"""Guards whose names begin alike for so many letters are searched for by what they share: one search instead of two."""


class Prefilter(NamedTuple):
    """What one run searches for."""

    languages: Mapping[str, str]
    """The language of each suffix, in small letters."""
    terms: Mapping[str, SearchTerms]
    """What is looked for in each of these languages."""
    recorded: bool = False
    """Whether what all rules look for is what `files/prefilter_table.py` says."""


def prefilter_of(
    rules: Sequence[Rule], *, on_request: bool = False, extended: Sequence[Rule] | None = None
) -> Prefilter:
    """The prefilter of a run of these rules.

    `on_request` takes the files of languages that are only looked at when asked for. `extended` are rules that do not
    come with guardfix, when there are some, or when the guard table has rows that do not; then nothing recorded holds.
    """
    is_recorded = extended is None and prefilter_record.is_current()
    if is_recorded:
        suffixes = {**prefilter_table.LANGUAGES, **(prefilter_table.ON_REQUEST if on_request else {})}
        read = {language: recorded(language) for language in dict.fromkeys(suffixes.values())}
    else:
        suffixes = suffixes_of(frontend for frontend in frontends().values() if on_request or not frontend.on_request)
        every = [*all_rules(), *(extended or ())]
        read = {language: sought_by(every, frontends()[language]) for language in dict.fromkeys(suffixes.values())}
    asked = {language for rule in rules if rule.asks_training for language in rule.languages}
    wide = [rule for rule in rules if rule.looks_wider]
    return Prefilter(
        suffixes,
        {
            language: terms._replace(
                needles=needles_of(rules, language),
                always=_with_shapes(terms.always, wide, language),
                training=language in asked,
            )
            for language, terms in read.items()
        },
        is_recorded and not asked and not wide,
    )


def _with_shapes(always: tuple[bytes, ...], wide: Sequence[Rule], language: str) -> tuple[bytes, ...]:
    """What matters in any shape, with the guards of rules that were chosen and aren't on by default."""
    mine = [rule for rule in wide if language in rule.languages]
    return shortened((*always, *_guard_texts(mine, frontends()[language]))) if mine else always


def suffixes_of(chosen: Iterable[Frontend]) -> dict[str, str]:
    """Suffix -> language."""
    return {suffix: frontend.name for frontend in chosen for suffix in sorted(frontend.suffixes)}


def needles_of(rules: Iterable[Rule], language: str) -> tuple[bytes, ...]:
    """The bytes of which one is in every file of the language that matters to one of the rules."""
    frontend = frontends()[language]
    mine = [rule for rule in rules if language in rule.languages]
    return shortened((*_guard_texts(mine, frontend), *_texts(mine, language)))


def sought_by(rules: Iterable[Rule], frontend: Frontend) -> SearchTerms:
    """What these rules look for in the front end's files."""
    mine = [rule for rule in rules if frontend.name in rule.languages]
    of_any_shape = [rule for rule in mine if not (rule.odd_uses_only or rule.looks_wider)]
    always = shortened((*_guard_texts(of_any_shape, frontend), *_texts(mine, frontend.name)))
    return SearchTerms(
        needles=needles_of((rule for rule in mine if rule.default), frontend.name),
        texts=tuple(_texts(mine, frontend.name)),
        always=always,
        shapes=tuple((needle, rule.shape) for rule in mine if rule.shape for needle in rule.needles_of(frontend.name)),
        words=tuple(
            guard.name
            for guard in _guards_of(mine, frontend)
            if not any(needle in guard.name.encode() for needle in always)
        ),
    )


def _guards_of(rules: Sequence[Rule], frontend: Frontend) -> list[Guard]:
    return [guard for guard in frontend.guards.values() if any(rule.guards(guard) for rule in rules)]


def _guard_texts(rules: Sequence[Rule], frontend: Frontend) -> list[bytes]:
    """The names of the guards that the rules look at, with their companions'."""
    return [name.encode() for guard in _guards_of(rules, frontend) for name in (guard.name, *guard.companions)]


def _texts(rules: Sequence[Rule], language: str) -> list[bytes]:
    return sorted({needle for rule in rules for needle in rule.needles_of(language)})


def shortened(needles: Iterable[bytes]) -> tuple[bytes, ...]:
    """Fewer needles, of which one occurs wherever one of these does: what two of them share replaces both."""
    given = tuple(needles)
    kept: list[bytes] = []
    for needle in given:
        for index, other in enumerate(kept):
            shared = _shared(needle, other)
            if shared is not None:
                kept[index] = shared
                break
        else:
            kept.append(needle)
    return given if len(kept) == len(given) else shortened(kept)


def _shared(one: bytes, other: bytes) -> bytes | None:
    """The shorter when it is in the longer, or a long common beginning."""
    short, long = sorted((one, other), key=len)
    if short in long:
        return short
    same = (a == b for a, b in zip(short, long, strict=False))
    beginning = short[: sum(1 for _ in takewhile(bool, same))]
    return beginning if len(beginning) >= _SHARED else None


def recorded_text() -> str:
    """What `files/prefilter_table.py` should say."""
    known = frontends().values()
    with_files = [frontend for frontend in known if frontend.suffixes]
    rules = all_rules()
    terms = {frontend.name: sought_by(rules, frontend) for frontend in with_files}
    top = os.path.dirname(__file__)
    modules = sorted(prefilter_record.rule_modules(os.listdir(os.path.join(top, "rules"))))
    with os.scandir(os.path.join(top, "frontends")) as entries:
        folders = {entry.name for entry in entries if prefilter_record.is_room(entry)}
    looked_at = [frontend for frontend in with_files if frontend.look]
    declaring = ["guards.py", *sorted(_frontend_modules(top)), *(f"rules/{name}" for name in modules)]
    values: dict[str, object] = {
        "LANGUAGES: dict[str, str]": suffixes_of(frontend for frontend in with_files if not frontend.on_request),
        "ON_REQUEST: dict[str, str]": suffixes_of(frontend for frontend in with_files if frontend.on_request),
        "LOOKS: dict[str, str]": {frontend.name: frontend.look for frontend in looked_at},
        "NEEDLES: dict[str, tuple[bytes, ...]]": {name: found.needles for name, found in terms.items()},
        "TEXTS: dict[str, tuple[bytes, ...]]": {name: found.texts for name, found in terms.items() if found.texts},
        "ALWAYS: dict[str, tuple[bytes, ...]]": {name: found.always for name, found in terms.items()},
        "SHAPES: dict[str, tuple[tuple[bytes, bytes], ...]]": {"python": terms["python"].shapes},
        "WORDS: dict[str, tuple[str, ...]]": {name: found.words for name, found in terms.items()},
        "FRONTENDS: frozenset[str]": frozenset(folders),
        "RULES: int": len(modules),
        "DECLARATIONS: dict[str, tuple[int, int]]": {name: prefilter_record.fingerprint(name) for name in declaring},
    }
    return _HEAD + "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def _literal(value: object) -> str:
    """As Python writes it, a dictionary one row a line."""
    if isinstance(value, dict):
        return "{\n" + "".join(f"    {key!r}: {given!r},\n" for key, given in value.items()) + "}"
    return f"frozenset({sorted(value)!r})" if isinstance(value, frozenset) else repr(value)


def _frontend_modules(top: str) -> list[str]:
    return [
        f"frontends/{name}/{name}_frontend.py"
        for name in os.listdir(os.path.join(top, "frontends"))
        if os.path.exists(os.path.join(top, "frontends", name, f"{name}_frontend.py"))
    ]
