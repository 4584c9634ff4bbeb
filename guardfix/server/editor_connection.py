"""The connection to one editor: which of its messages are handled, and when the editor is gone."""

from __future__ import annotations

import asyncio
import logging
import os
import select
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

from cattrs import transform_error
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from .editor_frames import BadMessage, FrameLost, frame_message, next_frame

_LOOK = 2.0
"""Seconds between two looks for the editor's process."""

_log = logging.getLogger(__name__)


class StrictProtocol(LanguageServerProtocol):
    """pygls doesn't answer requests that it can't read, and answers others where the protocol wants them refused."""

    async def serve(self, stream: BinaryIO) -> None:
        """Handle the editor's messages until they end, or can't be separated any more."""
        self._serving = asyncio.current_task()
        reading = ThreadPoolExecutor(1, "guardfix-read")
        try:
            while (frame := await asyncio.get_running_loop().run_in_executor(reading, next_frame, stream)) is not None:
                self.receive(*frame)
        except FrameLost as error:
            _log.error("the editor's messages can't be told apart: %s", error)
            self._refuse(BadMessage(lsp.ErrorCodes.ParseError, str(error)))
        finally:
            reading.shutdown(wait=False)

    async def end_with(self, process: int | None) -> None:
        """End with the editor's process: its end of the pipe may have been left open in another one."""
        while process is None or is_running(process):
            await asyncio.sleep(_LOOK)
        _log.error("the editor's process %s has ended", process)
        if self._serving is not None:
            self._serving.cancel()

    def receive(self, kind: bytes, content: bytes) -> None:
        """Handle the message of a frame, or refuse it."""
        try:
            message = frame_message(kind, content)
        except BadMessage as error:
            self._refuse(error)
            return
        if "method" not in message:
            self._take_answer(message)
            return
        try:
            self._check_turn(message["method"])
            read = self._read(message)
        except BadMessage as error:
            error.number = message.get("id")
            if error.number is None:
                _log.warning("notification %r: %s", message["method"], error)
            else:
                self._refuse(error)
            return
        self.handle_message(read)

    def _refuse(self, error: BadMessage) -> None:
        """Answer with an error; `null` stands for the number of a request that has no readable one."""
        body = {"code": int(error.code), "message": str(error)}
        self._send_data({"jsonrpc": "2.0", "id": error.number, "error": body})

    def _check_turn(self, method: str) -> None:
        begun = self._workspace is not None
        if method == lsp.EXIT:
            return
        if self._shutdown:
            raise BadMessage(lsp.ErrorCodes.InvalidRequest, "the server is shut down")
        if begun and method == lsp.INITIALIZE:
            raise BadMessage(lsp.ErrorCodes.InvalidRequest, "the server is initialized already")
        if not begun and method != lsp.INITIALIZE:
            raise BadMessage(lsp.ErrorCodes.ServerNotInitialized, "`initialize` comes first")

    def _read(self, message: Mapping[str, Any]) -> Any:
        method = message["method"]
        if method not in self.fm.features and method not in self.fm.builtin_features and method != lsp.CANCEL_REQUEST:
            raise BadMessage(lsp.ErrorCodes.MethodNotFound, f"no method {method!r}")
        kind = self.get_message_type(method)
        if "id" in message and kind is not None and "id" not in kind.__annotations__:
            raise BadMessage(lsp.ErrorCodes.MethodNotFound, f"{method!r} is a notification")
        try:
            return self.structure_message(dict(message))
        except JsonRpcException as error:
            raise BadMessage(lsp.ErrorCodes.InvalidParams, f"{method!r}: {_reasons(error)}") from None

    def _take_answer(self, message: Mapping[str, Any]) -> None:
        """Give what the editor answers to whoever waits for it."""
        try:
            self.handle_message(self.structure_message(dict(message)))
        except JsonRpcException as error:
            self._handle_response(message["id"], error=lsp.ResponseError(lsp.ErrorCodes.InvalidParams, _reasons(error)))


def _reasons(error: JsonRpcException) -> str:
    """What is wrong with a message, and where."""
    return "; ".join(transform_error(error.__cause__)) if error.__cause__ is not None else str(error)


def is_running(number: int) -> bool:
    """Whether there is a process of that number. One that can't be looked at counts as running."""
    if os.name == "nt" or number <= 0:
        return True
    try:
        if hasattr(os, "pidfd_open"):  # tells of those as well that have ended and that no one has waited for
            descriptor = os.pidfd_open(number)
            try:
                return not select.select([descriptor], [], [], 0)[0]
            finally:
                os.close(descriptor)
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
