"""Measure what a release is good for, without attacking it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

import hushtable as ht
from hushtable.cli.console import out, print_report, progress
from hushtable.cli.options import (
    AuditSeed,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Index,
    Json,
    Memory,
    Names,
    PageFormats,
    Released,
    Workers,
    WorkFolder,
    compute_of,
    formats_of,
    settings_of,
)
from hushtable.table.disk import refuse_existing
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.audit_report import AuditReport


def utility(
    train: Annotated[Path, typer.Option(help="The rows the release was made from.", show_default=False)],
    released: Released,
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the training rows.", show_default=False)],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the report. It is private.", show_default=False)],
    control: Annotated[
        Path | None,
        typer.Option(
            help="Rows of the same kind that the release never saw; the training rows are halved when absent.", show_default=False
        ),
    ] = None,
    target: Annotated[str, typer.Option(help="The column to predict; the one with the role target when absent.")] = "",
    only: Annotated[list[str] | None, typer.Option(help="Only this measure ('hush methods' lists them). May be repeated.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob of a measure: downstream.seeds=5.")] = None,
    seed: AuditSeed = 0,
    form: PageFormats = "html",
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    engine: Engine = "auto",
    memory: Memory = None,
    workers: Workers = None,
    work: WorkFolder = None,
    as_json: Json = False,
) -> None:
    """Measure what a release is good for, without attacking it: audit.json and audit.html in a new, private folder."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.open_sides import Paths, open_sides

    refuse_existing(folder, private=True)
    formats = formats_of(form)
    compute, layout = compute_of(engine, memory, workers, work), Layout.of(header, names, encoding, delimiter, None, index)
    with progress("utility") as update:
        sides = open_sides(Paths(train, released, control), ht.Schema.load(schema_file), compute, layout, update)
        report = ht.utility(
            sides.train, sides.release, sides.control, target=target, only=only or (), settings=settings_of(settings),
            card=sides.card, seed=seed, progress=update,
        )  # fmt: skip
    report.save(folder, formats)
    if as_json:
        print_report(report, str(folder))
    else:
        _show(report, str(folder))


def _show(report: AuditReport, folder: str) -> None:
    """Every measure of the whole table and of the target, beside the same for fresh real rows."""
    lines = report.overview
    grid = Grid(title=f"What {report.rows['release']:,} released rows are good for", title_justify="left")
    grid.add_column("measure", overflow="fold")
    for head in ("release", "interval", "real rows", "better"):
        grid.add_column(head, no_wrap=True)
    for one in (f for f in lines if f.value is not None):
        interval = "" if one.low is None or one.high is None else f"{one.low:.4f} to {one.high:.4f}"
        baseline = "" if one.baseline is None else f"{one.baseline:.4f}"
        way = str(one.better) if one.ideal is None else f"{one.ideal:g}"
        grid.add_row(escape(one.label), f"{one.value:.4f}", interval, baseline, way)
    out.print(grid)
    for one in (f for f in lines if f.value is None):
        out.print(f"[yellow]{escape(one.label)}[/yellow] could not be measured: {escape(one.note)}")
    if report.sampled:
        out.print(f"Every number is {report.sampled}.")
    if report.run.halved:
        out.print("There was no control: the real rows were halved, and the half to compare with may be in the release.")
    if (Path(folder) / "rules.yaml").exists():
        out.print(f"The rules that the real rows follow, as a schema would declare them: {escape(folder)}/rules.yaml.")
    out.print(f"The report is [bold]{escape(folder)}/audit.html[/bold]. It was computed from raw rows: do not publish it.")
