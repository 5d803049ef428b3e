"""The findings of an audit, or of a measurement of utility alone: as objects, as a frame, as a page, and as a private folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.display import Shown
from hushtable.errors import InputError
from hushtable.evidence.condition import Outcome
from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.groups import Groups
from hushtable.evidence.power import Power
from hushtable.evidence.records import Record, Tail
from hushtable.evidence.sampling import measured_on, would_be_seen
from hushtable.evidence.verdict import Cause, Evidence, alarms, of_risk
from hushtable.measures.catalogue import MODEL_SCORES, main_model
from hushtable.pipeline.card import Card
from hushtable.report.audit import audit_page
from hushtable.report.findings import most
from hushtable.report.markdown import audit_markdown
from hushtable.report.rules import rules_yaml
from hushtable.table import lenient
from hushtable.table.arguments import several
from hushtable.table.disk import whole_folder

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Run:
    """How an audit was run: enough to run it again."""

    version: str = ""
    """The version of hushtable."""
    seed: int | None = None
    audits: tuple[str, ...] = ()
    date: str = ""
    """The day it was run, as 2026-11-17."""
    halved: bool | None = None
    """Whether the real rows were halved for want of a control; None for an audit, which always has one."""
    known: tuple[str, ...] = ()
    """What the attackers held, each as ``Finding.known`` has it; empty in a file of a version that did not say so."""
    untried: str = ""
    """Why somebody who is tried by default was not."""

    def to_json(self) -> dict[str, Any]:
        """As ``audit.json`` holds it."""
        plain: dict[str, Any] = {"hushtable": self.version, "date": self.date, "seed": self.seed, "audits": list(self.audits)}
        plain |= {"known": list(self.known), "untried": self.untried} if self.known else {}
        return plain if self.halved is None else plain | {"halved": self.halved}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Run:
        """Read it back; what is missing is empty."""
        return cls(
            version=lenient.text(plain.get("hushtable")),
            seed=lenient.whole(plain.get("seed")),
            audits=lenient.texts(plain.get("audits")),
            date=lenient.text(plain.get("date")),
            halved=bool(plain["halved"]) if "halved" in plain else None,
            known=lenient.texts(plain.get("known")),
            untried=lenient.text(plain.get("untried")),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditReport(Shown):
    """The findings of the audits. It was computed from raw rows: it is not for publication."""

    findings: Sequence[Finding]
    rows: Mapping[str, int]
    title: str = ""
    """What the data is called, as the schema of its rows says."""
    card: Card | None = field(default=None, repr=False)
    """The card of the audited release, where it is known."""
    records: Sequence[Record] = field(default=(), repr=False)
    """The training rows at most risk, each with the attacks that hit it."""
    at_risk: Sequence[Tail] = field(default=(), repr=False)
    """How many people are at risk, beside how many chance explains."""
    groups: Groups | None = field(default=None, repr=False)
    """The groups of people at most risk; None where nobody was attacked."""
    power: Power | None = None
    """Which planted leaks this audit notices, if that was studied."""
    gates: Sequence[Outcome] = ()
    """What became of the conditions that were asked for."""
    void: Sequence[str] = ()
    """Why nothing that it says about safety counts: the control is not what it should be."""
    run: Run = field(default_factory=Run)
    """The version, the seed and the audits it was run with."""
    assumed: Sequence[str] = ()
    """What is not sure about who holds which rows: each a person, against the evidence; or nobody, so that it was left out."""
    causes: Sequence[Cause] = ()
    """Why the alarms were raised and what would remove that, the weightiest first; empty where no alarm was."""
    examples: Sequence[Mapping[str, str | None]] = field(default=(), repr=False)
    """Some released rows with free text, to be read by eye; none whose text a person wrote. Empty where the release has no text."""
    people: Mapping[str, int] = field(default_factory=dict)
    """How many people hold the training and the control rows; empty where each row is a person."""
    asked: Mapping[str, int] = field(default_factory=dict)
    """How many people of each side were asked, picked at random; empty where everybody was.

    With the release: the rows of each table that utility was measured on.
    """

    @property
    def sampled(self) -> str:
        """Of how many who was asked, or what was measured on, and what would have been seen; empty where it was everything."""
        if not self.asked:
            return ""
        return (measured_on if "release" in self.asked else would_be_seen)(self.asked, self.rows)

    @cached_property
    def alarms(self) -> list[Finding]:
        """The findings that chance does not explain."""
        return alarms(self.findings)

    def cause_of(self, finding: Finding) -> Cause | None:
        """Why this alarm was raised, and what would remove that; None where it is no alarm, or its cause was not found."""
        return next((cause for cause in self.causes if finding.label in cause.alarms), None)

    @property
    def attacks(self) -> dict[Risk, list[Finding]]:
        """The attacks of each kind that have a value, the worst first."""
        return {risk: of_risk(self.findings, risk) for risk in Risk}

    @property
    def knowing(self) -> tuple[str, ...]:
        """The audits whose attackers hold something of a person: what is run again for one who holds other columns."""
        return tuple(dict.fromkeys(f.audit for f in self.findings if f.known and f.audit))

    @property
    def overview(self) -> list[Finding]:
        """The findings about the whole table, and the scores of models."""
        return [f for f in self.findings if not f.scope or f.name in MODEL_SCORES]

    @property
    def headlines(self) -> list[Finding]:
        """Of the overview what is no attack, and of models only the main one."""
        return [f for f in self.overview if f.risk is None and (not f.scope or main_model(f))]

    @property
    def passes(self) -> bool:
        """Whether it counts and every condition that was asked for holds."""
        return not self.void and all(outcome.holds for outcome in self.gates)

    @property
    def evidence(self) -> Evidence:
        """All that decides whether the release should be published."""
        return Evidence(
            findings=self.findings, stated=None if self.card is None else self.card.stated, power=self.power,
            outcomes=self.gates, void=self.void, assumed=self.assumed, causes=self.causes, several_rows=bool(self.people),
            exposed=() if self.card is None else self.card.exposed,
        )  # fmt: skip

    @property
    def summary(self) -> str:
        """One line: whether it counts, the alarms, what the worst attack gains, and whether the conditions hold."""
        tests = sum(finding.p is not None for finding in self.findings)
        parts = [f"void: {'; '.join(self.void)}"] if self.void else []
        parts.append(f"{len(self.alarms)} of {tests} tests raise an alarm" if tests else "no attack was run")
        if not self.void and (head := self.evidence.headline) is not None:
            parts.append(f"attacks gain {most(head)} people")
        if self.gates:
            parts.append(f"{sum(gate.holds for gate in self.gates)} of {len(self.gates)} conditions hold")
        return "; ".join(parts)

    def __repr__(self) -> str:
        """Counts only: what is known about whom stays inside."""
        return f"AuditReport({len(self.findings)} findings; {self.summary})"

    def frame(self, *, whole: bool = False) -> pd.DataFrame:
        """The findings as a frame, a line each; ``whole``: only those about the whole table."""
        import pandas as pd

        keys = ("audit", "name", "scope", "value", "low", "high", "baseline", "better", "subject", "p_adjusted", "n", "note")
        gains = ("gain", "gain_low", "gain_high", "outside")
        lines = [
            {key: line[key] for key in keys} | dict(zip(gains, (line["gain"] or {}).values() or (None,) * len(gains), strict=True))
            for line in (f.to_json() for f in self.findings)
            if not (whole and line["scope"])
        ]
        return pd.DataFrame(lines, columns=[*keys, *gains])

    def page(self) -> str:
        """The audit as a standalone page. It is private."""
        return audit_page(self)

    def markdown(self) -> str:
        """The audit as Markdown. It is private."""
        return audit_markdown(self)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "title": self.title,
            "made": self.run.to_json(),
            "rows": dict(self.rows),
            "people": dict(self.people),
            "asked": dict(self.asked),
            "sampled": self.sampled,
            "card": None if self.card is None else self.card.to_json(),
            "void": list(self.void),
            "assumed": list(self.assumed),
            "headline": None
            if self.evidence.headline is None
            else self.evidence.headline.to_json() | {"proven": self.evidence.allowed},
            "alarms": [", ".join(filter(None, (finding.name, finding.scope))) for finding in self.alarms],
            "causes": [cause.to_json() for cause in self.causes],
            "gates": [outcome.to_json() for outcome in self.gates],
            "power": None if self.power is None else self.power.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "at_risk": [tail.to_json() for tail in self.at_risk],
            "groups": {} if self.groups is None else self.groups.to_json(),
            "records": [record.to_json() for record in self.records],
            "examples": [dict(example) for example in self.examples],
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> AuditReport:
        """As ``audit.json`` holds it, of this version or an earlier one; what is missing is empty."""
        card, power, groups = (lenient.mapping(plain.get(key)) for key in ("card", "power", "groups"))
        return cls(
            findings=[Finding.from_json(one) for one in lenient.mappings(plain.get("findings"))],
            rows=_counts(plain.get("rows")),
            title=lenient.text(plain.get("title")),
            card=Card.from_json(card) if card else None,
            records=[Record.from_json(one) for one in lenient.mappings(plain.get("records"))],
            at_risk=[Tail.from_json(one) for one in lenient.mappings(plain.get("at_risk"))],
            groups=Groups.from_json(groups) if groups else None,
            power=Power.from_json(power) if power else None,
            gates=[Outcome.from_json(one) for one in lenient.mappings(plain.get("gates"))],
            void=lenient.texts(plain.get("void")),
            run=Run.from_json(lenient.mapping(plain.get("made"))),
            assumed=lenient.texts(plain.get("assumed")),
            causes=[Cause.from_json(one) for one in lenient.mappings(plain.get("causes"))],
            people=_counts(plain.get("people")),
            asked=_counts(plain.get("asked")),
            examples=[
                {name: None if value is None else lenient.text(value) for name, value in one.items()}
                for one in lenient.mappings(plain.get("examples"))
            ],
        )

    def save(self, folder: str | Path, formats: Iterable[str] = ("html",)) -> Path:
        """Write ``audit.json``, always, and ``audit.html`` or ``audit.md`` as asked for, to a folder only its owner can read.

        Where rules of the real rows were found they are in ``rules.yaml``, in the form that a schema takes.
        """
        writers = {"html": self.page, "md": self.markdown}
        wanted = list(dict.fromkeys(several(formats)))
        if odd := [name for name in wanted if name not in (*writers, "json")]:
            raise InputError(f"expected {', '.join((*writers, 'json'))}, got {', '.join(odd)}", where="format")
        folder = Path(folder)
        files = {"audit.json": json.dumps(self.to_json(), indent=1, ensure_ascii=False)}
        files |= {f"audit.{name}": writers[name]() for name in wanted if name in writers}
        files |= {"rules.yaml": text} if (text := rules_yaml(self.findings)) else {}
        with whole_folder(folder, private=True) as partial:
            for name, text in files.items():
                # A frame may hold half a character, which no file can.
                (partial / name).write_text(text, encoding="utf-8", errors="replace")
        return folder


def _counts(plain: object) -> dict[str, int]:
    return {name: lenient.whole(count) or 0 for name, count in lenient.mapping(plain).items()}
