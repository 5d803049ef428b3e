"""Release a table in many ways, attack and measure each, and say which to take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.api.compare.cores import usual_workers
from hushtable.cli.console import err, out, print_json, progress, warn_of_epsilon
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
    assignments_of,
    names_of,
    numbers_of,
)
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison, Recommendation


def compare(
    data: Data,
    schema_file: SchemaFile,
    folder: Annotated[
        Path,
        typer.Option("--out", help="A folder for the comparison; one that was stopped goes on. It is private.", show_default=False),
    ],
    recipes: Annotated[
        str, typer.Option(help="Recipes by name or file, with commas; 'default' is a set that suits the schema.")
    ] = "default",
    target: Annotated[
        str, typer.Option(help="The column whose prediction is the score; the one with the role target when absent.")
    ] = "",
    grid: Annotated[list[str] | None, typer.Option(help="Values of a knob: mdav.k=5,10,50. May be repeated.")] = None,
    epsilon: Annotated[str, typer.Option(help="Budgets of the differentially private recipes, with commas: 0.5,1,4.")] = "",
    constraints: Annotated[
        list[str] | None,
        typer.Option(
            "--constraint",
            help="What must hold, by bounds: max_gain<0.02, epsilon<=2, k>=10, score>=0.8, promise=proven. "
            "No alarm (alarms<1) is asked for too, unless alarms are named.",
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Releases of each setting.")] = 1,
    search: Annotated[
        bool, typer.Option("--search", help="Look for the smallest k and the largest epsilon that meet the constraints.")
    ] = False,
    hold_out: Annotated[float, typer.Option(help="The share of rows that is set aside to attack and test with.")] = 0.25,
    person: Person = None,
    rows_per_person: RowsPerPerson = 1,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes side by side; with 50,000 rows each takes about 0.7 GB.",
            show_default="one for each core, 4 at most",
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(min=2, help="So many rows of the table at most, drawn at random.")] = None,
    attacked: Annotated[int | None, typer.Option(min=2, help="Rows of each side that are attacked.", show_default="10,000")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this attack ('hush methods' lists them). May be repeated.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="The rows are public, or of other people: choosing by them costs no privacy.")
    ] = False,
    delta: Annotated[
        float | None,
        typer.Option(help="Delta of every budget; 1e-6 when absent (1e-9 where the schema declares a size above 100,000)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Fixes everything but the noise of differential privacy.")] = 0,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Release a table in many ways, attack and measure each, and say which to take. Exit code 3 if none meets the conditions."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.compare.axis import target_of
    from hushtable.api.compare.follows import follow_note, sources

    options = ht.CompareOptions(
        recipes=tuple(names_of(recipes)),
        target=target,
        grid={key: tuple(text.split(",")) for key, text in assignments_of(grid, "recipe.knob=value,value", "--grid").items()},
        epsilons=tuple(numbers_of(epsilon, "--epsilon") if epsilon else ()),
        constraints=tuple(constraints or ()),
        runs=runs,
        search=search,
        hold_out=hold_out,
        person=person,
        rows_per_person=rows_per_person,
        workers=workers or usual_workers(),
        rows=rows,
        only=tuple(only or ()),
        public=public,
        delta=delta,
        seed=seed,
        **({} if attacked is None else {"attacked": attacked}),
    )
    table = ht.read(data, schema_file, layout=Layout.of(header, names, encoding, delimiter, None, index))
    warn_of_epsilon(*options.epsilons)
    predicted = target_of(table, target)
    if note := follow_note(predicted, sources(table, predicted)):
        err.print(f"[bold]Note[/bold]: {escape(note)}")
    named = {"data": str(data), "schema": str(schema_file)}
    with progress("compare", f"what is done is kept in {folder}; the same command goes on from there") as update:
        finished = ignored if as_json else finished_line
        comparison = ht.compare(table, options, folder=folder, named=named, progress=update, finished=finished)
    if as_json:
        print_json({"folder": str(folder)} | comparison.to_json())
    else:
        _show(comparison, str(folder))
    if comparison.best is None:
        raise typer.Exit(3)


def finished_line(cell: Cell) -> None:
    """A line for a release that is done."""
    numbers = escape(cell.failed) if cell.failed else f"score {_score(cell)}, attacks gain {_gain(cell)} of 100 people"
    err.print(f"{escape(cell.id)}: {numbers} ({cell.seconds:.0f} s)")


def ignored(cell: Cell) -> None:
    """Programs read the cells at the end."""


def _score(cell: Cell) -> str:
    return "not known" if cell.score is None else f"{cell.score.value:.3f}"


def _gain(cell: Cell) -> str:
    """The worst that was measured, and the largest upper bound, of 100 people."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.compare_text import points

    return "not known" if cell.worst is None else f"{points(cell.worst.value)} (≤ {points(cell.worst.upper)})"


def _show(comparison: Comparison, folder: str) -> None:
    """All releases in order, then the recommendation with its reasons and its limits."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.ranking import baselines, measures

    axis = comparison.axis
    out.print(_table(comparison))
    out.print("* nothing that was tried has both a smaller upper bound (≤) of what attacks gain and a larger score")
    names = measures(comparison)
    real = zip((axis.label, *names), baselines(comparison, names), strict=True)
    shown = [f"{name} {value:.3f}" for name, value in real if value is not None]
    if shown:
        out.print(f"Fresh real rows: {escape(', '.join(shown))}")
    failed = [f"{cell.id} failed: {cell.failed}" for cell in comparison.failures]
    for line in (*failed, *comparison.notes, *(f"{one.recipe}: {one.words}" for one in comparison.searched)):
        out.print(f"- {escape(line)}")
    show_recommendation(comparison.recommendation)
    out.print(f"The page is [bold]{escape(folder)}/comparison.html[/bold]. It was computed from raw rows: do not publish it.")


def show_recommendation(advice: Recommendation) -> None:
    """What to take, the command that makes it, why, and what is not shown."""
    out.print(f"\n[bold]{escape(advice.words[0])}[/bold] {escape(' '.join(advice.words[1:]))}")
    if advice.command:
        out.print(f"\n  {escape(advice.command)}\n")
    if advice.made:
        out.print(escape(advice.made))
    for head, lines in (("Why", advice.why), ("But", advice.caveats), ("Or", [one.words for one in advice.others])):
        for line in lines:
            out.print(f"  [bold]{head}[/bold]: {escape(line)}")


def _table(comparison: Comparison) -> Grid:
    """A line for each release; the one that is recommended is bold."""
    table, cells = comparison.table, comparison.cells
    title = f"{len(cells)} releases of {table.train:,} rows, attacked with {table.control:,} held-out rows"
    grid = Grid(title=title, title_justify="left")
    longest = max(map(len, comparison.axis.label.split()))
    gain = "gain, of 100" if comparison.by_gain else "residual risk, %"
    heads = ("", "release", comparison.axis.label, gain, "alarms", "assurance", "fails")
    for head, width in zip(heads, (1, 12, longest, 11, 8, 8, 8), strict=True):
        grid.add_column(head, no_wrap=head == "release", min_width=width, overflow="fold")
    for cell in cells:
        name = cell.id + ("*" if cell.front else "")
        missed = "failed" if cell.failed else ", ".join(miss.condition for miss in cell.misses)
        alarms = "" if cell.failed else f"{cell.alarms} of {cell.tests}"
        line = (str(cell.rank), name, _score(cell), _gain(cell), alarms, str(cell.assurance), missed)
        grid.add_row(*map(escape, line), style="bold" if cell.id == comparison.recommendation.id else None)
    return grid
