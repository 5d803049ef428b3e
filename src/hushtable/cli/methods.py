"""List the recipes, steps and audits, or everything about one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json


def methods(
    name: Annotated[str | None, typer.Argument(help="A recipe or a step.", show_default=False)] = None, as_json: Json = False
) -> None:
    """List the recipes and steps, or everything about one of them."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api import methods as listing

    if name is not None:
        method = listing.describe(name)
        if as_json:
            print_json(method)
        else:
            _show_method(method)
        return
    everything = listing.everything()
    if as_json:
        print_json(everything)
        return
    _show_all(everything)


def _show_method(method: dict[str, Any]) -> None:
    """A recipe or step with its knobs."""
    out.print(f"[bold]{escape(method['name'])}[/bold]  {escape(method.get('title', ''))}")
    for key in ("guarantee", "summary", "cite", "reports"):
        if method.get(key):
            out.print(f"{key}: {escape(method[key])}")
    for step in method["steps"]:
        lines = [(knob["name"], str(knob["value"]), knob["doc"]) for knob in step["knobs"]]
        out.print(_table(f"step {step['name']}", ("knob", "value", "what it does"), lines))


def _show_all(everything: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    """All recipes, steps and audits, a line each."""
    for title, rows, keys in (
        ("Recipes", everything["recipes"], ("name", "title", "guarantee")),
        ("Steps", everything["steps"], ("name", "summary")),
        ("Audits and metrics", everything["audits"], ("name", "summary")),
    ):
        out.print(_table(title, keys, [[row[key] for key in keys] for row in rows]))


def _table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Grid:
    """A table whose first column, the name that one types, is never cut or broken, however narrow the terminal is."""
    grid = Grid(title=title, title_justify="left")
    grid.add_column(heads[0], no_wrap=True, min_width=max((len(line[0]) for line in lines), default=0))
    for head in heads[1:]:
        grid.add_column(head, overflow="fold")
    for line in lines:
        grid.add_row(*map(escape, line))
    return grid
