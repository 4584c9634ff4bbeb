"""What comments say about guards: that one should be there or should not, what it is for, that no one may touch it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import guards
from ..facts import Comment, GuardUse
from ..lazy_regex import lazy_regex

_NAMES = "|".join(sorted(map(re.escape, guards.CPP), key=len, reverse=True))
_SPEAKS = lazy_regex(
    rf"\b(?:{_NAMES})\b"
    r"|\b(?i:inference[ _-]?mode|no[ _-]?grad guard|non[ -]?variable|view[ -]tracking|version[ -]count\w*)\b"
    r"|\b(?i:(?:do not|don'?t|must not|mustn'?t|never|please keep|keep this)"
    r"(?: \w+)? (?:remove|delete|replace|change|move|migrate|touch|rename|use|switch|convert|drop|guard))\b"
)
_DIRECTIVE = lazy_regex(r"(?:NOLINT\w*|noqa|guardfix|clang-format)\b")
_SHOWN = 120


def comments_about_guards(use: GuardUse) -> Iterator[Comment]:
    """The comments at a use that name a guard, what guards do, or say what not to do."""
    return filter(speaks_of_guards, use.comments)


_SPEAKS_IN_PYTHON = lazy_regex(r"\b(?:no_grad|enable_grad|set_grad_enabled|set_inference_mode)\b")


def speaks_of_guards(comment: Comment) -> bool:
    """Whether a comment names a guard, what guards do, or says what not to do."""
    if _DIRECTIVE.match(comment.text):
        return False
    return _SPEAKS.search(comment.text) is not None or _SPEAKS_IN_PYTHON.search(comment.text) is not None


def quoted(comment: Comment) -> str:
    """The comment in quotation marks; a long one is cut."""
    text = comment.text
    return f'"{text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"}"'


def names_old_guard(comment: Comment, use: GuardUse) -> bool:
    """Whether the comment names what the migration takes away: the old guard's class, or its variable."""
    names = {use.guard, guards.LEGACY, *([use.variable] if use.variable else [])}
    return any(re.search(rf"\b{re.escape(name)}\b", comment.text) for name in names)


_SUBJECT = lazy_regex(
    r"(?i)(?:no|non)?[ _-]?grad(?:ient)?s?|autograd|(?:no)?grad(?:mode|guard)?|guards?|inference|mode|history|graph"
    r"|variables?|tracking|record(?:ing|s|ed)?|backward|backprop\w*|grad_fn|memory|non|bookkeeping"
)
_AROUND = frozenset(
    """a an and any are as at avoid be because by calculation calculations compute computation computations computing
    disable disables disabled disabling do does don't during enable for forward from here i in is it its keep make
    needed need needs never no not of off on only or our prevent require required requires run running save saves saving
    scope should since skip so stop sure switch switched switches that the there this to turn turned turning turns use
    used uses using we when while will with without we're you""".split()
)
"""Words that say nothing of their own about the code."""


def speaks_of_nothing_else(comment: Comment) -> bool:
    """Whether a guard is all that the comment is about: `// no gradients needed here`."""
    words = re.findall(r"[A-Za-z_][\w']*", comment.text)
    subjects = [word for word in words if _SUBJECT.fullmatch(word) or word in guards.CPP]
    return bool(subjects) and all(word in subjects or word.lower() in _AROUND for word in words)
