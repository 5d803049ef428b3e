"""What the command line shows: text for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from hushtable.errors import HushError, InputError

if TYPE_CHECKING:
    from hushtable.api.audit_report import AuditReport
    from hushtable.evidence.finding import Finding
    from hushtable.pipeline.verification import Verification

out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Any]:
    """A progress bar on standard error; a function that is told the name of the work and its share done."""
    if quiet or not err.is_terminal:
        yield lambda name, share: None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(name: str, share: float) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(escape(name), total=1.0)
            bars.update(tasks[name], completed=share)

        yield tell


def show_guarantee(sentences: list[tuple[str, str]], assurance: str) -> None:
    """Its kind of evidence, and every sentence of it."""
    colour = {"proven": "green", "verified": "green", "claimed": "yellow"}.get(assurance, "red")
    out.print(f"Guarantee: [bold {colour}]{assurance}[/bold {colour}]")
    for head, text in sentences:
        out.print(f"  [bold]{escape(head)}[/bold]: {escape(text)}")


def show_method(told: dict[str, Any]) -> None:
    """A recipe or step with its knobs."""
    out.print(f"[bold]{escape(told['name'])}[/bold]  {escape(told.get('title', ''))}")
    for key in ("guarantee", "summary", "cite", "reports"):
        if told.get(key):
            out.print(f"{key}: {escape(told[key])}")
    for step in told["steps"]:
        lines = [(knob["name"], str(knob["value"]), knob["doc"]) for knob in step["knobs"]]
        out.print(_named(f"step {step['name']}", ("knob", "value", "what it does"), lines))


def show_methods(everything: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    """All recipes, steps and audits, a line each."""
    for title, rows, keys in (
        ("Recipes", everything["recipes"], ("name", "title", "guarantee")),
        ("Steps", everything["steps"], ("name", "summary")),
        ("Audits and metrics", everything["audits"], ("name", "summary")),
    ):
        out.print(_named(title, keys, [[row[key] for key in keys] for row in rows]))


def _named(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Grid:
    """A table whose first column, the name that one types, is never cut or broken, however narrow the terminal is."""
    grid = Grid(title=title, title_justify="left")
    grid.add_column(heads[0], no_wrap=True, min_width=max((len(line[0]) for line in lines), default=0))
    for head in heads[1:]:
        grid.add_column(head, overflow="fold")
    for line in lines:
        grid.add_row(*map(escape, line))
    return grid


def print_report(report: AuditReport, folder: str) -> None:
    """All of a report as one JSON value, but for what only plots need."""
    plain = report.to_json()
    print_json({"folder": folder} | plain | {"findings": [f | {"detail": {}} for f in plain["findings"]]})


def show_audit(report: AuditReport, folder: str) -> None:
    """The verdict, the worst attack of each risk, what the release is good for, the gates, and where the page is."""
    from hushtable.evidence.finding import Risk
    from hushtable.evidence.verdict import worst_of
    from hushtable.measures.catalogue import main_model

    _verdict(report)
    attacks = [f for f in report.findings if f.risk is not None]
    for risk in Risk:
        if worst := worst_of(attacks, risk):
            count = sum(f.risk is risk and f.value is not None for f in attacks)
            mark = "[red]![/red]" if worst in report.alarms else " "
            out.print(f"{mark} [bold]{risk}[/bold], the worst of {count}: {_line(worst)}\n    {escape(worst.note)}")
    for finding in report.findings:
        if finding.risk is None and (not finding.scope or main_model(finding)):
            mark = "[red]![/red]" if finding in report.alarms else " "
            out.print(f"{mark} {_line(finding)}\n    {escape(finding.note)}")
    blind = sum(f.value is None for f in attacks)
    if blind:
        out.print(f"{blind} attacks could not be made; the report says why.")
    for gate in report.gates:
        mark = "[green]ok[/green]" if gate.holds else "[bold red]refused[/bold red]"
        out.print(f"{mark} gate {escape(gate.expression)}: {escape(gate.reason)}")
    out.print(f"The report is [bold]{escape(folder)}/audit.html[/bold]. It was computed from raw rows: do not publish it.")


def show_utility(report: AuditReport, folder: str) -> None:
    """Every measure of the whole table and of the target, beside the same for fresh real rows."""
    from hushtable.measures.catalogue import MODEL_SCORES

    lines = [f for f in report.findings if not f.scope or f.name in MODEL_SCORES]
    grid = Grid(title=f"What {report.rows['release']:,} released rows are good for", title_justify="left")
    grid.add_column("measure", overflow="fold")
    for head in ("release", "interval", "real rows", "better"):
        grid.add_column(head, no_wrap=True)
    for one in (f for f in lines if f.value is not None):
        interval = "" if one.low is None or one.high is None else f"{one.low:.4f} to {one.high:.4f}"
        baseline = "" if one.baseline is None else f"{one.baseline:.4f}"
        grid.add_row(escape(one.label), f"{one.value:.4f}", interval, baseline, str(one.better))
    out.print(grid)
    for one in (f for f in lines if f.value is None):
        out.print(f"[yellow]{escape(one.label)}[/yellow] could not be measured: {escape(one.note)}")
    if report.run.halved:
        out.print("There was no control: the real rows were halved, and the half to compare with may be in the release.")
    out.print(f"The report is [bold]{escape(folder)}/audit.html[/bold]. It was computed from raw rows: do not publish it.")


def _verdict(report: AuditReport) -> None:
    from hushtable.evidence.verdict.publish import NAMED
    from hushtable.report.attacks import power_of_parts

    tested = sum(f.p is not None for f in report.findings)
    for reason in report.void:
        out.print(f"[bold red]This audit is void[/bold red]: {escape(reason)}.")
    for reason in report.assumed:
        out.print(f"[yellow]Mind[/yellow]: {escape(reason)}.")
    for finding in report.findings:
        if finding.name == NAMED:
            out.print(f"[bold red]Mind[/bold red]: {escape(finding.note)}.")
    if report.alarms:
        out.print(
            f"[bold red]{len(report.alarms)} of {tested} tests alarm[/bold red]: the release tells more about people in the "
            "table than about people who are not."
        )
    elif tested:
        out.print(f"[bold]None of {tested} tests alarms[/bold], corrected for their number. This is not a proof of safety.")
    if report.power is not None:
        least, most = report.power.smallest, report.power.largest
        seen = f"{100 * least:g} % of the released rows" if least else f"none, not even {100 * most:g} % of the released rows"
        out.print(f"  The smallest planted leak of whole rows that it notices: {seen}.")
        for line in power_of_parts(report.power):
            out.print(f"  {line}.")
    elif tested and not report.alarms:
        out.print("  How small a leak it would have noticed, --power says.")


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


def show_verification(found: Verification, folder: str, *, signed: bool) -> None:
    """Faults, what was not checkable, or that all is well; then what that establishes."""
    from hushtable.pipeline.verification import ESTABLISHES

    for fault in found.faults:
        err.print(f"[red]x[/red] {escape(str(fault))}")
    for one in found.unchecked:
        err.print(f"[yellow]not checkable:[/yellow] {escape(str(one))}")
    if found.holds:
        out.print(f"[green]ok[/green] {escape(folder)} is what its card says: files, rows, recipe, criteria and budget.")
    if not found.faults:
        if signed:
            out.print("The card is signed with this key.")
        out.print(ESTABLISHES)
        for one in found.assumed:
            out.print(f"  taken on trust: {escape(str(one))}")


def verification_json(found: Verification) -> dict[str, Any]:
    """For programs."""
    plain = {name: [asdict(one) for one in getattr(found, name)] for name in ("unchecked", "assumed")}
    return {"holds": found.holds, "faults": [fault_json(fault) for fault in found.faults], **plain}


def fault_json(fault: Any) -> dict[str, Any]:
    """A fault for programs."""
    return {
        "where": fault.where,
        "reason": fault.reason,
        "count": fault.count,
        "rows": list(fault.rows),
        "values": list(fault.values),
    }


def refuse(error: HushError) -> None:
    """Say why nothing was done."""
    faults = list(error.faults) if isinstance(error, InputError) else []
    if "--json" in sys.argv:
        print_json(
            {
                "error": type(error).__name__,
                "message": str(error),
                "notes": notes(error),
                "exit_code": error.exit_code,
                "faults": [fault_json(f) for f in faults],
            }
        )
        return
    word = "refused" if error.exit_code == 3 else "cannot use this input"
    err.print(f"[bold red]{word}[/bold red]")
    for line in (*str(error).splitlines(), *notes(error)):
        err.print(f"  {escape(line)}")


def stopped(error: BaseException, why: str = "stopped") -> None:
    """Say what an interrupt, or a lack of memory, left."""
    err.print(f"{why}; no output was left half-written")
    for line in notes(error):
        err.print(f"  {escape(line)}")


def notes(error: BaseException | None) -> list[str]:
    """The notes of an error, and of those that it came from: what was spent, for one."""
    if error is None:
        return []
    return [*notes(error.__cause__ or error.__context__), *getattr(error, "__notes__", ())]


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201 - rich would wrap long lines


def show_sheet(lines: Sequence[Mapping[str, Any]]) -> None:
    """Loss and share suppressed: a line for each k, a column for each limit."""
    limits = list(dict.fromkeys(line["limit"] for line in lines))
    grid = Grid(
        "k", *(f"<= {100 * limit:g} %" for limit in limits), title="Least loss (rows suppressed), by k and suppression limit"
    )
    found = {(line["k"], line["limit"]): line for line in lines}
    for k in dict.fromkeys(line["k"] for line in lines):
        grid.add_row(str(k), *(_sheet_cell(found[k, limit]) for limit in limits))
    out.print(grid)
    if any(line["value"] is None for line in lines):
        out.print("none: no choice of levels keeps what is demanded within that limit")


def _sheet_cell(line: Mapping[str, Any]) -> str:
    if line["value"] is None:
        return "none"
    return f"{line['value']:.4f} ({100 * line['suppressed_share']:.1f} %)" + ("" if line["optimal"] else f" gap {line['gap']:.2g}")


def show_mechanism(told: Mapping[str, Any], folder: str | None) -> None:
    """The verdict on a mechanism, a line for each canary, the questions that were tried, and what could not be."""
    tested = [line for line in told["lines"] if "epsilon_lb" in line]
    if tested:
        first = tested[0]
        whose = "Asked about, and stated by nobody" if first["source"] == "nobody" else f"Stated by {first['source']}"
        out.print(
            f"{whose}: epsilon {first['epsilon_stated']:.4g} at delta {first['delta']:g} "
            f"({first['relation']}, one {escape(first['unit'])}). Public: {escape('; '.join(first['public']))}."
        )
        head = {"the ledger": "stated", "a publication's claim": "claimed", "nobody": "asked"}.get(first["source"], "ledger")
        heads = ("canary", "runs", "at least", "ceiling", head, "mu or rho", "guesser", "verdict")
        cells = [_canary(line) for line in tested]
        filled = [j for j in range(len(heads)) if any(line[j] for line in cells)]
        grid = Grid(title="epsilon of each canary; the ceiling is the most that so many runs can show", title_justify="left")
        for j in filled:
            grid.add_column(heads[j], no_wrap=j < 5, min_width=max(len(word) for word in heads[j].split()))
        for line, told_of in zip(tested, cells, strict=True):
            grid.add_row(*(escape(told_of[j]) for j in filled), style="red" if line["refuted"] else None)
        out.print(grid)
    for line in told["lines"]:
        if "epsilon_lb" not in line:
            out.print(f"[bold]{escape(line['canary'])}[/bold] could not be tested: {escape(line['why'])}")
    for question in told["questions"]:
        mark = "[green]ok[/green]" if question["holds"] else "[bold red]x[/bold red]"
        size = f"{question['tried']} tried on {question['neighbours']:,} neighbours"
        change = f"by {'no ' if question['holds'] else ''}more than is stated"
        out.print(f"{mark} {escape(question['question'])}: one record changes the answer {change} ({size})")
    colour = "red" if told["refuted"] else "green" if told["label"] == "not refuted" else "yellow"
    sure = "" if told["label"] == "too few runs" else f", at {100 * told['confidence']:g} % confidence"
    out.print(f"[bold {colour}]{escape(told['verdict'])}[/bold {colour}]{sure}.")
    if told["label"] == "not refuted":
        out.print("Passing proves nothing: it says what these canaries and so many runs could not show.")
    if folder is not None:
        out.print(f"The page is [bold]{escape(folder)}/mechanism.html[/bold]. No row of anybody is behind it.")


def _canary(line: Mapping[str, Any]) -> list[str]:
    other = next((f"{name} {line[f'{name}_lb']:.2f} of {line[name]:.2f}" for name in ("mu", "rho") if f"{name}_lb" in line), "")
    score = (line.get("guess_epsilon") or {}).get("score", "none")
    bounds = (f"{line[name]:.2f}" for name in ("epsilon_lb", "ceiling", "epsilon_stated"))
    label = "refuted" if line["refuted"] else "too few runs" if line.get("too_few") else "not refuted"
    return [line["canary"], str(line["runs"]), *bounds, other, score, label]
