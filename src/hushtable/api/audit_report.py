"""What an audit, or a measurement of utility alone, found: as objects, as a frame, as a page, and as a private folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.display import Shown
from hushtable.errors import InputError
from hushtable.table.arguments import several
from hushtable.table.disk import whole_folder

if TYPE_CHECKING:
    import pandas as pd

    from hushtable.evidence.condition import Outcome
    from hushtable.evidence.finding import Finding


@dataclass(frozen=True, eq=False)
class AuditReport(Shown):
    """What the audits found. It was computed from raw rows: it is not for publication."""

    findings: list[Finding]
    rows: dict[str, int]
    card: dict[str, Any] | None = field(default=None, repr=False)
    records: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The training rows at most risk, each with the attacks that hit it."""
    at_risk: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """How many people are at risk, beside how many chance explains."""
    groups: dict[str, Any] = field(default_factory=dict, repr=False)
    """The groups of people at most risk."""
    power: dict[str, Any] | None = None
    """Which planted leaks this audit notices, if that was studied."""
    gates: list[Outcome] = field(default_factory=list)
    void: list[str] = field(default_factory=list)
    """Why nothing that it says about safety counts: the control is not what it should be."""
    made: dict[str, Any] = field(default_factory=dict)
    """The version, the seed and the names it was made with."""
    assumed: list[str] = field(default_factory=list)
    """What is not sure about who holds which rows: each a person, against the evidence; or nobody, so that it was left out."""
    people: dict[str, int] = field(default_factory=dict)
    """How many people hold the training and the control rows; empty where each row is a person."""

    @property
    def alarms(self) -> list[Finding]:
        """What chance does not explain."""
        from hushtable.evidence.verdict import alarms

        return alarms(self.findings)

    @property
    def told(self) -> str:
        """What was found, in one line: whether it counts, the alarms, and whether the conditions hold."""
        tests = sum(finding.p is not None for finding in self.findings)
        told = ["void: " + "; ".join(self.void)] if self.void else []
        told += [f"{len(self.alarms)} of {tests} tests alarm"] if tests else ["no attack was run"]
        told += [f"{sum(gate.holds for gate in self.gates)} of {len(self.gates)} conditions hold"] if self.gates else []
        return "; ".join(told)

    def __repr__(self) -> str:
        """Counts only: what was found about whom stays inside."""
        return f"AuditReport({len(self.findings)} findings; {self.told})"

    def frame(self, *, whole: bool = False) -> pd.DataFrame:
        """The findings as a frame, a line each; ``whole``: only those about the whole table."""
        import pandas as pd

        keys = ("audit", "name", "scope", "value", "low", "high", "baseline", "better", "subject", "p_adjusted", "n", "note")
        lines = [{key: line[key] for key in keys} for line in (f.to_json() for f in self.findings) if not (whole and line["scope"])]
        return pd.DataFrame(lines, columns=list(keys))

    def page(self) -> str:
        """The audit as a standalone page. It is private."""
        from hushtable.report.audit import audit_page

        return audit_page(self.to_json())

    def markdown(self) -> str:
        """The audit as Markdown. It is private."""
        from hushtable.report.markdown import audit_markdown

        return audit_markdown(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "made": self.made,
            "rows": self.rows,
            "people": self.people,
            "card": self.card,
            "void": self.void,
            "assumed": self.assumed,
            "alarms": [finding.label for finding in self.alarms],
            "gates": [gate.to_json() for gate in self.gates],
            "power": self.power,
            "findings": [finding.to_json() for finding in self.findings],
            "at_risk": self.at_risk,
            "groups": self.groups,
            "records": self.records,
        }

    def save(self, folder: str | Path, formats: Iterable[str] = ("html",)) -> Path:
        """Write ``audit.json``, always, and ``audit.html`` or ``audit.md`` as asked for, to a folder only its owner can read."""
        writers = {"html": self.page, "md": self.markdown}
        wanted = list(dict.fromkeys(several(formats)))
        if odd := [name for name in wanted if name not in (*writers, "json")]:
            raise InputError(f"expected {', '.join((*writers, 'json'))}, got {', '.join(odd)}", where="format")
        folder = Path(folder)
        pages = {f"audit.{name}": writers[name]() for name in wanted if name in writers}
        kept = json.dumps(self.to_json(), indent=1, ensure_ascii=False)
        with whole_folder(folder, private=True) as partial:
            for name, text in ({"audit.json": kept} | pages).items():
                # A frame may hold half a character, which no file can.
                (partial / name).write_text(text, encoding="utf-8", errors="replace")
        return folder
