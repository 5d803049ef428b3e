"""The riskiest records of an audit, each beside the released rows that give it away. It is private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hushtable.api.audit_report import AuditReport
from hushtable.api.report import read_audit
from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.evidence import beside
from hushtable.evidence.beside import Side
from hushtable.evidence.groups import coded
from hushtable.evidence.records import Hit, Record
from hushtable.pipeline.release import Release
from hushtable.table.arrays import Mask
from hushtable.table.table import Table


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A released row that gives a record away."""

    released: int
    """Its number, counted from 1."""
    attacks: tuple[Hit, ...]
    """Those that found the record by it, the surest first."""
    sides: tuple[Side, ...]
    """Each column, and whether the two rows agree in it; values only if they were asked for."""

    @property
    def agreeing(self) -> tuple[str, ...]:
        """The columns by which the released row helps to recognize the person."""
        return tuple(side.column for side in self.sides if side.agrees)


@dataclass(frozen=True, kw_only=True)
class ExposedRecord:
    """A record at risk, and the released rows that give it away, the surest first."""

    record: Record
    pairs: tuple[Pair, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values; as private as the audit, and with values as private as the rows."""
        pairs = [
            {
                "released": pair.released,
                "attacks": [hit.to_json() for hit in pair.attacks],
                "agreeing": list(pair.agreeing),
                "sides": [asdict(side) | {"agreement": str(side.agreement)} for side in pair.sides],
            }
            for pair in self.pairs
        ]
        return self.record.to_json() | {"pairs": pairs}


def records(
    report: AuditReport | str | Path,
    train: Table,
    release: Table | Release,
    *,
    group: tuple[str, str] | None = None,
    rows: Sequence[int] | None = None,
    values: bool = False,
) -> list[ExposedRecord]:
    """The records most at risk, each beside the released rows that give it away, with the columns in which they agree.

    ``train`` and ``release`` are the tables that were audited, their rows in the same order. ``group`` leaves only people of one
    group, a column and a level as ``report.groups`` has them (a quarter of a number, or "missing"); ``rows`` only these training
    rows. Values are shown of neither table unless ``values`` asks for them, and then of these records alone.
    """
    report = report if isinstance(report, AuditReport) else read_audit(report)
    released = release.table if isinstance(release, Release) else release
    _require_same(report, train, released)
    found = [record for record in report.records if rows is None or record.row in rows]
    if group is not None:
        inside = in_group(train, *group)
        found = [record for record in found if inside[record.row - 1]]
    return [_exposed(record, train, released, values=values) for record in found]


def in_group(train: Table, column: str, level: str) -> Mask:
    """Which rows belong to a group; InputError where there is none of that name."""
    if column not in train.schema.released:
        raise InputError(f"there is no column {column!r}{meant(column, train.schema.released)}", where="group")
    labels, own, _ = coded(train, train, column)
    if level not in labels:
        raise InputError(f"{column} has no group {level!r}{meant(level, labels)}", where="group")
    inside: Mask = own == labels.index(level)
    return inside


def _exposed(record: Record, train: Table, release: Table, *, values: bool) -> ExposedRecord:
    by_row: dict[int, list[Hit]] = {}
    for hit in record.attacks:
        if hit.released is not None:
            by_row.setdefault(hit.released, []).append(hit)
    pairs = [
        Pair(
            released=row, attacks=tuple(hits),
            sides=beside.beside(train, release, record.row - 1, row - 1, values=values),
        )
        for row, hits in by_row.items()
    ]  # fmt: skip
    return ExposedRecord(record=record, pairs=tuple(pairs))


def _require_same(report: AuditReport, train: Table, release: Table) -> None:
    """InputError where the tables cannot be those that were audited."""
    reasons = []
    for name, table in (("train", train), ("release", release)):
        audited = report.rows.get(name, table.rows)
        # Rows whose person is not known were left out of an audit, which counts rows as they were given.
        if table.rows < audited or (name == "release" and table.rows != audited):
            reasons.append(f"the audit is of {audited:,} rows ({name}), and this table has {table.rows:,}")
    if reasons:
        raise InputError("; ".join(reasons), where="records")
