"""A client that speaks to the real server over its standard input and output, as an editor does."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Message = dict[str, Any]
PATIENCE = 30.0
"""Seconds; a busy machine is slow, and not wrong."""

RICH = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "configuration": True,
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
    },
}
"""The capabilities of an editor that can do everything."""


def applied(text: str, edit: Message) -> str:
    """A text (without characters outside of the basic plane) after an edit of the editor."""
    if "documentChanges" in edit:
        [change] = edit["documentChanges"]
        edits = change["edits"]
    else:
        [edits] = edit["changes"].values()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(position: Message) -> int:
        return min(starts[position["line"]] + position["character"], len(text))

    for one in sorted(edits, key=lambda each: offset(each["range"]["start"]), reverse=True):
        text = text[: offset(one["range"]["start"])] + one["newText"] + text[offset(one["range"]["end"]) :]
    return text


class EditorClient:
    """One editor with one server."""

    def __init__(
        self,
        *folders: Path,
        capabilities: Message | None = None,
        options: Message | None = None,
        settings: Message | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self.answers: list[Message] = []
        """What the server asked the editor."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "guardfix", "server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.pid = self._process.pid
        self._inbox: queue.Queue[Message | None] = queue.Queue()
        self._kept: list[Message] = []
        self._open: list[str] = []
        self._count = 0
        self._held: list[bytes] | None = None
        threading.Thread(target=self._read, daemon=True).start()
        given = capabilities if capabilities is not None else RICH
        workspace = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        self.welcome = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": workspace[0]["uri"] if workspace else None,
                "workspaceFolders": workspace,
                "capabilities": given,
                "initializationOptions": {"debounce": 10} | (options or {}),
            },
        )
        self.notify("initialized", {})

    def __enter__(self) -> EditorClient:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def leave(self) -> int:
        """Say goodbye as the protocol has it; the exit status of the server."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self._process.wait(PATIENCE)

    def hang_up(self) -> int:
        """Close the connection, as an editor does that crashed; the exit status of the server."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(PATIENCE)

    # Messages.

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """What is sent inside arrives together, so that the server has all of it before it answers any."""
        assert self._process.stdin is not None
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            self._process.stdin.write(b"".join(held))
            self._process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Send a request and go on; its number."""
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        return self._count

    def answer(self, number: int) -> Message:
        """The whole answer to a request, be it a result or an error."""
        return self.wait_for(lambda message: message.get("id") == number and "method" not in message)

    def request(self, method: str, params: Any) -> Any:
        answer = self.answer(self.ask(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, wanted: Callable[[Message], bool], patience: float = PATIENCE) -> Message:
        """The first message of this kind, be it here already or still to come."""
        for number, message in enumerate(self._kept):
            if wanted(message):
                return self._kept.pop(number)
        end = time.monotonic() + patience
        while True:
            try:
                message = self._inbox.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"waited in vain; what came: {self._kept}") from None
            if message is None:
                raise AssertionError(f"the server has ended; what came: {self._kept}")
            if wanted(message):
                return message
            self._kept.append(message)

    def told(self, method: str) -> Any:
        """The parameters of the next notification, or request, of a method."""
        return self.wait_for(lambda message: message.get("method") == method)["params"]

    def is_quiet(self, method: str, seconds: float) -> bool:
        """Whether no such message comes for a while."""
        try:
            self.wait_for(lambda message: message.get("method") == method, seconds)
        except AssertionError:
            return True
        return False

    # Texts.

    def open(self, path: Path, text: str, version: int = 1) -> str:
        language = "python" if path.suffix == ".py" else "cpp"
        item = {"uri": path.as_uri(), "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self._open.append(path.as_uri())
        return path.as_uri()

    def close_all(self) -> None:
        """Close every text, and forget what was said of them."""
        for uri in self._open:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self._open.clear()
        self.answer(self.ask("guardfix/unheardOf", None))  # answered in turn: what was said before is here
        self._kept.clear()

    def type(self, uri: str, version: int, *changes: Message) -> None:
        """Changes of an open text: `{"text": …}`, or with a range as `span` makes it."""
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def diagnostics(self, uri: str, version: int | None = None) -> list[Message]:
        """What the server says next about a text, or about one version of it."""

        def wanted(message: Message) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and (version is None or params.get("version") == version)
            )

        found: list[Message] = self.wait_for(wanted)["params"]["diagnostics"]
        return found

    def actions(self, uri: str, where: Message, only: Sequence[str] | None = None) -> list[Message]:
        context: Message = {"diagnostics": []}
        if only is not None:
            context["only"] = list(only)
        params = {"textDocument": {"uri": uri}, "range": where, "context": context}
        found: list[Message] = self.request("textDocument/codeAction", params)
        return found

    def hover(self, uri: str, line: int, character: int) -> Any:
        position = {"line": line, "character": character}
        return self.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})

    # Underneath.

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        message_bytes = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        if self._held is not None:
            self._held.append(message_bytes)
            return
        self._process.stdin.write(message_bytes)
        self._process.stdin.flush()

    def _read(self) -> None:
        out = self._process.stdout
        assert out is not None
        while header := out.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                header = out.readline()
            message = json.loads(out.read(length))
            if "method" in message and "id" in message:
                with suppress(ValueError, OSError):  # this side has hung up
                    self._reply(message)
            self._inbox.put(message)
        self._inbox.put(None)

    def _reply(self, message: Message) -> None:
        """Answer what the server asks, as an editor whose user agrees to everything."""
        self.answers.append(message)
        result: Any = None
        if message["method"] == "workspace/configuration":
            result = [self.settings]
        elif message["method"] == "window/showDocument":
            result = {"success": True}
        elif message["method"] == "window/showMessageRequest":
            result = message["params"]["actions"][0]
        self._send({"id": message["id"], "result": result})


def span(start_line: int, start: int, end_line: int, end: int) -> Message:
    """A range of the protocol."""
    return {"start": {"line": start_line, "character": start}, "end": {"line": end_line, "character": end}}
