"""What every request must be before anything sees it, and what every answer carries. Each line has a test that fails without it."""

from __future__ import annotations

from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hushtable.studio import words
from hushtable.studio.session import Session

COOKIE = "hush"
ENTER = "/enter"
"""Where a link leads; it needs no cookie, because it gives one."""
LINK = "/link"
"""Where the command line asks for a fresh link, with the secret of its private file."""
STATIC = "/static/"
"""The style and the script, which are nobody's secret."""
EVENTS = "/events"
"""What a page listens to by itself: nobody need be there."""
PIECE = "/-/"
"""In the path of a piece of a page, which its script asks for."""
STATE = "x-studio"
"""The header by which the script knows that the screen is locked."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With no-referrer a browser sends "Origin: null", and every form is refused.
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
}
REPORT = {
    # A page of its own origin, which is none: it cannot call the studio, whatever is in it. Its own policy, by hashes, holds too.
    "content-security-policy": (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # A browser refuses to open a page that is in a sandbox and wants a group of its own.
    "cross-origin-opener-policy": "unsafe-none",
}
"""The headers of a finished report, in place of those of the studio."""


class Guard:
    """Around the whole app: host, prefix, method, cookie and origin on the way in, headers on the way out."""

    def __init__(self, app: ASGIApp, session: Session, port: int, locked: str) -> None:
        self.app, self.session, self.locked = app, session, locked
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed, with its path below the prefix."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        path = self._below(scope["path"])
        app = self._refusal(scope["method"], path, headers) or self.app
        await app({**scope, "path": path or "", "raw_path": (path or "").encode(), "root_path": ""}, receive, dressed)

    def _refusal(self, method: str, path: str | None, headers: Headers) -> Response | None:
        host = headers.getlist("host")
        if len(host) != 1 or host[0] not in self.hosts:
            return PlainTextResponse(words.WRONG_HOST, 421)
        if path is None:
            return PlainTextResponse(words.NOTHING_HERE, 404)
        if method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse(words.WRONG_METHOD, 405)
        if method == "POST" and not _own(headers, f"http://{host[0]}"):
            return PlainTextResponse(words.WRONG_ORIGIN, 403)
        if method != "POST" and (path == ENTER or path.startswith(STATIC)):
            return None
        if path == LINK and method == "POST":
            given = headers.get("authorization", "").removeprefix("Bearer ")
            return None if self.session.is_control(given) else PlainTextResponse(words.WRONG_ORIGIN, 403)
        used = path != EVENTS and PIECE not in path
        if not self.session.knows(cookie_of(headers), used=used):
            return HTMLResponse(self.locked, 403, {STATE: "locked"})
        return None

    def _below(self, path: str) -> str | None:
        start = f"/{self.session.prefix}"
        return path[len(start) :] if path.startswith(f"{start}/") else None


def _own(headers: Headers, origin: str) -> bool:
    """Whether a form comes from our own page. Not every browser sends Sec-Fetch-Site here; all send the origin of a form."""
    return headers.getlist("origin") == [origin] and all(v == "same-origin" for v in headers.getlist("sec-fetch-site"))


def cookie_of(headers: Headers) -> str | None:
    """Our cookie of a request."""
    return _value(headers.getlist("cookie"))


def _value(lines: Iterable[str]) -> str | None:
    for line in lines:
        try:
            jar = SimpleCookie(line)
        except CookieError:
            continue
        if COOKIE in jar:
            return jar[COOKIE].value
    return None
