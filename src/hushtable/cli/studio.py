"""Open hushtable in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from hushtable.errors import InputError, MissingExtra


def studio(
    at: Annotated[
        Path | None, typer.Argument(help="A table to open, or a folder to start in.", metavar="[FILE|FOLDER]", show_default=False)
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(help="Only files below this folder can be opened; that of the table, or the current one, when absent."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="So many releases, audits or comparisons run side by side; others wait.")] = 1,
    url: Annotated[bool, typer.Option("--url", help="Print a fresh link to the studio that runs already.")] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link instead of opening a browser.")] = False,
) -> None:
    """Open hushtable in the browser. It listens on this machine alone, and rows never leave it."""
    if missing := [library for library in ("starlette", "uvicorn") if find_spec(library) is None]:
        raise MissingExtra(" and ".join(missing), "studio", "hush studio")
    # The start of the command line waits for no web server.
    from hushtable.studio import words
    from hushtable.studio.serve import fresh_link, serve

    if url:
        typer.echo(fresh_link())
        return
    place = at or Path()
    if not place.exists():
        raise InputError("does not exist", where=str(place))
    table = place.resolve() if place.is_file() else None
    start = (root or (place if table is None else place.parent)).resolve()
    if not start.is_dir():
        raise InputError(words.NOT_A_FOLDER, where="--root")
    if table is not None and not table.is_relative_to(start):
        raise InputError(words.OUTSIDE, where=str(place))
    serve(start, table, jobs=jobs, browse=not no_browser, say=lambda text: typer.echo(text, err=True))
