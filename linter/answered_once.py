"""Questions about a file or a project that are answered once: the answer is remembered where it belongs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:

    class Remembers(Protocol):
        """What answers live as long as: `Facts`, a `Body`, a `Project`."""

        @property
        def answers(self) -> dict[Any, Any]: ...


_About = TypeVar("_About", bound="Remembers")
_Details = ParamSpec("_Details")
_Answer = TypeVar("_Answer")


def answered_once(
    question: Callable[Concatenate[_About, _Details], _Answer],
) -> Callable[Concatenate[_About, _Details], _Answer]:
    """Remembers what a function of a file's facts, or of a project, gave for the same further arguments."""

    @wraps(question)
    def answer(about: _About, /, *details: _Details.args, **named: _Details.kwargs) -> _Answer:
        key = (question, details, *named.items()) if details or named else question
        answers = about.answers
        if key not in answers:
            answers[key] = question(about, *details, **named)
        found: _Answer = answers[key]
        return found

    return answer
