"""A language server that is sent bytes instead of messages, and drawn messages that hold to the protocol or not."""

from __future__ import annotations

import io
import json
import logging
import random
from typing import Any

Message = dict[str, Any]
INITIALIZE = {"processId": None, "rootUri": None, "capabilities": {}}


def framed(content: bytes | Message, headers: bytes = b"") -> bytes:
    """One frame."""
    data = json.dumps({"jsonrpc": "2.0", **content}).encode() if isinstance(content, dict) else content
    return headers + b"Content-Length: %d\r\n\r\n" % len(data) + data


def request(number: Any, method: str, params: Any = None) -> bytes:
    return framed({"id": number, "method": method, "params": params})


def notification(method: str, params: Any = None) -> bytes:
    return framed({"method": method, "params": params})


BEGIN = request(0, "initialize", INITIALIZE)
END = request("end", "shutdown") + notification("exit")


class _Output(io.BytesIO):
    """What the server writes stays readable after it has closed it."""

    def close(self) -> None:
        pass


def said(stream: bytes) -> tuple[int, list[Message], str]:
    """(exit status, answers and notifications, what was logged) of a server that reads these bytes and then the end."""
    from guardfix.server.server_features import new_server

    server, output, log = new_server(), _Output(), io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel(logging.ERROR)
    logging.getLogger().addHandler(handler)
    try:
        server.start_io(io.BytesIO(stream), output)
    finally:
        logging.getLogger().removeHandler(handler)
    return 0 if server.is_shut_down else 1, messages_in(output.getvalue()), log.getvalue()


def messages_in(output: bytes) -> list[Message]:
    """The messages in what a server wrote, which holds nothing else."""
    found = []
    while output:
        head, _, output = output.partition(b"\r\n\r\n")
        length = int(dict(line.split(b": ") for line in head.split(b"\r\n"))[b"Content-Length"])
        found.append(json.loads(output[:length]))
        output = output[length:]
    return found


_METHODS = (
    "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave", "textDocument/hover",
    "textDocument/codeAction", "textDocument/codeLens", "textDocument/inlayHint", "codeAction/resolve", "initialize", "initialized",
    "workspace/didChangeConfiguration", "workspace/didChangeWorkspaceFolders", "workspace/didChangeWatchedFiles", "$/cancelRequest",
    "$/setTrace", "$/x", "workspace/executeCommand", "guardfix/unheardOf", "window/workDoneProgress/cancel", "", "notebookDocument/didOpen",
)  # fmt: skip
_URIS = (
    "file:///nowhere/a.cpp", "file:///nowhere/a%00b.cpp", "file:///nowhere/%ff.cpp", "file://[", "", "untitled:1", "file:///nowhere/\ud800.cpp",
    "file:a.cpp", "file:///nowhere/" + "x" * 5000 + ".py", "file://host/a.py", "FILE:///nowhere/b.py", "file:///", "\0",
)  # fmt: skip
_TEXT = "void f() {\n  at::AutoNonVariableTypeMode g;\n}\n"


def drawn_message(rng: random.Random) -> Message:
    """A message as an editor out of its mind would send it. Those that ask something have the key `id`."""
    uri = rng.choice(_URIS)
    place = {"line": rng.choice([0, 1, 10**6, -1, "1"]), "character": rng.choice([0, 5, 10**9, None])}
    where = {"start": place, "end": place}
    edit = rng.choice([{"text": _TEXT}, {"range": where, "text": "x"}, {}])
    parts: Message = {
        "textDocument": rng.choice([{"uri": uri, "languageId": "cpp", "version": rng.choice([1, 2, None]), "text": _TEXT}, {"uri": uri}, None, uri]),
        "position": place, "range": where, "context": {"diagnostics": []}, "contentChanges": [edit] * rng.randint(0, 3),
        "settings": rng.choice([None, {"guardfix": {"debounce": 0, "workspace": "yes"}}, [], {"guardfix": []}]),
        "event": {"added": [{"uri": uri, "name": "x"}], "removed": []}, "changes": [{"uri": uri, "type": 1}],
        "command": rng.choice(["guardfix.checkWorkspace", "guardfix.openRule", "guardfix.verify", "no.such"]),
        "arguments": rng.choice([[], [uri], [1, 2], None]), "id": rng.randint(0, 99), "value": "off", "token": "t",
        "title": "x", "data": rng.choice([None, {"uri": uri, "version": 1, "silenced": 7}, {"uri": uri}, [1], "x"]),
    }  # fmt: skip
    message: Message = {
        "method": rng.choice(_METHODS),
        "params": rng.choice([parts, parts, parts, parts, None, [], [parts], "x"]),
    }
    if rng.random() < 0.6:
        message["id"] = rng.choice([rng.randint(1, 1 << 31), f"r{rng.randint(0, 1 << 31)}"])
    if rng.random() < 0.1:
        del message["params"]
    return message


def unanswered(seed: int, count: int) -> tuple[list[Any], str]:
    """Requests of a drawn session that were not answered exactly once, and what went wrong besides."""
    rng = random.Random(seed)
    drawn = [drawn_message(rng) for _ in range(count)]
    status, told, errors = said(BEGIN + b"".join(map(framed, drawn)) + END)
    asked = [one["id"] for one in drawn if "id" in one]
    answered = [one["id"] for one in told if "method" not in one]
    wrong = [number for number in asked if answered.count(number) != asked.count(number)]
    return wrong, "" if status == 0 and "never retrieved" not in errors else f"exit status {status}: {errors[-2000:]}"
