"""Which codes in comments silence nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .facts import Facts, Span
from .files.suppressions import is_ours, names_rule, unknown_code
from .rule import Rule, StaleCodes, all_rules
from .rule_names import group_named, rule_names


def _meant(given: str, known: Collection[tuple[str, str]]) -> Iterator[str]:
    """The codes of the rules that a code in a comment means."""
    group = given.lower().removeprefix("guardfix-")
    if group_named(group) is not None:
        yield from (rule.code for rule in all_rules() if rule.group == group)
    else:
        yield from (code for code, name in known if names_rule(given, code, name))


UsedCodes = set[tuple[tuple[Span, ...], str]]
"""(places of a comment, code in it that silenced a finding)."""


def stale_codes(facts: Facts, used: Collection[tuple[tuple[Span, ...], str]], run: Sequence[Rule]) -> list[StaleCodes]:
    """The comments of a file that name guardfix's rules for nothing.

    Of a code that means several rules, all must have been run: what the others would have found is unknown.
    """
    known = {(rule.code, rule.name) for rule in run} | {(rule.code, rule.name) for rule in rule_names()}
    run_here = {rule.code for rule in run}
    found = []
    for comment in dict.fromkeys(facts.suppressions):
        if not comment.places:
            continue
        ours = [given for given in dict.fromkeys(comment.codes) if is_ours(given)]
        unknown = tuple(given for given in ours if unknown_code(given))
        unused = tuple(
            given
            for given in ours
            if given not in unknown
            and (comment.places, given) not in used
            and all(code in run_here for code in _meant(given, known))
        )
        if unused or unknown:
            found.append(StaleCodes(comment, unused, unknown))
    return found
