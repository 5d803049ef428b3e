"""What all commands share of their output: text for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

import hushtable as ht
from hushtable.cli.progress import Watch, watched
from hushtable.errors import Fault, HushError, InputError
from hushtable.table.disk import refuse_existing, require_form

if TYPE_CHECKING:
    from hushtable.api.audit_report import AuditReport
    from hushtable.pipeline.release import Release, Stated

out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


@contextmanager
def progress(label: str, kept: str = "") -> Iterator[Watch]:
    """The progress of a command on standard error, with its total; ``kept`` says what an interrupt leaves to go on from."""
    with watched(Watch(label), err, kept) as watch:
        yield watch


def warn_of_epsilon(*epsilons: float | None) -> None:
    """Say before the work begins, on standard error, that a budget is too large to promise anything, and that it takes time."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.evidence.verdict import is_large
    from hushtable.privacy.guarantee import LARGE

    large = [f"{epsilon:g}" for epsilon in epsilons if epsilon is not None and is_large(epsilon)]
    if large:
        err.print(
            f"[yellow]Caution:[/yellow] epsilon {', '.join(large)} is above {LARGE:g}: a guarantee on paper that protects hardly "
            "anybody. With a budget this large some recipes also fit large models, which takes minutes."
        )


def show_guarantee(release: Stated) -> None:
    """The kind of evidence of a release, every sentence of its guarantee, and what only whoever holds the rows may know."""
    assurance = str(release.guarantee.assurance)
    colour = {"proven": "green", "verified": "green", "claimed": "yellow"}.get(assurance, "red")
    out.print(f"Guarantee: [bold {colour}]{assurance}[/bold {colour}]")
    for line in release.exposed:
        out.print(f"  [bold yellow]But[/bold yellow]: {escape(line)}")
    for head, text in release.guarantee.sentences():
        out.print(f"  [bold]{escape(head)}[/bold]: {escape(text)}")
    for warning in release.warnings:
        out.print(f"[yellow]For you alone:[/yellow] {escape(warning)}.")
    if release.copies is not None and release.copies.alone:
        out.print(f"[yellow]For you alone:[/yellow] {escape(release.copies.words())}.")


def refuse_release(folder: Path, form: str) -> None:
    """InputError, before anything is read, where a release could not be written to this folder in this form."""
    refuse_existing(folder)
    require_form(form)


def save_and_show(release: Release, folder: Path, form: str, *, as_json: bool) -> bool:
    """Write a release to a folder and print its card, or its guarantee for people; whether for people."""
    ht.save(release, folder, form)
    return show_saved(release, folder, as_json=as_json)


def show_saved(release: Stated, folder: Path, *, as_json: bool) -> bool:
    """Print the card of a release that was written, or its guarantee for people; whether for people."""
    if as_json:
        print_json(release.card() | {"folder": str(folder)})
    else:
        show_guarantee(release)
    return not as_json


def print_report(report: AuditReport, folder: str) -> None:
    """All of an audit's report as one JSON value, but for what only plots need."""
    plain = report.to_json()
    print_json({"folder": folder} | plain | {"findings": [f | {"detail": {}} for f in plain["findings"]]})


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, indent=1, ensure_ascii=False))  # noqa: T201 - rich would wrap long lines


def fault_json(fault: Fault) -> dict[str, Any]:
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
