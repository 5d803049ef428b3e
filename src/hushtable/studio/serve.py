"""Start the studio: a server on loopback and a random port, and a browser that is led to it by a file of its owner alone."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from hushtable.errors import InputError
from hushtable.report.html import element
from hushtable.studio import places, words
from hushtable.studio.app import app
from hushtable.studio.network import refuse_outgoing
from hushtable.studio.session import LINK_VALID
from hushtable.studio.studio import Studio


def serve(root: Path, table: Path | None = None, *, jobs: int = 1, browse: bool = True, say: Callable[[str], None] = print) -> None:
    """Run until it is stopped. ``table`` is read at once; with ``browse`` a browser is opened, else the link is said."""
    refuse_outgoing()
    asyncio.run(_serve(root, table, jobs, browse=browse, say=say))


class Server(uvicorn.Server):
    """A server that ends when it is asked to, and lets us tidy up: by itself it would end the process by the signal it got."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: the signals are ours."""
        yield

    def end(self) -> None:
        """End soon; asked twice, at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


async def _serve(root: Path, table: Path | None, jobs: int, *, browse: bool, say: Callable[[str], None]) -> None:
    studio = Studio(root, jobs=jobs)
    sockets = bound()
    port = sockets[0].getsockname()[1]
    config = uvicorn.Config(
        app(studio, port), log_config=None, access_log=False, server_header=False, ws="none", http="h11", loop="asyncio",
        lifespan="on", timeout_graceful_shutdown=1, log_level="critical",
    )  # fmt: skip
    server = Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, server.end)
    address = f"http://127.0.0.1:{port}/{studio.session.prefix}"
    note = places.announce(address, studio.session.control, studio.files.root)
    running = asyncio.create_task(server.serve(sockets=sockets))
    page: Path | None = None
    try:
        link = f"{address}/enter?token={studio.session.link()}"
        if browse:
            page = redirect_page(link)
            # In a thread: a browser on a terminal does not return before it ends.
            opening = asyncio.get_running_loop().run_in_executor(None, webbrowser.open, page.as_uri())
            opening.add_done_callback(lambda done: None if done.result() else say(words.NO_BROWSER))
            asyncio.get_running_loop().call_later(LINK_VALID, partial(page.unlink, missing_ok=True))
        say(words.SERVING if browse else f"{words.SERVING}\n{link}")
        await studio.worker.start()
        if table is not None:
            studio.read(table)
        await running
    finally:
        note.unlink(missing_ok=True)
        if page is not None:
            page.unlink(missing_ok=True)


def bound() -> list[socket.socket]:
    """Sockets on a random port of 127.0.0.1 and, where there is IPv6, the same port of ::1. There is no other choice."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.bind(("127.0.0.1", 0))
    found = [own]
    if socket.has_ipv6:
        six = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        try:
            six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            six.bind(("::1", own.getsockname()[1]))
            found.append(six)
        except OSError:
            # No IPv6 here, or the port is taken there: the links name 127.0.0.1 anyway.
            six.close()
    for one in found:
        # From now on: a browser that is quicker than the server waits, and is not refused.
        one.listen(64)
    return found


def redirect_page(link: str) -> Path:
    """A page that leads to a link, which its owner alone can read: so the token stands in no list of processes."""
    handle, name = tempfile.mkstemp(prefix="hush-studio-", suffix=".html")
    os.fchmod(handle, 0o600)
    jump = element("meta", http_equiv="refresh", content=f"0;url={link}")
    head = element("head", element("meta", charset="utf-8"), element("meta", name="referrer", content="no-referrer"), jump)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"<!doctype html>\n{element('html', head, element('body', element('a', words.GO_ON, href=link)), lang='en')}\n")
    return Path(name)


def fresh_link() -> str:
    """A new link to the studio that was started last; InputError where none runs."""
    for entry in places.running():
        parts = urlsplit(str(entry.get("address", "")))
        if parts.hostname is None or parts.port is None:
            continue
        asked = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        with contextlib.closing(asked), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            headers = {"Authorization": f"Bearer {entry.get('secret', '')}", "Origin": f"http://{parts.netloc}"}
            asked.request("POST", f"{parts.path}/link", headers=headers)
            answer = asked.getresponse()
            if answer.status == 200:
                return f"{entry['address']}/enter?token={json.loads(answer.read())['token']}"
    raise InputError(words.NOT_RUNNING, where="hush studio")
