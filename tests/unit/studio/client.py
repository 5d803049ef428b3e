"""A browser in a few lines: it calls the app itself, keeps a cookie as browsers do, and needs no network."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urlsplit

from hushtable.studio.app import app
from hushtable.studio.studio import Studio

PORT = 43210
ORIGIN = f"http://127.0.0.1:{PORT}"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes
    cookies: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def plain(self) -> str:
        """The page without what is drawn at random, whose digits are nobody's: tokens, and the way to the studio."""
        text = self.text
        for form in self.forms():
            for drawn in (form.fields.get("token", ""), form.action.partition("/")[2].partition("/")[0]):
                text = text.replace(drawn, "") if drawn else text
        return text

    def forms(self) -> list[Form]:
        found = Forms()
        found.feed(self.text)
        return found.forms

    def form(self, action: str, **fields: str) -> Form:
        """The form that posts to this action, and has these values."""
        known = self.forms()
        for form in known:
            if form.action.split("?")[0].endswith(f"/{action}") and fields.items() <= form.fields.items():
                return form
        raise AssertionError(f"no form {action}: {[form.action for form in known]}")


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    """The forms of a page with the values that a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag == "form":
            self.forms.append(Form(own.get("action") or "", own.get("method") or "get"))
        elif not self.forms:
            return
        elif tag == "select":
            self.select = own.get("name") or ""
        elif tag == "option" and (self.select not in self.forms[-1].fields or "selected" in own):
            self.forms[-1].fields[self.select] = own.get("value") or ""
        elif tag == "input" and own.get("name") and (own.get("type") not in ("radio", "checkbox") or "checked" in own):
            self.forms[-1].fields[str(own["name"])] = own.get("value") or ""


class Client:
    """One window on one studio."""

    def __init__(self, studio: Studio, **more: Any) -> None:
        self.studio = studio
        self.app = app(studio, PORT, **more)
        self.prefix = f"/{studio.session.prefix}"
        self.cookie = ""

    async def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, Any] | None = None, *, parts: int = 1,
        cookie: str | None = None,
    ) -> Answer:  # fmt: skip
        """One request, exactly as it is given here, with the headers of a browser that are not given otherwise."""
        sent = {"host": f"127.0.0.1:{PORT}"}
        if own := self.cookie if cookie is None else cookie:
            sent["cookie"] = f"hush={own}"
        if method == "POST":
            sent |= {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}
        sent |= headers or {}
        split = urlsplit(path)
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": split.path, "raw_path": split.path.encode(), "query_string": split.query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items() if value is not None],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
        }  # fmt: skip
        size = max(1, -(-len(body) // parts))
        pieces = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
        messages: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            messages.append(message)

        await self.app(scope, receive, send)
        start = messages[0]
        pairs = [(name.decode(), value.decode()) for name, value in start["headers"]]
        return Answer(
            start["status"], dict(pairs), b"".join(m.get("body", b"") for m in messages[1:]),
            [value for name, value in pairs if name == "set-cookie"],
        )  # fmt: skip

    async def enter(self) -> Answer:
        """Open the studio by a link."""
        got = await self.ask("GET", f"{self.prefix}/enter?token={self.studio.session.link()}")
        found = re.match(r"hush=([^;]+)", got.cookies[0])
        assert found is not None
        self.cookie = found.group(1)
        return got

    async def get(self, path: str) -> Answer:
        """A page of the studio, redirects followed."""
        got = await self.ask("GET", path if path.startswith(self.prefix) else f"{self.prefix}/{path}")
        while got.status == 303:
            got = await self.ask("GET", got.headers["location"])
        return got

    async def send(self, form: Form, **fields: str) -> Answer:
        """A form of a page with some of its fields filled in otherwise, redirects followed."""
        got = await self.post(form, **fields)
        return await self.get(got.headers["location"]) if got.status == 303 else got

    async def post(self, form: Form, **fields: str) -> Answer:
        """The same, without following."""
        return await self.ask("POST", form.action, urlencode({**form.fields, **fields}).encode())

    async def until(self, path: str, text: str, seconds: float = 60.0) -> Answer:
        """A page, once it says something."""
        for _ in range(int(seconds / 0.05)):
            got = await self.get(path)
            if text in got.text:
                return got
            await asyncio.sleep(0.05)
        raise AssertionError(f"{path} never said {text!r}: {got.text}")
