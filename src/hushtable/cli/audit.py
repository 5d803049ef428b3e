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
    Json,
    OnlyAudits,
    PageFormats,
    Person,
    Released,
    Trust,
    formats_of,
    settings_of,
)
from hushtable.table.disk import refuse_existing

if TYPE_CHECKING:
    from hushtable.api.audit_report import AuditReport
    from hushtable.evidence.finding import Finding


def audit(
    train: Annotated[Path, typer.Option(help="The rows the release was made from.", show_default=False)],
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
    known: Annotated[
        str, typer.Option(help="What the attacker holds of a person: quasi, all, both in turn, or columns with commas.")
    ] = "both",
    gates: Annotated[
        list[str] | None,
        typer.Option("--gate", help="What must hold, by upper bounds: max_risk<0.05; or by the card: k>=10. Exit code 3 if not."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--show-values", help="Show values of the records at risk in the report; hidden otherwise.")
    ] = False,
    form: PageFormats = "html",
    seed: AuditSeed = 0,
    as_json: Json = False,
) -> None:
    """Attack a release and measure what it is good for: audit.json and audit.html in a new, private folder."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.api.read_sides import read_sides, training_schema

    refuse_existing(folder, private=True)
    formats = formats_of(form)
    rows, others = read_sides(train, control, training_schema(schema_file), "--train")
    seen, card = ht.read_release(released, rows.schema)
    with progress(quiet=as_json) as update:
        report = ht.audit(
            rows, seen, others, person=person, only=only or (), settings=settings_of(settings), recipe=recipe,
            trust=trust,
            epsilon=epsilon, card=card, seed=seed, power=power, values=values, gates=gates or (), known=known, progress=update,
        )  # fmt: skip
    report.save(folder, formats)
    if as_json:
        print_report(report, str(folder))
    else:
        show_audit(report, str(folder))
    if not report.passes:
        raise typer.Exit(3)


def show_audit(report: AuditReport, folder: str) -> None:
    """The verdict, the worst attack of each risk, what the release is good for, the gates, and where the page is."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.report.attacks import RISKS

    _verdict(report)
    for risk, attacks in report.attacks.items():
        for worst in attacks[:1]:
            mark = "[red]![/red]" if worst in report.alarms else " "
            out.print(
                f"{mark} [bold]{RISKS[risk][0]}[/bold], the worst of {len(attacks)}: {_line(worst)}\n    {escape(worst.note)}"
            )
    for finding in report.headlines:
        mark = "[red]![/red]" if finding in report.alarms else " "
        out.print(f"{mark} {_line(finding)}\n    {escape(finding.note)}")
    blind = sum(f.risk is not None and f.value is None for f in report.findings)
    if blind:
        out.print(f"{blind} attacks could not be run; the report says why.")
    for gate in report.gates:
        mark = "[green]Condition holds[/green]" if gate.holds else "[bold red]Condition fails[/bold red]"
        out.print(f"{mark}: {escape(gate.expression)}: {escape(gate.reason)}")
    out.print(f"The report is [bold]{escape(folder)}/audit.html[/bold]. It was computed from raw rows: do not publish it.")


def _verdict(report: AuditReport) -> None:
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.evidence.verdict import advice
    from hushtable.report.attacks import power_of_parts

    tested = sum(f.p is not None for f in report.findings)
    for reason in report.void:
        out.print(f"[bold red]This audit is void[/bold red]: {escape(reason)}.")
    for reason in report.assumed:
        out.print(f"[yellow]Caution[/yellow]: {escape(reason)}.")
    if report.run.untried:
        out.print(f"[yellow]Note[/yellow]: {escape(report.run.untried)}.")
    for finding in report.evidence.identifiers:
        out.print(f"[bold red]Caution[/bold red]: {escape(finding.note)}.")
    if report.alarms:
        out.print(
            f"[bold red]{len(report.alarms)} of {tested} tests raise an alarm[/bold red]: the release discloses more about people "
            "in the table than about people outside it."
        )
    elif tested:
        out.print(
            f"[bold]None of {tested} tests raises an alarm[/bold], corrected for their number. This is not a proof of safety."
        )
    for line in advice(report.causes):
        out.print(f"[bold]To do[/bold]: {escape(line)}.")
    if report.power is not None:
        least, most = report.power.smallest, report.power.largest
        seen = f"{100 * least:g} % of the released rows" if least else f"none, not even {100 * most:g} % of the released rows"
        out.print(f"  The smallest planted leak of whole rows that it notices: {seen}.")
        for line in power_of_parts(report.power):
            out.print(f"  {line}.")
    elif tested and not report.alarms:
        out.print("  How small a leak it would have noticed was not tested; --power tests it.")


def _line(finding: Finding) -> str:
    """Value, interval and baseline."""
    head = f"[bold]{escape(finding.name)}[/bold]" + (f", {escape(finding.scope)}" if finding.scope else "")
    if finding.value is not None:
        head += f"  {finding.value:.4f}"
        if finding.low is not None and finding.high is not None:
            head += escape(f" [{finding.low:.4f}, {finding.high:.4f}]")
        if finding.baseline is not None:
            head += f"  (baseline {finding.baseline:.4f}; {finding.better} is better)"
    return head
