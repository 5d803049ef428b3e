"""The demonstration: one table, three releases, each attacked, everything left in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hushtable.api.audit import audit
from hushtable.api.audit_report import AuditReport
from hushtable.api.hold_out import hold_out
from hushtable.api.release import release, save
from hushtable.data.people import people
from hushtable.display import Inside, Progress, announce, silent
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import headline
from hushtable.measures.catalogue import main_model
from hushtable.pipeline.release import Release
from hushtable.report.findings import most
from hushtable.table import io
from hushtable.table.disk import whole_folder

RELEASES: tuple[tuple[str, dict[str, str], float | None], ...] = (
    ("mdav", {"k": "10"}, None),
    ("sequential", {}, None),
    ("aim", {}, 1.0),
)
"""The recipe, its knobs and its epsilon."""
CONTROL = 0.2
"""The share of the people who are set aside as control."""


def demo(folder: str | Path = "demo", *, rows: int = 5000, seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Make the people of a fictional town, set a fifth aside, release the others in three ways, and attack each release.

    Everything is written to a new folder. Returned are its name, the number of people, and a line for each release: what is
    promised, the alarms, what attacks of each kind gain at most, and what a model learns from it.
    """
    folder = Path(folder)
    with whole_folder(folder) as partial:
        private = partial / "private"
        private.mkdir(mode=0o700)
        table = people(rows, seed)
        train, control = hold_out(table, CONTROL, seed)
        for name, part in (("people", table), ("train", train), ("control", control)):
            io.write(part, private / f"{name}.csv")
        (private / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
        lines = []
        announce(progress, {stage: effort for name, *_ in RELEASES for stage, effort in ((name, 1.0), (f"audit-{name}", 5.0))})
        for name, settings, epsilon in RELEASES:
            released = release(train, name, settings=settings, epsilon=epsilon, seed=seed, progress=Inside(progress, name))
            save(released, partial / name)
            report = audit(train, released, control, seed=seed, progress=Inside(progress, f"audit-{name}"))
            report.save(private / f"audit-{name}")
            pages = {"card": folder / name / "card.html", "audit": folder / "private" / f"audit-{name}" / "audit.html"}
            lines.append(_line(released, report) | {page: str(path) for page, path in pages.items()})
    return {"folder": str(folder), "rows": rows, "releases": lines}


def _line(released: Release, report: AuditReport) -> dict[str, Any]:
    auc = next((finding for finding in report.findings if main_model(finding)), None)
    tests = sum(finding.p is not None for finding in report.findings)
    return {
        "recipe": released.recipe.recipe,
        "promised": released.guarantee.headline(),
        "alarms": f"{len(report.alarms)} of {tests}",
        **{str(risk): _risk(attacks) for risk, attacks in report.attacks.items()},
        **{f"{risk} gain": _gained(attacks) for risk, attacks in report.attacks.items()},
        "auc": "" if auc is None or auc.value is None else f"{auc.value:.3f} (real {auc.baseline:.3f})",
    }


def _risk(attacks: Sequence[Finding]) -> str:
    return f"{attacks[0].value:.3f}" if attacks else "not known"


def _gained(attacks: Sequence[Finding]) -> str:
    head = headline(attacks)
    return "not known" if head is None else most(head)
