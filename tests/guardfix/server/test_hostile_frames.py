"""Whatever an editor sends is answered as the protocol says, or ends the server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from server_frames import BEGIN, END, INITIALIZE, framed, notification, request, said, unanswered

from .editor_client import EditorClient

NOT_YET, INVALID, PARSE, PARAMETERS, UNKNOWN = -32002, -32600, -32700, -32602, -32601
HOVER = {"textDocument": {"uri": "file:///a.cpp"}, "position": {"line": 0, "character": 0}}
OPEN = {"textDocument": {"uri": "file:///a.cpp", "languageId": "cpp", "version": 1, "text": "int x;\n"}}

ANSWERED = [
    # (what is sent, number and code of the errors, exit status)
    pytest.param(request(1, "textDocument/hover", HOVER) + BEGIN + END, [(1, NOT_YET)], 0, id="a request before initialize"),
    pytest.param(request(1, "shutdown") + notification("exit"), [(1, NOT_YET)], 1, id="shutdown before initialize"),
    pytest.param(notification("textDocument/didOpen", OPEN) + BEGIN + END, [], 0, id="a notification before initialize"),
    pytest.param(notification("exit"), [], 1, id="exit before initialize"),
    pytest.param(BEGIN + request(1, "initialize", INITIALIZE) + END, [(1, INVALID)], 0, id="initialize twice"),
    pytest.param(BEGIN + request(1, "shutdown") + request(2, "textDocument/hover", HOVER) + notification("textDocument/didOpen", OPEN) + notification("exit"), [(2, INVALID)], 0, id="a request after shutdown"),
    pytest.param(BEGIN + notification("exit"), [], 1, id="exit without shutdown"),
    pytest.param(BEGIN + framed(b"{") + END, [(None, PARSE)], 0, id="no JSON"),
    pytest.param(BEGIN + framed(b"") + END, [(None, PARSE)], 0, id="nothing"),
    pytest.param(BEGIN + framed(b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}') + END, [(None, PARSE)], 0, id="no UTF-8"),
    pytest.param(BEGIN + framed(b"[" * 100_000) + END, [(None, PARSE)], 0, id="nests too deep"),
    pytest.param(BEGIN + framed(b"9" * 5000) + END, [(None, PARSE)], 0, id="a number of too many digits"),
    pytest.param(BEGIN + framed({"id": 1, "method": "shutdown"}, b"Content-Type: x; charset=utf-16\r\n") + END, [(None, PARSE)], 0, id="another character set"),
    pytest.param(BEGIN + framed({"id": 1, "method": "no"}, b"content-type: application/vscode-jsonrpc; charset=utf8\r\n") + END, [(1, UNKNOWN)], 0, id="the old name of UTF-8"),
    pytest.param(BEGIN + framed(b"[]") + framed(b"null") + framed(b"7") + END, [(None, INVALID)] * 3, 0, id="no object"),
    pytest.param(BEGIN + framed(b'{"id": 1, "method": "shutdown"}') + END, [(1, INVALID)], 0, id="no version"),
    pytest.param(BEGIN + framed({"id": 1, "method": 7}) + framed({"id": 2}) + framed({}) + END, [(1, INVALID), (2, INVALID), (None, INVALID)], 0, id="no method"),
    pytest.param(BEGIN + b"".join(request(one, "shutdown") for one in (None, True, 1.5, [], {})) + END, [(None, INVALID)] * 5, 0, id="no number"),
    pytest.param(BEGIN + framed({"id": 1, "method": "no"}) + END, [(1, UNKNOWN)], 0, id="an unknown method without parameters"),
    pytest.param(BEGIN + request(1, "textDocument/hover") + request(2, "textDocument/hover", []) + request(3, "textDocument/hover", {"position": 1}) + END, [(1, PARAMETERS), (2, PARAMETERS), (3, PARAMETERS)], 0, id="wrong parameters"),
    pytest.param(request(1, "initialize", 7) + BEGIN + END, [(1, PARAMETERS)], 0, id="initialize with wrong parameters may be tried again"),
    pytest.param(BEGIN + request(1, "workspace/executeCommand", {"command": "no"}) + END, [(1, PARAMETERS)], 0, id="an unknown command"),
    pytest.param(BEGIN + framed({"id": 1, "result": 7}) + framed({"id": None, "error": {"code": 1, "message": ""}}) + framed({"id": [], "result": 1}) + framed({"error": 1}) + END, [(None, INVALID)], 0, id="answers to nothing"),
    pytest.param(BEGIN + b"\r\n\r\n" + END, [], 0, id="empty lines between frames"),
    pytest.param(BEGIN.replace(b"Content-Length", b"content-length") + END, [], 0, id="names of headers in lower case"),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "errors", "status"), ANSWERED)
def test_what_is_answered(stream: bytes, errors: list[tuple[Any, int]], status: int) -> None:
    ended, told, _ = said(stream)
    assert [(one["id"], one["error"]["code"]) for one in told if "error" in one] == errors
    assert ended == status


LOST = [
    pytest.param(b"garbage\r\n", id="no header"),
    pytest.param(b"\x00" * 9000, id="zeros"),
    pytest.param(b"{}" * 9000, id="no end of line"),
    pytest.param(b"Content-Length: x\r\n\r\n", id="no number"),
    pytest.param(b"Content-Length: -5\r\n\r\n", id="a negative one"),
    pytest.param(b"Content-Length: 5_0\r\n\r\n", id="a number of Python's"),
    pytest.param("Content-Length: \u0665\r\n\r\n".encode(), id="a digit of another script"),
    pytest.param(b"Content-Length: 99999999999999999999\r\n\r\n", id="more than a number holds"),
    pytest.param(b"Content-Length: 4000000000\r\n\r\n", id="more than a message has"),
    pytest.param(b"Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}", id="two lengths"),
    pytest.param(b"Content-Type: x\r\n\r\n{}", id="no length"),
    pytest.param(b"a: b\r\n" * 99 + b"\r\n", id="two of a header"),
    pytest.param(b"".join(b"h%d: b\r\n" % n for n in range(99)) + b"\r\n", id="no end of headers"),
    pytest.param(request(1, "shutdown").replace(b": 6", b": 3"), id="a length that is too small"),
]  # fmt: skip


@pytest.mark.parametrize("lost", LOST)
def test_a_lost_frame_ends_the_server(lost: bytes) -> None:
    """What follows isn't guessed at: a shutdown would otherwise have been answered."""
    status, told, errors = said(BEGIN + lost + request(2, "shutdown"))
    assert status == 1
    assert told[-1]["error"]["code"] == PARSE
    assert told[-1]["id"] is None
    assert "can't be told apart" in errors
    assert not any(one.get("id") == 2 for one in told)


@pytest.mark.parametrize("end", [b"", b"Content-Le", b"Content-Length: 50\r\n\r\n{"])
def test_the_end_ends_the_server(end: bytes) -> None:
    status, _, errors = said(BEGIN + end)
    assert (status, errors) == (1, "")


NO_FILE = [
    "file:///a%00.cpp",
    "file:///a\ud800.cpp",
    "file://[/a.cpp",
    "",
    "file:a.cpp",
    "file://elsewhere/a.cpp",
    "\0",
]


@pytest.mark.parametrize("uri", NO_FILE)
def test_a_text_whose_uri_names_no_file_is_left_alone(uri: str) -> None:
    text = {"uri": uri, "languageId": "cpp", "version": 1, "text": "void f() { at::AutoNonVariableTypeMode g; }\n"}
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "at::NoGradGuard g;"}]}
    stream = notification("textDocument/didOpen", {"textDocument": text}) + notification(
        "textDocument/didChange", change
    )
    stream += request(1, "textDocument/hover", {**HOVER, "textDocument": {"uri": uri}})
    stream += request(2, "workspace/executeCommand", {"command": "guardfix.verify", "arguments": [uri]})
    stream += notification("textDocument/didClose", {"textDocument": {"uri": uri}})
    status, told, errors = said(BEGIN + stream + END)
    assert (status, errors) == (0, "")
    assert sorted((one["id"], one["result"]) for one in told if one.get("id") in (1, 2)) == [(1, None), (2, None)]
    assert not any("method" in one for one in told)


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names there are Unicode")
def test_a_name_that_is_no_utf_8_keeps_its_bytes(tmp_path: Path) -> None:
    name = os.path.join(os.fsencode(tmp_path), b"\xff.cpp")
    with open(name, "w") as file:
        file.write("void f() { at::AutoNonVariableTypeMode g; }\n")
    with EditorClient(tmp_path) as editor:
        editor.request("workspace/executeCommand", {"command": "guardfix.checkWorkspace", "arguments": []})
        assert editor.told("textDocument/publishDiagnostics")["uri"] == f"{tmp_path.as_uri()}/%FF.cpp"


@pytest.mark.parametrize(("number", "running"), [(1, True), (0, True), (-1, True), (1 << 22, False), (1 << 70, False)])
def test_an_editor_of_any_number(number: int, running: bool) -> None:
    from guardfix.server.editor_connection import is_running

    assert is_running(number) == running


def test_the_server_ends_with_its_editor() -> None:
    """Whose end of the pipe another process may hold open."""
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    command = [sys.executable, "-m", "guardfix", "server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(request(0, "initialize", {**INITIALIZE, "processId": editor.pid}))
        server.stdin.flush()
        assert b"Content-Length" in server.stdout.readline()
        time.sleep(0.3)
        assert server.poll() is None
        editor.kill()  # and nobody waits for it: it stays as a zombie
        assert server.wait(20) == 1
    editor.communicate()


SESSIONS = 60 * int(os.environ.get("GUARDFIX_ATTACKS", "1"))
MESSAGES = 60


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[] if n < 6 else pytest.mark.thorough) for n in range(SESSIONS)]
)
def test_every_request_of_a_drawn_session_is_answered_once(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("attacks", MESSAGES)
    assert unanswered(seed, MESSAGES) == ([], "")
