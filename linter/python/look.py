"""The second cheap look: whether a Python file that holds a guard's name can have a finding at all.

Most uses of guards are right, and stand in one of a few shapes (`with torch.no_grad():` in a file that neither
yields nor awaits, `@torch.no_grad()` above a `def`). A file in which nothing else stands is passed over without being
parsed. Imported by the path that answers pre-commit, so it imports `re` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = (
    "no_grad",
    "inference_mode",
    "enable_grad",
    "set_grad_enabled",
    "_InferenceMode",
    "_AutoDispatchBelowAutograd",
    "_AutoDispatchBelowADInplaceOrView",
)
LEGACY = b"NonVariableTypeMode"

_WORD = re.compile(rb"(?<![A-Za-z0-9_])(?:" + "|".join(WORDS).encode() + rb")(?![A-Za-z0-9_])")
_PAUSE = re.compile(rb"\b(?:yield|await|async)\b")
_GRAD = rb"(?:torch\.)?(?:no_grad|enable_grad)\(\)"
_WITH = rb"[ \t]*with " + _GRAD + rb"(?P<with>):"
_DECORATED = rb"[ \t]*@" + _GRAD + rb"[ \t]*\r?\n(?:[ \t]*@[\w.]+(?:\([^()\n]*\))?[ \t]*\r?\n)*[ \t]*def "
_COMMENT = rb"[ \t]*#[^\n]*"
_FINE = re.compile(rb"^(?:" + _WITH + rb"|" + _DECORATED + rb"|" + _COMMENT + rb")", re.MULTILINE)


def may_matter(text: bytes, watched: Iterable[str] = ()) -> bool:
    """Whether some rule could have a finding in the text (UTF-8), or another file could import a guard from it.

    `watched` are names under which other files of the project export guards.
    """
    if LEGACY in text:
        return True
    if any(re.search(rb"\b" + re.escape(name.encode()) + rb"\b", text) for name in watched):
        return True
    unseen = {match.start() for match in _WORD.finditer(text)}
    if not unseen:
        return False
    entered = False
    for shape in _FINE.finditer(text):
        unseen.difference_update(match.start() for match in _WORD.finditer(text, shape.start(), shape.end()))
        entered = entered or shape["with"] is not None
    return bool(unseen) or (entered and _PAUSE.search(text) is not None)
