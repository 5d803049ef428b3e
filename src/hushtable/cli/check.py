"""Run the contract battery on a step or an audit."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json
from hushtable.cli.options import Json
from hushtable.pipeline.registry import load


def check(target: Annotated[str, typer.Argument(help="module:Class", show_default=False)], as_json: Json = False) -> None:
    """Run the contract battery on a step or an audit of your own."""
    verdicts = ht.check(load(target))
    failed = [v for v in verdicts if not v.passed]
    if as_json:
        print_json({"class": target, "passed": not failed, "checks": [{"asks": v.asks, "wrong": v.wrong} for v in verdicts]})
    else:
        for verdict in verdicts:
            mark = "[green]ok[/green]" if verdict.passed else "[red]x [/red]"
            out.print(f"{mark} {escape(verdict.asks)}" + (f": [bold]{escape(verdict.wrong)}[/bold]" if verdict.wrong else ""))
        out.print(f"{len(verdicts) - len(failed)} of {len(verdicts)} checks passed")
    if failed:
        raise typer.Exit(3)
