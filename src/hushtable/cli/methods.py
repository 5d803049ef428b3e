"""List the recipes, steps and audits, or everything about one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json
from hushtable.errors import InputError


def methods(
    name: Annotated[str | None, typer.Argument(help="A recipe, a step or an audit.", show_default=False)] = None,
    any_size: Annotated[
        bool, typer.Option("--any-size", help="Only recipes that run on tables of any size, each told by planning it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the recipes, steps and audits, or everything about one of them: its guarantee, its source and its knobs."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api import methods as listing

    if name is not None and any_size:
        raise InputError("lists recipes: leave out the name", where="--any-size")
    if name is not None:
        method = listing.describe(name)
        if as_json:
            print_json(method)
        else:
            _show_method(method)
        return
    everything = {"recipes": listing.of_any_size()} if any_size else listing.everything()
    if as_json:
        print_json(everything)
    elif any_size:
        _show_recipes(everything["recipes"])
    else:
        _show_all(everything)


def _show_method(method: dict[str, Any]) -> None:
    """A recipe or step with its knobs."""
    out.print(f"[bold]{escape(method['name'])}[/bold]  {escape(method.get('title', ''))}")
    for key in ("family", "assurance", "guarantee", "summary", "cite", "reports", "needs"):
        if method.get(key):
            out.print(f"{key}: {escape(method[key])}")
    for step in method["steps"]:
        lines = [(knob["name"], str(knob["value"]), knob["doc"]) for knob in step["knobs"]]
        out.print(_table(f"step {step['name']}", ("knob", "value", "what it does"), lines))


def _show_recipes(recipes: Sequence[Mapping[str, str]]) -> None:
    """The recipes family by family, a line each."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.methods import FAMILIES
    from hushtable.privacy.stated import MEANINGS

    heads = ("name", "title", "assurance", "guarantee")
    out.print("[bold]Recipes[/bold], by family. Assurance is how we know that the guarantee holds:")
    for word, meaning in MEANINGS.items():
        out.print(f"  [bold]{word}[/bold]: {escape(meaning)}")
    for family in FAMILIES:
        if members := [row for row in recipes if row["family"] == family]:
            lines = [[row["name"], _marked(row["title"], row), row["assurance"], row["guarantee"]] for row in members]
            out.print(_table(f"\n{family}", heads, lines))


def _show_all(everything: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    """The recipes family by family, then all steps and audits, a line each."""
    _show_recipes(everything["recipes"])
    composed = everything["composed"]
    lines = [[row["name"], row["title"], row["guarantee"]] for row in composed]
    out.print(_table("\ncomposed by name", ("name", "title", "guarantee"), lines))
    out.print(f"GENERATOR is one of {escape(composed[0]['generators'])}.")
    out.print(f"With another anonymizer than the first: hybrid-pre-mondrian-argn; there are {escape(composed[0]['anonymizers'])}.")
    for title, rows in (("Steps", everything["steps"]), ("Audits and metrics", everything["audits"])):
        out.print(_table(f"\n{title}", ("name", "summary"), [[row["name"], _marked(row["summary"], row)] for row in rows]))
    for needs in dict.fromkeys(row["needs"] for row in (*everything["recipes"], *everything["steps"]) if "needs" in row):
        out.print(f"[yellow]Not installed here[/yellow], so that what is marked with it cannot run: {escape(needs)}")
    out.print("'hush methods NAME' shows one of them with its knobs.")


def _marked(text: str, row: Mapping[str, str]) -> str:
    """With what is not installed here."""
    return f"{text} [needs {row['needs'].partition(':')[0]}]" if "needs" in row else text


def _table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Grid:
    """A table whose first column, the name that one types, is never cut or broken, however narrow the terminal is."""
    grid = Grid(title=title, title_justify="left", title_style="bold")
    grid.add_column(heads[0], no_wrap=True, min_width=max((len(line[0]) for line in lines), default=0))
    for head in heads[1:]:
        grid.add_column(head, overflow="fold", no_wrap=head == "assurance")
    for line in lines:
        grid.add_row(*map(escape, line))
    return grid
