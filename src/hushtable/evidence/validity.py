"""Whether an audit may be believed at all: a control that the release saw, or that overlaps the training rows, hides every leak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.confidence import fisher, holm
from hushtable.evidence.finding import Finding
from hushtable.table.columns import Kind
from hushtable.table.table import Table

SURE = 1e-6
"""An audit is called void only where chance would do so once in a million audits."""


def void(case: Case, findings: Sequence[Finding]) -> list[str]:
    """Why nothing that this audit says about safety counts; empty if nothing speaks against it."""
    return [*_overlap(case), *_seen(findings), *_backwards(findings), *_nearer(case)]


def _overlap(case: Case) -> Iterator[str]:
    """Other people repeat training rows, or their keys, no oftener than training rows repeat one another."""
    ids = case.row_ids()
    pairs = {"equal a training row": (ids["train"], ids["control"])}
    for column in case.train.schema:
        name = column.name
        if column.kind is Kind.KEY and name in case.control.schema and case.control.schema[name].kind is Kind.KEY:
            pairs[f"have the {name} of a training row"] = _present(case.train, name), _present(case.control, name)
    for told, (ours, others) in pairs.items():
        _, place, counts = np.unique(ours, return_inverse=True, return_counts=True)
        again, both = int((counts[place] > 1).sum()), int(np.isin(others, ours).sum())
        if fisher(both, len(others), again, len(ours)) <= SURE:
            yield f"{both:,} of {len(others):,} control rows {told}, and training rows hardly repeat one another: take other people"


def _present(table: Table, name: str) -> NDArray[np.str_]:
    return table.strings(name)[~table.missing(name)].astype(str)


def _seen(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.name == "control seen" and finding.detail.get("test", 1.0) <= SURE:
            yield finding.note


def _backwards(findings: Sequence[Finding]) -> Iterator[str]:
    """Attacks on people one by one that succeed more often on control rows."""
    traced = [(f, f.trace) for f in findings if f.trace is not None and f.trace.one_by_one]
    sides = [(int(t.control.sum()), len(t.control), int(t.train.sum()), len(t.train)) for _, t in traced]
    adjusted = holm([fisher(*side) for side in sides])
    if adjusted and min(adjusted) <= SURE:
        worst = traced[int(np.argmin(adjusted))][0]
        yield (
            f"{worst.name} succeeds more often on control rows than on training rows: the two are swapped, "
            "or the release was made from the control"
        )


def _nearer(case: Case) -> Iterator[str]:
    """Control rows that lie nearer to the release than training rows, at the median of all distances."""
    case = case.read_as_values()
    ours, others = (case.nearest(which, "release").distance[:, 0] for which in ("train", "control"))
    median = float(np.median(np.concatenate([ours, others])))
    sides = int((others < median).sum()), len(others), int((ours < median).sum()), len(ours)
    if fisher(*sides) <= SURE:
        yield "control rows lie nearer to the release than training rows: the tables are swapped, or the release saw the control"
