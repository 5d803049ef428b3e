"""Measure what a release is still good for, without attacking it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hushtable import __version__
from hushtable.api.audit import pick_audits
from hushtable.api.audit_report import AuditReport
from hushtable.api.hold_out import hold_out
from hushtable.display import Progress, silent
from hushtable.pipeline.release import Release
from hushtable.table.arguments import require_seed, require_tables
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.finding import Audit


def utility(
    real: Table,
    released: Table | Release,
    control: Table | None = None,
    *,
    target: str = "",
    only: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    card: dict[str, Any] | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> AuditReport:
    """What a release is still good for: every measure of utility, or only those named; no attack is run.

    ``control`` are rows of the same kind that the release never saw: what models are tested on, and the baseline of every
    distance. Without them the real rows are halved at random: one half is compared, the other is the control. Then the test
    rows are rows that the release was made from, and the report says so. An attack that is named is refused: among halved rows
    there is nobody whom the release has not seen, and it would find nothing.
    """
    from hushtable.evidence import harness
    from hushtable.evidence.case import Case
    from hushtable.evidence.finding import Subject

    if isinstance(released, Release):
        card, released = released.card(), released.table
    halved = control is None
    require_tables(real=real, released=released, **({} if halved else {"control": control}))
    require_seed(seed)
    measures = pick_audits(only, settings, Subject.UTILITY)
    if control is None:
        real, control = hold_out(real, 0.5, seed)
    if target:
        measures = {name: _aimed(measure, target) for name, measure in measures.items()}
    case = Case(real, released, control)
    findings = harness.run(case, measures, seed, progress)
    made = {"hushtable": __version__, "seed": seed, "audits": list(measures), "halved": halved}
    # A measure of another package may say something about privacy all the same.
    blind = halved and any(finding.subject is Subject.PRIVACY for finding in findings)
    reasons = ["without a control there is nobody whom the release has not seen"] if blind else []
    return AuditReport(findings, {name: table.rows for name, table in case.tables.items()}, card, void=reasons, made=made)


def utilities() -> list[str]:
    """The names of the measures of utility that are run unless some are named."""
    from hushtable.evidence.finding import Subject

    return list(pick_audits(subject=Subject.UTILITY))


def _aimed(measure: Audit, target: str) -> Audit:
    """The measure with this column as the one to predict, if it has such a knob that is not set."""
    return replace(measure, target=target) if getattr(measure, "target", None) == "" else measure  # type: ignore[type-var]
