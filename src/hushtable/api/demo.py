"""The demonstration: one table, three releases, each attacked, everything left in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hushtable.api.audit import audit
from hushtable.api.audit_report import AuditReport
from hushtable.api.hold_out import hold_out
from hushtable.api.release import release, save
from hushtable.data.people import people
from hushtable.display import Progress, silent
from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.verdict import worst_of
from hushtable.measures.catalogue import main_model
from hushtable.pipeline.release import Release
from hushtable.table import io
from hushtable.table.disk import whole_folder

RELEASES: tuple[tuple[str, dict[str, str], float | None], ...] = (
    ("mdav", {"k": "10"}, None),
    ("sequential", {}, None),
    ("aim", {}, 1.0),
)


def run_demo(folder: Path, *, rows: int = 5000, seed: int = 0, progress: Progress = silent) -> dict[str, Any]:
    """Make the table, set a fifth aside as control, release the rest in three ways and audit each release."""
    with whole_folder(folder) as partial:
        private = partial / "private"
        private.mkdir(mode=0o700)
        table = people(rows, seed)
        train, control = hold_out(table, 0.2, seed)
        for name, part in (("people", table), ("train", train), ("control", control)):
            io.write(part, private / f"{name}.csv")
        (private / "schema.yaml").write_text(table.schema.dump(), encoding="utf-8")
        told = []
        for name, settings, epsilon in RELEASES:
            made = release(train, name, settings=settings, epsilon=epsilon, seed=seed, progress=_named(progress, name))
            save(made, partial / name)
            report = audit(train, made, control, seed=seed, progress=_named(progress, f"audit-{name}"))
            report.save(private / f"audit-{name}")
            pages = {"card": folder / name / "card.html", "audit": folder / "private" / f"audit-{name}" / "audit.html"}
            told.append(_line(made, report) | {page: str(path) for page, path in pages.items()})
    return {"folder": str(folder), "rows": rows, "releases": told}


def _named(progress: Progress, prefix: str) -> Progress:
    return lambda name, share: progress(f"{prefix}: {name}", share)


def _line(made: Release, report: AuditReport) -> dict[str, Any]:
    auc = next((f for f in report.findings if main_model(f)), None)
    tests = sum(f.p is not None for f in report.findings)
    return {
        "recipe": made.recipe.recipe,
        "promised": made.guarantee.headline(),
        "alarms": f"{len(report.alarms)} of {tests}",
        **{str(risk): _risk(worst_of(report.findings, risk)) for risk in Risk},
        "auc": "" if auc is None or auc.value is None else f"{auc.value:.3f} (real {auc.baseline:.3f})",
    }


def _risk(finding: Finding | None) -> str:
    return "not known" if finding is None else f"{finding.value:.3f}"
