"""Try to refute the epsilon of a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_json, progress
from hushtable.cli.options import Json, StepSettings, settings_of
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.api.mechanism import MechanismReport
    from hushtable.audits.mechanism.lines import CanaryLine

HEADS = {"the ledger": "stated", "a publication's claim": "claimed", "nobody": "asked"}
"""The head of the column of the epsilon that is tested, by who states it."""


def audit_mechanism(
    recipe: Annotated[str, typer.Argument(help="A recipe by name ('hush methods') or a recipe file.", show_default=False)],
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon that is spent, or claimed, and tested.", show_default=False)
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Its delta; 1e-6 when absent, 0 for pure privacy.", show_default=False)
    ] = None,
    relation: Annotated[
        str | None, typer.Option(help="add_remove or replace_one; what the recipe is proven for when absent.", show_default=False)
    ] = None,
    canaries: Annotated[
        list[str] | None,
        typer.Option("--canary", help="One of the canaries ('corner', 'bound', ...); all when absent. May be repeated."),
    ] = None,
    runs: Annotated[str, typer.Option(help="Runs in each world, or auto: as many as a minute for a canary allows.")] = "auto",
    one_run: Annotated[bool, typer.Option("--one-run", help="Many canaries in three runs instead: for slow recipes.")] = False,
    learn_domain: Annotated[
        bool, typer.Option("--learn-domain", help="With a first step that learns undeclared kinds and domains.")
    ] = False,
    settings: StepSettings = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="A folder for mechanism.json and a page; an audit that was stopped goes on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the audit reproducible, its noise included.")] = None,
    as_json: Json = False,
) -> None:
    """Try to refute the epsilon of a recipe, on tables made for it: it needs no data. Exit code 3 if it is refuted."""
    if runs != "auto" and not runs.isdigit():
        raise InputError(f"expected a number or auto, got {runs!r}", where="--runs")
    options = ht.MechanismOptions(
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        canaries=tuple(canaries or ()),
        runs=None if runs == "auto" else int(runs),
        one_run=one_run,
        learn_domain=learn_domain,
        seed=seed,
    )
    with progress(
        "audit-mechanism", f"what is done is kept in {folder}; the same command goes on from there" if folder else ""
    ) as update:
        report = ht.audit_mechanism(recipe, options, settings=settings_of(settings), folder=folder, progress=update)
    if as_json:
        print_json(report.to_json() | {"folder": str(folder) if folder else None})
    else:
        _show(report, str(folder) if folder else None)
    if report.refuted:
        raise typer.Exit(3)


def _show(report: MechanismReport, folder: str | None) -> None:
    """The verdict on a mechanism, a line for each canary, the queries that were tried, and what could not be."""
    stated = report.tested[0].stated if report.tested else None
    if stated is not None:
        whose = "Asked about, and stated by nobody" if stated.source == "nobody" else f"Stated by {stated.source}"
        out.print(
            f"{whose}: epsilon {stated.epsilon:.4g} at delta {stated.delta:g} "
            f"({stated.relation}, one {escape(stated.unit)}). Public: {escape('; '.join(stated.public))}."
        )
        out.print(_table(report, HEADS.get(stated.source, "ledger")))
    for line in report.untested:
        out.print(f"[bold]{escape(line.canary)}[/bold] could not be tested: {escape(line.why)}")
    for query in report.queries:
        mark = "[green]ok[/green]" if query.holds else "[bold red]x[/bold red]"
        change = "by no more than is stated" if query.holds else "by more than is stated"
        size = f"{query.tried} tried on {query.worst.neighbours:,} neighbours"
        out.print(f"{mark} {escape(query.query)}: one record changes the answer {change} ({size})")
    for note in report.notes:
        out.print(escape(note))
    colour = "red" if report.refuted else "yellow" if report.too_few else "green"
    sure = "" if report.too_few else f", at {100 * report.confidence:g} % confidence"
    out.print(f"[bold {colour}]{escape(report.verdict)}[/bold {colour}]{sure}.")
    if not report.refuted and not report.too_few:
        out.print("Passing proves nothing: it says what these canaries and so many runs could not show.")
    if folder is not None:
        out.print(f"The page is [bold]{escape(folder)}/mechanism.html[/bold]. No row of anybody is behind it.")


def _table(report: MechanismReport, stated: str) -> Grid:
    """A line for each canary that was tested, without the columns that are empty for all of them."""
    heads = ("canary", "runs", "at least", "ceiling", stated, "mu or rho", "guesser", "verdict")
    cells = [_cells(line) for line in report.tested]
    filled = [j for j in range(len(heads)) if any(row[j] for row in cells)]
    grid = Grid(title="epsilon of each canary; the ceiling is the most that so many runs can show", title_justify="left")
    for j in filled:
        grid.add_column(heads[j], no_wrap=j < 5, min_width=max(len(word) for word in heads[j].split()))
    for line, row in zip(report.tested, cells, strict=True):
        grid.add_row(*(escape(row[j]) for j in filled), style="red" if line.refuted else None)
    return grid


def _cells(line: CanaryLine) -> list[str]:
    stated, bounds = line.result
    epsilon, other = bounds.epsilon, ""
    if bounds.other is not None:
        name, bound = bounds.other
        other = f"{name} {bound.value:.2f} of {stated.of(name):.2f}"
    guesser = "none" if epsilon.guess is None else epsilon.guess.score
    numbers = (f"{number:.2f}" for number in (epsilon.value, epsilon.ceiling, stated.epsilon))
    return [line.canary, str(line.runs), *numbers, other, guesser, line.label]
