"""Sanity of an audit: whether the control is independent of the release, and which columns the attacks can compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.evidence.attack import LEVEL, of_hundred
from hushtable.evidence.confidence import binomial_tail, clopper_pearson
from hushtable.evidence.finding import Audit, Better, Finding, Subject
from hushtable.evidence.looks import Equal, Look
from hushtable.table.arrays import Mask
from hushtable.table.columns import FREE, Role
from hushtable.table.table import Table
from hushtable.table.words import text_columns

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class ControlSeen(Audit):
    """Whether the release was made from control rows too: then nothing exceeds the control, and every audit understates the risk.

    Each control row is searched for in the release and in the training rows, equally many of both. A release that never saw
    the control holds about as many control rows as the training table does, so that among the control people who have a row
    in one of the two only, either is equally likely (McNemar's exact test, one-sided). A generator that prefers common
    rows can exceed this without having seen the control: a warning, not a proof.
    """

    sanity: ClassVar[bool] = True
    level: float = LEVEL
    """Confidence of the interval and of the warning."""

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """The rows that equal a control row."""
        return [Equal(case.columns)]

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding; no distance is computed."""
        size = min(case.totals[which] for which in ("release", "train"))
        people = case.people("control")
        here, there = (people.any(_found(case, which, size, rng)) for which in ("release", "train"))
        only, other = int((here & ~there).sum()), int((there & ~here).sum())
        p = binomial_tail(only, only + other)
        share, fresh = (clopper_pearson(int(hit.sum()), len(hit), self.level) for hit in (here, there))
        whom = "control rows are" if people.persons is None else "control people have a row that is"
        counts = f"{of_hundred(share.value)} {whom} in the release, {of_hundred(fresh.value)} in as many training rows"
        seen = p <= 1 - self.level
        verdict = (
            "the release seems to have been made from control rows too, so this control hides leaks: take another"
            if seen
            else "no sign that the release was made from control rows"
        )
        return [
            Finding(
                name="control seen",
                value=share.value, low=share.low, high=share.high, baseline=fresh.value, baseline_bad=fresh.high,
                better=Better.LOWER, subject=Subject.PRIVACY, n=len(here), note=f"{counts}: {verdict}",
                detail={"rows": size, "only_release": only, "only_train": other, "test": p, "seen": seen},
            )
        ]  # fmt: skip


def _found(case: Case, which: str, size: int, rng: np.random.Generator) -> Mask:
    """Which control rows are among so many rows of a table, picked at random."""
    ids = case.row_ids()
    if case.shortlist is None:
        return np.isin(ids["control"], rng.permutation(ids[which])[:size])
    # The same, without the rows: of each different row as many are picked as the hypergeometric distribution says.
    _, first, place = np.unique(ids["control"], return_index=True, return_inverse=True)
    counts = case.occurrences("control", which, case.columns)[first]
    rest = case.totals[which] - int(counts.sum())
    return (rng.multivariate_hypergeometric([*counts, rest], size, method="marginals")[:-1] > 0)[place]


@dataclass(frozen=True, kw_only=True)
class Coverage(Audit):
    """Which columns the attacks compare, and which they cannot: every finding is about the compared columns alone."""

    sanity: ClassVar[bool] = True

    def looks(self, case: Case, rng: np.random.Generator) -> list[Look]:
        """None at all."""
        return []

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """One finding; names of columns and numbers of rows only. Of a part of the rows no column is known to be constant."""
        schema, compared = case.train.schema, case.columns
        texts = [column.name for column in text_columns(schema, case.release.schema)]
        names = {
            "compared": list(compared),
            "not in the release": [n for n in schema.names if n not in case.release.schema],
            "looked up as they are, in no other attack (identifiers, keys)": [
                c.name
                for c in schema
                if c.name in case.release.schema and c.name not in texts and (c.role is Role.IDENTIFIER or c.kind in FREE)
            ],
            "read by the attacks on texts alone": texts,
            "in the release only": [n for n in case.release.schema.names if n not in schema],
        }
        if case.shortlist is None:
            names["constant in the training rows"] = [n for n in compared if _constant(case.train, n)]
            names["constant in the release"] = [n for n in compared if _constant(case.release, n)]
        remarks = [f"{what}: {', '.join(which)}" for what, which in names.items() if which and what != "compared"]
        alone = f"only {compared[0]} is shared, so no attack can combine columns" if len(compared) == 1 else ""
        rows = case.totals
        sizes = ", ".join(f"{count:,} {which} rows{self._held(case, which)}" for which, count in rows.items())
        parts = [f"{len(compared)} of {len(schema)} columns are compared over {sizes}", *([alone] if alone else []), *remarks]
        return [
            Finding(
                name="coverage", value=len(compared) / len(schema), better=Better.HIGHER, subject=Subject.PRIVACY,
                n=len(schema), note="; ".join(parts), detail={"columns": names, "rows": rows},
            )
        ]  # fmt: skip

    @staticmethod
    def _held(case: Case, which: str) -> str:
        """By how many people, where it is known who holds which rows."""
        if case.shortlist is not None:
            return "" if which == "release" else f" (of which {case.people(which).count:,} people were asked)"
        if case.tables[which].persons is None:
            return ""
        return f" of {case.people(which).count:,} people"


def _constant(table: Table, name: str) -> bool:
    """One value, or one cell, in every row; missing is a value here."""
    return table.groups([name])[1] <= 1
