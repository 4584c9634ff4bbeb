"""`guardfix why`: from an error to its cause."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from guardfix.regular_files import read_regular_text

from ..foreign_text import printable
from ..output.finding_places import ERRORS_PAGE
from ..output.plain_echo import echo
from ..output.terminal_layout import displayable, terminal_width, wrapped
from .command_failure import Failure

if TYPE_CHECKING:
    from guardfix.pytorch_messages.message_table import KnownMessage

    from ..why.answers import ErrorAnswer

_LARGEST = 4 << 20
"""Characters of a log that are read, from its end: the error is there."""
_PATH = re.compile(r"\S*[/\\.]\w{1,5}")
"""A single word that ends like a file name, so it can't be an error message."""


@click.command("why", short_help="From an error message or traceback to its cause, and what cures it.")
@click.argument("error", nargs=-1)
@click.option(
    "--source",
    "paths",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True),
    help="Where the program's source is; by default, the files that the traceback names and their project.",
)
@click.option(
    "--apply", "number", type=click.IntRange(min=1), metavar="N", help="Make change N of those that are listed."
)
def command(error: tuple[str, ...], paths: tuple[str, ...], number: int | None) -> None:
    """Say where an error of PyTorch comes from, and what to change.

    ERROR is a message, a file with the output of the program, or `-` for standard input. guardfix finds the frame in
    your code, follows the program from there on abstract tensors, and shows where the tensor was made and under which
    guard. The program isn't run.

    \b
    python train.py 2>&1 | guardfix why
    guardfix why log.txt --apply 1
    """
    text = error_text(error)
    show_answer(text, paths, number, again=_again(error))


def error_text(given: Sequence[str]) -> str:
    """What was pasted, piped, or named as a file."""
    if len(given) == 1 and given[0] != "-" and os.path.exists(given[0]) and not os.path.isdir(given[0]):
        try:
            return read_regular_text(given[0], "replace", pipes=True)[-_LARGEST:]
        except OSError as error:
            raise Failure(f"{given[0]}: {error.strerror or error}") from None
    if given and tuple(given) != ("-",):
        if len(given) == 1 and _PATH.fullmatch(given[0]):
            raise Failure(f"no such file: {given[0]}")
        return " ".join(given)
    if sys.stdin is None:
        raise Failure("standard input is closed")
    if sys.stdin.isatty():
        echo("Paste the error, then press Ctrl-D on a line of its own:", err=True)
    read = sys.stdin.buffer.read().decode("utf-8", "replace")[-_LARGEST:]
    if not read.strip():
        raise Failure("standard input is empty: pipe a program's output, as in `python train.py 2>&1 | guardfix why`")
    return read


def _again(given: Sequence[str]) -> str:
    """How the command is called again with the same error."""
    if len(given) == 1 and given[0] != "-" and os.path.isfile(given[0]):
        return f"guardfix why {printable(given[0])}"
    return "the same command with" if not given or given == ("-",) else "guardfix why … "


def show_answer(text: str, paths: Sequence[str], number: int | None = None, again: str = "guardfix why …") -> None:
    """Print what is known of an error, and make one of the changes if it is asked for. Raises `Failure`."""
    from guardfix.linter.files.discovery import NoSuchPath

    from ..why.answers import answer_for

    try:
        answer = answer_for(text, paths)
    except NoSuchPath as error:
        raise Failure(f"no such file or directory: {error}") from None
    if answer is None:
        raise Failure(
            "there is no message of PyTorch about guards or gradients in this text; "
            f"{ERRORS_PAGE} lists those that guardfix knows"
        )
    if number is None:
        for line in answer_lines(answer, terminal_width(), again):
            echo(line)
        return
    _apply(answer, number)


def answer_lines(answer: ErrorAnswer, width: int | None, again: str) -> Iterator[str]:
    """The answer as text."""
    from guardfix.codemods.apply.unified_diff import lines_between

    from ..why.answers import rewrite_of, story_lines, subject_of

    place, message = answer.place, answer.message
    where = f"{printable(place.path)}:{place.row}: " if place is not None and place.path else ""
    said = displayable(answer.traceback.line or message.title).split(". ")[0].split(".You ")[0]
    yield from wrapped(f"{where}{said}", width, indent="    ")
    if place is not None:
        yield from _code(place.path, place.row)
    yield ""
    subject = subject_of(answer)
    if subject:
        yield from wrapped(_sentence(subject), width)
        if answer.cause.event is not None:
            for line in story_lines(answer.cause.event, answer.cause):
                yield from wrapped(f"  {displayable(printable(line))}", width, indent="     ")
        if elsewhere := _elsewhere(answer):
            yield from wrapped(elsewhere, width)
        yield ""
    yield from wrapped(f"What it means: {message.cause}", width)
    if not subject and message.blames:
        yield from wrapped(_what_was_read(answer), width)
    if message.kind == "warning" and not answer.traceback.frames:
        yield "A warning has no traceback: run the program with `python -W error` to see where it comes from."
    yield ""
    yield "What cures it:"
    is_any_applied = any(cure.edits for cure in answer.cures)
    for index, cure in enumerate(answer.cures, 1):
        by_hand = "" if cure.edits or not (subject or is_any_applied) else "by hand: "
        yield from wrapped(f"  {index}. {by_hand}{printable(cure.change)}", width, indent="     ")
        yield from wrapped(f"     cost: {cure.cost}", width, indent="     ")
        if cure.edits:
            rewrite = rewrite_of(cure)
            yield from (f"       {displayable(line)}" for line in lines_between(rewrite.source.text, rewrite.text))
    yield ""
    if is_any_applied:
        yield from wrapped(f"To make a change: {again} --apply 1", width)
    rules = rules_of(message, "cpp" if answer.traceback.cpp else "python" if answer.traceback.frames else "")
    if rules:
        advice = f"Rules about it: {', '.join(rules)}; try `guardfix check`, `guardfix explain {rules[0]}`"
        yield from wrapped(advice, width, indent="    ")
    yield f"{ERRORS_PAGE}#{message.key}"


def rules_of(message: KnownMessage, language: str = "") -> list[str]:
    """The codes of the rules about a message, of one language where it is known."""
    from guardfix.linter.rule import find_rules

    return [
        code for code in message.rules if not language or any(language in rule.languages for rule in find_rules(code))
    ]


def _code(path: str, row: int) -> Iterator[str]:
    from guardfix.linter.files.workspace import DISK

    source = DISK.read_or_none(path) if path and os.path.isfile(path) else None
    if source is not None and 0 < row <= len(source.line_starts):
        yield f"    {row} | {displayable(source.line(row)).rstrip()}"


def _what_was_read(answer: ErrorAnswer) -> str:
    if answer.traceback.frames and not answer.cause.frames:
        return "The source isn't here: name its folder with `--source` to see where this one comes from."
    if not answer.cause.files:
        return "No source was read: name its folder with `--source` to see where this one comes from."
    return (
        f"guardfix read {len(answer.cause.files)} of {answer.looked_through} files and couldn't follow the tensor from "
        "a guard to this place."
    )


def _elsewhere(answer: ErrorAnswer) -> str:
    """The other places that it may have been, where the text names none; empty where there are none."""
    places = [f"{one.path}:{answer.cause.files[one.path].row(one.span.start)}" for one in answer.cause.elsewhere]
    if not places:
        return ""
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    debug = "; of a program that is compiled with `-g`, guardfix finds the line" if answer.traceback.cpp else ""
    shown = ", ".join(map(printable, places[:_MOST_PLACES]))
    return f"The text doesn't say where it was raised, and it may also have been at {shown}{more}{debug}."


_MOST_PLACES = 5


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _apply(answer: ErrorAnswer, number: int) -> None:
    from guardfix.codemods.apply.unified_diff import base_of, unified_diff
    from guardfix.codemods.apply.writing import NotWritten, write

    from ..why.answers import rewrite_of

    if number > len(answer.cures):
        raise Failure(f"there are only {len(answer.cures)} changes")
    cure = answer.cures[number - 1]
    if not cure.edits:
        raise Failure(f"change {number} is to be made by hand: {cure.change}")
    rewrite = rewrite_of(cure)
    try:
        write(rewrite)
    except NotWritten as error:
        raise Failure(f"{printable(cure.path)}: {error}") from None
    lines = unified_diff(rewrite, base_of([cure.path]))
    echo(b"".join(lines).decode("utf-8", "replace"), nl=False)
    echo(f"Changed {printable(cure.path)}.")
