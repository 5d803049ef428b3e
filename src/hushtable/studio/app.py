"""The routes: a page, a form, a piece of a page, the events, a finished result; all below the prefix and behind the guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp

from hushtable.errors import Fault, HushError, InputError
from hushtable.report.html import Html, element
from hushtable.studio import forms, frame, guard, words
from hushtable.studio.child import place
from hushtable.studio.journal import as_markdown, as_script
from hushtable.studio.parts import post_button
from hushtable.studio.screens import SCREENS
from hushtable.studio.studio import Studio
from hushtable.studio.view import Screen, Shown, View
from hushtable.studio.worker import Stale, TooLong

STATIC = {
    "style.css": ("hushtable.report", "text/css"),
    "studio.css": ("hushtable.studio.static", "text/css"),
    "studio.js": ("hushtable.studio.static", "text/javascript"),
}
EVERY = 0.5
"""Seconds between two looks at what is at work."""
BEAT = 15.0
"""Seconds after which an idle line of events shows that it is there."""


def app(studio: Studio, port: int, screens: Sequence[Screen] = SCREENS) -> ASGIApp:
    """The studio as an ASGI app."""
    by_name = {screen.name: screen for screen in screens}

    async def show(request: Request) -> Response:
        screen = by_name.get(request.path_params["screen"])
        if screen is None:
            raise HTTPException(404)
        return await _page(_view(request, studio, screen), screen, screens)

    async def act(request: Request) -> Response:
        screen = by_name.get(request.path_params["screen"])
        action = None if screen is None else screen.actions.get(request.path_params["action"])
        if screen is None or action is None:
            raise HTTPException(404)
        form, token = await forms.read(request)
        view = _view(request, studio, screen)
        if not studio.session.is_form_token(guard.cookie_of(request.headers) or "", token):
            return await _page(view.refused(form, [Fault("", words.STALE_FORM)]), screen, screens, 403)
        try:
            if screen.needs_table and not view.opened:
                raise InputError(words.NO_TABLE, where="table")
            target = await action(view, form)
        except HushError as error:
            return await _page(view.refused(form, _faults(error)), screen, screens, 422)
        if not target.startswith(f"/{studio.session.prefix}/"):
            raise AssertionError("an action leads to a page of the studio")
        return RedirectResponse(target, 303)

    async def piece(request: Request) -> Response:
        screen = by_name.get(request.path_params["screen"])
        show_piece = None if screen is None else screen.pieces.get(request.path_params["piece"])
        if screen is None or show_piece is None:
            raise HTTPException(404)
        try:
            return HTMLResponse(await show_piece(_view(request, studio, screen)))
        except Stale:
            return Response(status_code=204)
        except HushError as error:
            return HTMLResponse(element("p", str(error), class_="fault"), 422)

    async def enter(request: Request) -> Response:
        static, cookie = f"/{studio.session.prefix}/static", studio.session.enter(request.query_params.get("token", ""))
        if cookie is None:
            return HTMLResponse(frame.notice(words.USED_LINK, words.USED_LINK_TEXT, static), 403)
        start = f"/{studio.session.prefix}/{screens[0].name}"
        response = HTMLResponse(frame.notice(words.ENTERED, [element("a", words.GO_ON, href=start)], static, refresh=start))
        response.set_cookie(guard.COOKIE, cookie, path=f"/{studio.session.prefix}", httponly=True, samesite="strict")
        return response

    async def link(request: Request) -> Response:
        return JSONResponse({"token": studio.session.link()})

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        return Response(_static(name), media_type=STATIC[name][1])

    async def result(request: Request) -> Response:
        try:
            path = studio.page(request.path_params["id"])
        except InputError:
            raise HTTPException(404) from None
        return Response(await asyncio.to_thread(path.read_bytes), media_type="text/html", headers=guard.REPORT)

    async def bundle(request: Request) -> Response:
        try:
            path = studio.page(request.path_params["id"], ".zip")
        except InputError:
            raise HTTPException(404) from None
        return FileResponse(path, media_type="application/zip", filename=path.name)

    async def events(request: Request) -> Response:
        cookie = guard.cookie_of(request.headers)
        return StreamingResponse(_events(studio, cookie), media_type="text/event-stream")

    async def home(request: Request) -> Response:
        return RedirectResponse(f"/{studio.session.prefix}/{screens[0].name}", 303)

    async def journal(request: Request) -> Response:
        workspace = studio.workspace
        if workspace is None:
            raise HTTPException(404)
        entries, form = workspace.journal.read(), request.path_params["form"]
        text = {
            "sh": lambda: as_script(entries, workspace.folder.name, studio.unfinished),
            "md": lambda: as_markdown(entries, workspace.project.table),
        }
        if form not in text:
            raise HTTPException(404)
        saved = {"content-disposition": f'attachment; filename="journal.{form}"'}
        return PlainTextResponse(text[form](), headers=saved)

    async def lock(request: Request) -> Response:
        _, token = await forms.read(request)
        cookie = guard.cookie_of(request.headers) or ""
        if not studio.session.is_form_token(cookie, token):
            raise HTTPException(403)
        studio.session.lock(cookie)
        studio.revealed.clear()
        return RedirectResponse(f"/{studio.session.prefix}/{screens[0].name}", 303)

    async def refused(request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 413
        text = words.TOO_LARGE if code == 413 else words.NOT_FOUND if code == 404 else words.WRONG_METHOD
        return HTMLResponse(frame.notice(text, [], f"/{studio.session.prefix}/static"), code)

    async def broken(request: Request, error: Exception) -> Response:
        # By its type and place: its text may quote a row.
        said = frame.notice(words.BROKEN, [f"{words.BROKEN_TEXT} {place(error)}"], f"/{studio.session.prefix}/static")
        return HTMLResponse(said, 500)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await studio.close()

    routes = [
        Route("/", home), Route("/enter", enter), Route("/link", link, methods=["POST"]), Route("/static/{name}", static),
        Route("/events", events), Route("/result/{id}", result), Route("/bundle/{id}", bundle),
        Route("/session/lock", lock, methods=["POST"]),
        Route("/journal.{form}", journal), Route("/{screen}", show), Route("/{screen}/-/{piece}", piece),
        Route("/{screen}/{action}", act, methods=["POST"]),
    ]  # fmt: skip
    handlers: Mapping[Any, Any] = {HTTPException: refused, forms.TooLarge: refused, Exception: broken}
    locked = frame.notice(words.LOCKED, words.LOCKED_TEXT, f"/{studio.session.prefix}/static")
    inner = Starlette(routes=routes, exception_handlers=handlers, lifespan=life)
    return guard.Guard(inner, studio.session, port, locked)


def _view(request: Request, studio: Studio, screen: Screen) -> View:
    token = studio.session.form_token(guard.cookie_of(request.headers) or "")
    return View(studio, screen.name, dict(request.query_params), token=token)


async def _page(view: View, screen: Screen, screens: Sequence[Screen], status: int = 200) -> Response:
    """A screen, or what hinders it; without a table the screens that need one lead to the first."""
    if screen.needs_table and not view.opened:
        return RedirectResponse(view.to(screens[0].name), 303)
    try:
        shown = await screen.show(view)
    except Stale:
        return RedirectResponse(view.to(screen.name, **view.query), 303)
    except HushError as error:
        view = view.refused(view.typed, [*view.faults, *_faults(error)])
        shown = Shown(_offer(view, error) if isinstance(error, TooLong) else element("p", words.TRY_AGAIN, class_="soft"))
    return HTMLResponse(frame.page(view, screen, screens, shown), status)


def _offer(view: View, error: TooLong) -> Html:
    """A question that took too long, to be answered by a job."""
    asked = {"question": error.question, "arguments": json.dumps(error.arguments), "to": view.screen}
    return post_button(view, "answer", words.WORK_IT_OUT, main=True, screen="run", **asked)


def _faults(error: HushError) -> Sequence[Fault]:
    if isinstance(error, InputError):
        return error.faults
    return [Fault("", f"{error} {words.AS_JOB}" if isinstance(error, TooLong) else str(error))]


async def _events(studio: Studio, cookie: str | None) -> AsyncIterator[str]:
    """What is at work, whenever it changes; and that the screen has locked."""
    last, waited = "", 0.0
    while True:
        if studio.session.idle(cookie) <= 0:
            yield "event: locked\ndata: {}\n\n"
            return
        now = json.dumps(at_work(studio))
        if now != last or waited >= BEAT:
            yield f"data: {now}\n\n"
            last, waited = now, 0.0
        await asyncio.sleep(EVERY)
        waited += EVERY


def at_work(studio: Studio) -> list[dict[str, Any]]:
    """Everything that is at work or has ended, as the script needs it: no name of a file, and nothing of a row."""
    found: list[dict[str, Any]] = []
    if (reading := studio.reading) is not None:
        state = "running" if reading.at_work else "failed"
        found.append({"id": "reading", "state": state, "share": round(reading.share, 3), "stage": reading.stage})
    for job in studio.jobs.latest() if studio.jobs is not None else ():
        at, of = job.stages.place
        found.append(
            {
                "id": job.id, "state": str(job.state), "share": round(job.share, 3), "stage": job.stages.current,
                "at": int(at), "of": of,
                "elapsed": words.duration(job.elapsed) if job.state.open else "",
            }
        )  # fmt: skip
    return found


@cache
def _static(name: str) -> bytes:
    return files(STATIC[name][0]).joinpath(name).read_bytes()
