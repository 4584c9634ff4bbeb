"""Which requests are answered: only those of pages that this server made.

A web page anywhere can make a browser send requests to this machine. So

- the address has a secret part, which no other page knows;
- the name in the Host header must be this machine's own: a foreign name that was made to point here (DNS rebinding) is
  refused before anything is looked at;
- what changes or computes something must come from a page of the same origin;
- no answer may be framed, sniffed, kept, or read by another origin.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class LocalRequests:
    """Lets through what may be answered, with the secret part taken off the path."""

    def __init__(self, app: ASGIApp, secret: str, port: int) -> None:
        self.app = app
        self.prefix = f"/{secret}"
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        if refusal:
            status, words = refusal
            answer = PlainTextResponse(f"{words}\n", status) if words else Response(status_code=status)
            await answer(scope, receive, guarded)
            return
        path = scope["path"]
        inner = {**scope, "root_path": self.prefix, "path": path if path != self.prefix else f"{path}/"}
        await self.app(inner, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return 421, "this server answers to 127.0.0.1 and localhost only"
        if scope["path"] == "/favicon.ico":  # browsers ask for it of their own accord
            return 204, ""
        first = "/" + scope["path"].lstrip("/").partition("/")[0]
        if not secrets.compare_digest(first.encode(), self.prefix.encode()):
            return 404, "not found; the address that `guardfix serve` printed has a secret part"
        if scope["method"] not in ("GET", "HEAD"):
            if headers.get("origin", f"http://{host}") != f"http://{host}":
                return 403, "requests of other pages are refused"
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "requests of other pages are refused"
        return None
