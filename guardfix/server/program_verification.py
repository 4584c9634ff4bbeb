"""`guardfix verify` from the editor: which texts are programs, and what became of one."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from lsprotocol.types import (
    CodeLens,
    Command,
    LogMessageParams,
    MessageActionItem,
    MessageType,
    Position,
    Range,
    ShowMessageParams,
    ShowMessageRequestParams,
)
from pygls.lsp.server import LanguageServer

from guardfix.linter.files.workspace import DISK
from guardfix.module_command import module_command
from guardfix.verify.programs.program_discovery import CPP_SUFFIXES, PYTHON_SUFFIXES, has_main, is_python_script

from .document_checks import CheckedText
from .open_documents import OpenDocument, document_path

VERIFY = "guardfix.verify"


def lenses(checked: CheckedText) -> list[CodeLens]:
    """Above the main function of a program that has findings with fixes: verify it."""
    document, facts = checked.document, checked.facts
    if facts is None or not any(finding.fix is not None for finding in checked.findings):
        return []
    suffix = os.path.splitext(document.path)[1]
    text = document.data.decode("utf-8", "replace")
    if suffix in CPP_SUFFIXES and has_main(text):
        main = next((one for one in facts.functions if one.name == "main"), None)
        line = checked.lines_of(document.path).position(main.span.start).line if main is not None else 0
    elif suffix in PYTHON_SUFFIXES and is_python_script(text):
        line = 0
    else:
        return []
    command = Command("Verify this program: run it before and after the fixes", VERIFY, arguments=[document.uri])
    return [CodeLens(Range(Position(line, 0), Position(line, 0)), command)]


async def ask_and_verify(server: LanguageServer, uri: str, document: OpenDocument | None) -> None:
    """Run a program before and after the fixes, once a person has agreed to it; `document` is its open text."""
    path = document_path(uri)
    if path is None:
        return
    saved = DISK.read_or_none(path)
    if saved is None or (document is not None and saved.text != document.data):
        server.window_show_message(ShowMessageParams(MessageType.Warning, "guardfix: save the program first"))
        return
    run = MessageActionItem("Run it")
    question = f"guardfix verify runs {path} before and after the fixes. Do you trust this program?"
    asked = ShowMessageRequestParams(MessageType.Info, question, [run, MessageActionItem("Cancel")])
    answer = await server.window_show_message_request_async(asked)
    if answer is None or answer.title != run.title:
        return
    status, output = await verdict_on(path)
    server.window_log_message(LogMessageParams(MessageType.Info, output))
    lines = [line for line in output.splitlines() if line.strip()]
    kind = MessageType.Info if status == 0 else MessageType.Warning
    server.window_show_message(ShowMessageParams(kind, "\n".join(lines[-6:]) or f"exit status {status}"))


async def verdict_on(path: str) -> tuple[int, str]:
    """The exit status of `guardfix verify` for one program, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *module_command("guardfix"),
        "verify",
        "--yes",
        path,
        cwd=os.path.dirname(path),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
    return process.returncode or 0, output.decode("utf-8", "replace")
