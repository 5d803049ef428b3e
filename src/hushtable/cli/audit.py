"""Attack a release and measure its utility."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

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
    OnlyAudits,
    PageFormats,
    Person,
    Released,
    Trust,
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


def audit(
    train: Annotated[
        Path, typer.Option(help="The rows the release was made from: a file, a folder or a pattern of several.", show_default=False)
    ],
    released: Released,
    control: Annotated[
        Path, typer.Option(help="Rows of the same kind that the release never saw ('hush release --hold-out').", show_default=False)
    ],
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the training rows.", show_default=False)],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the audit. It is private.", show_default=False)],
    person: Person = None,
    only: OnlyAudits = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob of an audit: linkability.neighbours=1,10.")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="How the release was made: a recipe, for attacks that make it again.", show_default=False)
    ] = None,
    trust: Trust = False,
    epsilon: Annotated[float | None, typer.Option(help="The budget that recipe spends.", show_default=False)] = None,
    power: Annotated[bool, typer.Option("--power", help="Plant leaks, and say which ones this audit would notice.")] = False,
    people: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="How many people of each side are asked, picked at random.",
            show_default="everybody; 10,000 where the tables do not fit into memory",
        ),
    ] = None,
    known: Annotated[
        str, typer.Option(help="What the attacker holds of a person: quasi, all, both in turn, or columns with commas.")
    ] = "both",
    gates: Annotated[
        list[str] | None,
        typer.Option("--gate", help="What must hold, by upper bounds: max_gain<0.05; or by the card: k>=10. Exit code 3 if not."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--show-values", help="Show values of the records at risk in the report; hidden otherwise.")
    ] = False,
    form: PageFormats = "html",
    seed: AuditSeed = 0,
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
    """Attack a release and measure what it is good for: audit.json and audit.html in a new, private folder."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.open_sides import Paths, open_sides
    from hushtable.api.read_sides import training_schema

    refuse_existing(folder, private=True)
    formats = formats_of(form)
    compute, layout = compute_of(engine, memory, workers, work), Layout.of(header, names, encoding, delimiter, None, index)
    with progress("audit") as update:
        sides = open_sides(Paths(train, released, control), training_schema(schema_file), compute, layout, update)
        assert sides.control is not None
        report = ht.audit(
            sides.train, sides.release, sides.control, person=person, only=only or (), settings=settings_of(settings),
            recipe=recipe, trust=trust, epsilon=epsilon, card=sides.card, seed=seed, power=power, values=values,
            gates=gates or (), known=known, people=people, work=work, progress=update,
        )  # fmt: skip
    report.save(folder, formats)
    if as_json:
        print_report(report, str(folder))
    else:
        show_audit(report, str(folder))
    if not report.passes:
        raise typer.Exit(3)


def show_audit(report: AuditReport, folder: str) -> None:
    """The verdict, what to do, the worst attack of each risk, what the release is good for, and where the rest is: 25 lines."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.brief import brief

    colours = {"alarm": "bold red", "watch": "bold yellow", "calm": "bold green", "open": "bold"}
    for line in brief(report, folder):
        colour = colours[line.tone]
        out.print(f"[{colour}]{escape(line.head)}[/{colour}]: {escape(line.text)}")
