"""The web application of `guardfix serve`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from guardfix.linter.files.workspace import DISK
from guardfix.output.finding_places import repository_top
from guardfix.package_version import VERSION
from guardfix.report.code_excerpts import highlighted
from guardfix.report.page_kit import fragment, has_template, rendered

from .checking_process import CheckingProcess, TooBusy
from .live_report import LiveReport, ReportFailed
from .local_requests import LocalRequests
from .playground_examples import EXAMPLES

MOST_BYTES = 256 << 10
"""Of a text that is pasted."""
SECONDS = 10.0
"""What checking it may take."""
_MOST_SOURCE = 4 << 20
_LANGUAGES = ("", "cpp", "python")
_STYLES = ("playground.css",)
EDITOR = "code_editor.js"
"""CodeMirror, which `make editor` bundles; without it, the page has a text area."""


class BadQuestion(Exception):
    """What was sent is not a text to check: a status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Question:
    """What was pasted."""

    text: str = ""
    language: str = ""
    unsafe: bool = False


@dataclass(frozen=True)
class PlaygroundContent:
    """What the page shows."""

    question: Question
    answer: dict[str, Any] | None
    has_report: bool
    version: str = VERSION
    examples: Any = EXAMPLES


def playground_app(secret: str, port: int, live: LiveReport | None = None, seconds: float = SECONDS) -> ASGIApp:
    """The application; every address starts with the secret. `live` is the report of a folder, if there is one."""
    checking = CheckingProcess(seconds)
    scripts = (*filter(has_template, (EDITOR,)), "playground.js")

    async def page(request: Request) -> Response:
        question, answer = Question(EXAMPLES[0].text), None
        if request.method == "POST":
            question = _from_form(await _body(request))
            answer = await checking.ask(question.text, question.language, unsafe=question.unsafe)
        content = PlaygroundContent(question, answer, live is not None)
        data = [example._asdict() for example in EXAMPLES]
        return HTMLResponse(rendered("playground.html", _STYLES, scripts, content, data, connects="'self'"))

    async def check_json(request: Request) -> Response:
        question = _from_json(await _body(request))
        answer = await checking.ask(question.text, question.language, unsafe=question.unsafe)
        shown = fragment("playground_answer.html", answer=answer)
        fields = {key: answer.get(key) for key in ("error", "language", "fixed", "applied", "left", "diff", "findings")}
        return JSONResponse({**fields, "html": shown})

    async def report(request: Request) -> Response:
        if live is None:
            return PlainTextResponse("`guardfix serve FOLDER` also serves the folder's report\n", 404)
        try:
            return HTMLResponse(await live.page())
        except ReportFailed as error:
            return PlainTextResponse(f"guardfix report: {error}\n", 500)

    async def changes(request: Request) -> Response:
        if live is None:
            return PlainTextResponse("nothing is watched\n", 404)

        async def events() -> AsyncIterator[str]:
            yield ": watching\n\n"
            async for version in live.changes():
                yield f"data: {version}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def source(request: Request) -> Response:
        name = request.path_params["path"]
        if "\0" in name:
            return PlainTextResponse("no file has such a name\n", 400)
        try:
            path = live and await live.source(os.path.join(repository_top() or os.curdir, name))
        except ReportFailed as error:
            return PlainTextResponse(f"guardfix report: {error}\n", 500)
        if not path or os.path.getsize(path) > _MOST_SOURCE:
            return PlainTextResponse("no such file in the report\n", 404)
        text = DISK.read_or_none(path)
        if text is None:
            return PlainTextResponse("this file can't be read as text\n", 404)
        lines = highlighted([text.line(row) for row in range(1, len(text.line_starts) + 1)], path)
        content = {"name": name, "lines": lines, "version": VERSION}
        return HTMLResponse(rendered("source_page.html", _STYLES, (), content))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, BadQuestion)
        return JSONResponse({"error": str(error)}, error.status)

    async def busy(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": "too many texts are being checked; try again"}, 503)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = None if live is None else asyncio.create_task(live.watch())
        try:
            yield
        finally:
            if watching is not None:
                watching.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watching
            await checking.stop()

    app = Starlette(
        routes=[
            Route("/", page, methods=["GET", "POST"]),
            Route("/check", check_json, methods=["POST"]),
            Route("/report", report),
            Route("/changes", changes),
            Route("/source/{path:path}", source),
        ],
        exception_handlers={BadQuestion: refused, TooBusy: busy},
        lifespan=lifespan,
    )
    return LocalRequests(app, secret, port)


async def _body(request: Request) -> bytes:
    """What was sent; raises `BadQuestion` as soon as it is too much."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > 4 * MOST_BYTES:  # a form writes most signs as three
            raise BadQuestion(413, "this is too much to check here; run `guardfix check` on the file")
    return bytes(found)


def _from_json(body: bytes) -> Question:
    try:
        sent = json.loads(body)
        question = Question(sent["text"], sent.get("language", ""), sent.get("unsafe", False) is True)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadQuestion(400, "the question is an object with `text`, `language` and `unsafe`") from None
    return _sound(question)


def _from_form(body: bytes) -> Question:
    sent = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    text = sent.get("text", [""])[0].replace("\r\n", "\n")
    return _sound(Question(text, sent.get("language", [""])[0], "unsafe" in sent))


def _sound(question: Question) -> Question:
    if not isinstance(question.text, str) or question.language not in _LANGUAGES:
        raise BadQuestion(400, "`text` is a string, `language` one of cpp and python, or empty")
    try:
        size = len(question.text.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadQuestion(400, "`text` is not Unicode text") from None
    if size > MOST_BYTES:
        raise BadQuestion(413, f"this is more than {MOST_BYTES >> 10} KB; run `guardfix check` on the file")
    return question
