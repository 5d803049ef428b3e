"""Measure what a release is still good for, without attacking it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from hushtable import __version__
from hushtable.api.audit import pick_audits
from hushtable.api.audit_report import AuditReport, Run
from hushtable.api.hold_out import hold_out
from hushtable.api.options import plain
from hushtable.display import Progress, meant, silent
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.examples import released_examples
from hushtable.evidence.finding import Audit, Subject
from hushtable.evidence.sampling import SAMPLE, picked_rows
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import Release, today
from hushtable.table.arguments import require_options, require_rows, require_seed, several
from hushtable.table.rows import Rows
from hushtable.table.table import Table


class UtilityFields(TypedDict, total=False):
    """The fields of ``UtilityOptions`` as keywords of a call."""

    target: str
    only: Iterable[str]
    settings: Mapping[str, Any] | None
    card: Card | Mapping[str, Any] | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class UtilityOptions:
    """What is measured, and how."""

    target: str = ""
    """The column that models learn to predict; each measure's own choice when empty."""
    only: Iterable[str] = ()
    """The measures to run; every measure of utility but the costly ones when empty."""
    settings: Mapping[str, Any] | None = None
    """Knobs of measures by text, such as ``downstream.models``."""
    card: Card | Mapping[str, Any] | None = None
    """The card of the release; a ``Release`` brings its own."""
    seed: int = 0

    def __post_init__(self) -> None:
        """One text is a list of itself, and a card may be given as plain values."""
        require_seed(self.seed)
        object.__setattr__(self, "only", several(self.only))
        if isinstance(self.card, Mapping):
            object.__setattr__(self, "card", Card.from_json(self.card))

    @classmethod
    def of(cls, options: UtilityOptions | None, keywords: Mapping[str, Any]) -> UtilityOptions:
        """These options (the defaults when absent) with the keywords of a call in their place."""
        return replace(options or cls(), **keywords)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a YAML or JSON file holds them."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> UtilityOptions:
        """Read from plain values; what is absent has its default, and a name that is no option is refused."""
        require_options(cls, given)
        return cls(**given)

    def known_card(self) -> Card | None:
        """The card as a typed value."""
        return Card.from_json(self.card) if isinstance(self.card, Mapping) else self.card


def utility(
    real: Rows,
    released: Rows | Release,
    control: Rows | None = None,
    options: UtilityOptions | None = None,
    *,
    progress: Progress = silent,
    **keywords: Unpack[UtilityFields],
) -> AuditReport:
    """What a release is still good for: every measure of utility, or only those named; no attack is run.

    The keywords are the fields of ``UtilityOptions``; they replace those of ``options``, if both are given.

    ``control`` are rows of the same kind that the release never saw: what models are tested on, and the baseline of every
    distance. Without them the real rows are halved at random: one half is compared, the other is the control. Then the test
    rows are rows that the release was made from, and the report says so. An attack that is named is refused: among halved rows
    there is nobody whom the release has not seen, and it would find nothing.

    Of tables that are not in memory 200,000 rows each are picked at random and measured, and the report says so.
    """
    options = UtilityOptions.of(options, keywords)
    card = options.known_card()
    if isinstance(released, Release):
        card, released = Card.from_json(released.card()), released.table
    halved = control is None
    require_rows(real=real, released=released, **({} if halved else {"control": control}))
    if options.target and options.target not in real.schema:
        near = meant(options.target, real.schema.names)
        raise InputError(f"there is no column {options.target!r}{near}; there are {', '.join(real.schema.names)}", where="target")
    measures = pick_audits(options.only, options.settings, Subject.UTILITY)
    sides: dict[str, Rows] = {"train": real, "release": released, **({} if control is None else {"control": control})}
    tables, sampled = _in_memory(sides, options.seed)
    if halved:
        tables["train"], tables["control"] = hold_out(tables["train"], 0.5, options.seed)
        sides["control"] = real
    if options.target:
        measures = {name: _aimed(measure, options.target) for name, measure in measures.items()}
    case = Case(tables["train"], tables["release"], tables["control"])
    held = {name: table.rows for name, table in case.tables.items()}
    findings = harness.run(case, measures, options.seed, progress)
    # A measure of another package may say something about privacy all the same.
    blind = halved and any(finding.subject is Subject.PRIVACY for finding in findings)
    return AuditReport(
        findings=findings,
        rows={name: sides[name].rows for name in held} if sampled else held,
        asked=held if sampled else {},
        title=real.schema.title,
        card=card,
        void=["without a control there is nobody whom the release has not seen"] if blind else [],
        run=Run(version=__version__, seed=options.seed, audits=tuple(measures), date=today(), halved=halved),
        examples=released_examples(case),
    )


def _in_memory(sides: Mapping[str, Rows], seed: int) -> tuple[dict[str, Table], bool]:
    """The tables, or as many rows of each as are measured; and whether these are some of more."""
    held = {name: rows for name, rows in sides.items() if isinstance(rows, Table)}
    if len(held) == len(sides):
        return held, False
    rng = np.random.default_rng([seed, *b"utility"])
    return {name: picked_rows(rows, SAMPLE, rng).table for name, rows in sides.items()}, True


def utilities() -> list[str]:
    """The names of the measures of utility that are run unless some are named."""
    return list(pick_audits(subject=Subject.UTILITY))


def _aimed(measure: Audit, target: str) -> Audit:
    """The measure with this column as the one to predict, if it has such a knob that is not set."""
    return replace(measure, target=target) if getattr(measure, "target", None) == "" else measure  # type: ignore[type-var]
