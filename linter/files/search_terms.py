"""What is looked for in the files of one language: plain data, which is sent to the processes that read files."""

from __future__ import annotations

from ..named_tuples import NamedTuple
from . import prefilter_table


class SearchTerms(NamedTuple):
    """What the rules look for in one language."""

    needles: tuple[bytes, ...] = ()
    """Of which one is in every file that can matter to the rules of a run."""
    texts: tuple[bytes, ...] = ()
    """What rules look at besides guards: code that holds one is read, whatever surrounds it."""
    always: tuple[bytes, ...] = ()
    """For a second look: a file that holds one is parsed, in whatever shape it is there."""
    shapes: tuple[tuple[bytes, bytes], ...] = ()
    """(one of these, a regular expression) where it only matters in a file in which that matches."""
    words: tuple[str, ...] = ()
    """The same, for guards: a file is parsed when one of these names is in a shape that is not ordinary."""
    training: bool = False
    """What files train with is looked for as well; no rule that is on by default asks that."""


def recorded(language: str) -> SearchTerms:
    """What all rules that come with guardfix look for; nothing for a language that the record does not know."""
    return SearchTerms(
        needles=prefilter_table.NEEDLES.get(language, ()),
        texts=prefilter_table.TEXTS.get(language, ()),
        always=prefilter_table.ALWAYS.get(language, ()),
        shapes=prefilter_table.SHAPES.get(language, ()),
        words=prefilter_table.WORDS.get(language, ()),
    )
