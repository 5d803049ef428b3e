"""Anonymize, sample, bring back and synthesize a table in all combinations, attack each, and say what each part does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.api.compare.cores import usual_workers
from hushtable.cli.compare import finished_line, ignored, show_recommendation
from hushtable.cli.console import out, print_json, progress, warn_of_epsilon
from hushtable.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Header,
    Index,
    Json,
    Names,
    Person,
    RowsPerPerson,
    SchemaFile,
    names_of,
    numbers_of,
    whole_numbers_of,
)
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.hybrid.result import HybridGrid


def hybrid(
    data: Data,
    schema_file: SchemaFile,
    folder: Annotated[
        Path, typer.Option("--out", help="A folder for the grid; one that was stopped goes on. It is private.", show_default=False)
    ],
    ks: Annotated[str, typer.Option("--k", help="Values of k, with commas.")] = "5,10,20,50",
    beta: Annotated[
        str, typer.Option(help="Shares of the anonymized rows that stay, with commas; 1 is no sampling.")
    ] = "0.1,0.2,0.5,1",
    sampling: Annotated[str, typer.Option(help="none, poisson, random or stratified, with commas.")] = "random,stratified",
    transition: Annotated[
        str, typer.Option(help="none, single, uniform, conditional or noisy (paid for), with commas.")
    ] = "single,uniform,conditional",
    density: Annotated[
        str, typer.Option(help="Of conditional transitions: histogram, kde or multivariate, with commas.")
    ] = "histogram",
    order: Annotated[str, typer.Option(help="Values are brought back before the generator (pre) or after it (post).")] = "pre,post",
    generators: Annotated[str, typer.Option(help="Recipes that generate, by name or file, with commas.")] = "argn,sequential",
    anonymizer: Annotated[
        str, typer.Option(help="k-anonymity, mondrian, mdav, safe-k and others ('hush methods hybrid-pre-argn'), with commas.")
    ] = "k-anonymity",
    diversity: Annotated[float, typer.Option("--l", help="The least diversity of every secret in a class; 0 for none.")] = 0.0,
    closeness: Annotated[
        float, typer.Option("--t", help="The largest distance of a class's secrets from the table's; 1 asks for none.")
    ] = 1.0,
    epsilon: Annotated[str, typer.Option(help="Budgets of what is differentially private, with commas: 1,4.")] = "",
    target: Annotated[
        str, typer.Option(help="The column whose prediction is the score; the one with the role target when absent.")
    ] = "",
    constraints: Annotated[
        list[str] | None,
        typer.Option(
            "--constraint", help="What must hold, by bounds: max_gain<0.02, k>=10, score>=0.8. No alarm is asked for too."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Releases of each cell.")] = 1,
    hold_out: Annotated[float, typer.Option(help="The share of rows that is set aside to attack and test with.")] = 0.25,
    person: Person = None,
    rows_per_person: RowsPerPerson = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side.", show_default="one for each core, 4 at most")
    ] = None,
    rows: Annotated[int | None, typer.Option(min=2, help="So many rows of the table at most, drawn at random.")] = None,
    attacked: Annotated[int | None, typer.Option(min=2, help="Rows of each side that are attacked.", show_default="10,000")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this attack ('hush methods' lists them). May be repeated.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="The rows are public, or of other people: choosing by them costs no privacy.")
    ] = False,
    delta: Annotated[float | None, typer.Option(help="Delta of every budget; 1e-6 when absent.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything but the noise of differential privacy.")] = 0,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Anonymize, then synthesize, in all combinations, and say what each part does. Exit code 3 if none meets the conditions."""
    options = ht.HybridOptions.of(
        None,
        {
            "k": whole_numbers_of(ks, "--k"),
            "beta": numbers_of(beta, "--beta"),
            "sampling": names_of(sampling),
            "transition": names_of(transition),
            "density": names_of(density),
            "order": names_of(order),
            "generators": names_of(generators),
            "anonymizers": names_of(anonymizer),
            "l": diversity,
            "t": closeness,
            "epsilons": numbers_of(epsilon, "--epsilon") if epsilon else (),
            "target": target,
            "constraints": tuple(constraints or ()),
            "runs": runs,
            "hold_out": hold_out,
            "person": person,
            "rows_per_person": rows_per_person,
            "workers": workers or usual_workers(),
            "rows": rows,
            "attacked": attacked,
            "only": tuple(only or ()),
            "public": public,
            "delta": delta,
            "seed": seed,
        },
    )
    table = ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index))
    warn_of_epsilon(*options.comparison.epsilons)
    named = {"data": str(data), "schema": str(schema_file)}
    with progress("hybrid", f"what is done is kept in {folder}; the same command goes on from there") as update:
        finished = ignored if as_json else finished_line
        grid = ht.hybrid(table, options, folder=folder, named=named, progress=update, finished=finished)
    if as_json:
        print_json({"folder": str(folder)} | grid.to_json())
    else:
        _show(grid, str(folder))
    if grid.comparison.best is None:
        raise typer.Exit(3)


def _show(grid: HybridGrid, folder: str) -> None:
    """What each axis does, what was decided, then the recommendation."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.hybrid_text import SHOWN, levels_table

    heads, lines = levels_table(grid, SHOWN)
    shown = Grid(title=f"{len(grid.hybrids)} hybrids: means over all that share a value", title_justify="left")
    for place, head in enumerate(heads):
        shown.add_column(head, no_wrap=place < 3, overflow="fold")
    for line in lines:
        shown.add_row(*map(escape, line))
    out.print(shown)
    for cell in grid.failures:
        out.print(f"- {escape(f'{cell.id} failed: {cell.failed}')}")
    for note in grid.comparison.notes:
        out.print(f"- {escape(note)}")
    for one in grid.hypotheses:
        out.print(f"[bold]{escape(str(one.verdict))}[/bold]: {escape(one.statement)}. {escape(one.words)}")
    show_recommendation(grid.comparison.recommendation)
    out.print(f"The page is [bold]{escape(folder)}/hybrid.html[/bold]. It was computed from raw rows: do not publish it.")
