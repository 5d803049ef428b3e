"""How a release without a promise is judged beside its peers, by judges that it was not made to please.

Refinement weighs rows by a discriminator of its own, against training rows. So another family of discriminator judges too, against
people who were not trained on; and what could be bought with privacy is beside it: membership, and copies against fresh rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from hushtable.audits.indicators import IdenticalMatches
from hushtable.audits.membership import Membership
from hushtable.evidence.case import Case
from hushtable.measures.discriminator import Discriminator
from hushtable.measures.downstream import TrainOnRelease
from hushtable.measures.margins import MarginDistances
from hushtable.table.arrays import Floats
from hushtable.table.table import Table

TREES, LEAF = 100, 5
ATTACKED, DISTINGUISHED = 5_000, 10_000
"""Rows of each side that are attacked, and that the forest sees."""


@dataclass(frozen=True)
class Judged:
    """What was found; means over releases are means of each number."""

    auc: float
    """Of boosting that learnt from the release, on held-out people."""
    tvd: float
    """The mean total variation over columns."""
    discriminator: float
    """Boosting, released rows against training rows."""
    forest: float
    """A forest, released rows against people who were not trained on."""
    membership: float
    """The largest AUC of the membership attacks on everybody."""
    membership_high: float
    """Its upper bound."""
    copies: float
    """The share of released rows that equal a training row, where the column with the most values is left out."""

    def cells(self) -> list[str]:
        """For a table."""
        short = [f"{value:.4f}" for value in (self.auc, self.tvd)] + [f"{value:.3f}" for value in (self.discriminator, self.forest)]
        return [*short, f"{self.membership:.3f} (≤ {self.membership_high:.3f})", f"{self.copies:.3f}"]


HEADS = ("AUC", "TVD", "discriminator", "forest, held-out", "membership AUC", "copies")


def judge(train: Table, released: Table, control: Table) -> Judged:
    """All of it; ``control`` are held-out people."""
    rng = np.random.default_rng(0)
    case = Case(train, released, control)
    auc = TrainOnRelease(bootstrap=2, seeds=0, models=("boosting",)).run(case, rng)[0].value
    attacked = Case(_some(train, ATTACKED), released, _some(control, ATTACKED))
    areas = [f for f in Membership().run(attacked, rng) if f.name.startswith("membership AUC") and not f.scope]
    found = [finding for finding in areas if finding.value is not None]
    worst = max(found, key=lambda finding: finding.value or 0.0)
    rest = _without_widest(train)
    copies = IdenticalMatches().run(Case(*(t.select(rest) for t in (train, released, control))), rng)[0]
    return Judged(
        auc=_number(auc),
        tvd=_number(MarginDistances().run(case, rng)[0].value),
        discriminator=_number(Discriminator().run(case, rng)[0].value),
        forest=forest(released, control),
        membership=_number(worst.value),
        membership_high=_number(worst.high),
        copies=_number(copies.value),
    )


def mean(judged: list[Judged]) -> Judged:
    """Over releases."""
    return Judged(*(float(np.mean([getattr(one, field.name) for one in judged])) for field in fields(Judged)))


def forest(released: Table, control: Table) -> float:
    """The AUC of a random forest, each row judged by the trees that did not see it."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    ours, others = _some(released, DISTINGUISHED), _some(control, DISTINGUISHED)
    rows = np.concatenate([_numbers(ours, control), _numbers(others, control)])
    labels = np.repeat([1, 0], [ours.rows, others.rows])
    trees = RandomForestClassifier(TREES, min_samples_leaf=LEAF, oob_score=True, random_state=0, n_jobs=1).fit(rows, labels)
    return float(roc_auc_score(labels, np.nan_to_num(trees.oob_decision_function_[:, 1], nan=0.5)))


def _numbers(table: Table, like: Table) -> Floats:
    """Codes of categories, most frequent first (a forest cuts them as it cuts numbers), and numbers with missing ones lowest."""
    columns = []
    for column in table.schema:
        if column.numeric:
            values = table.floats(column.name)
            lowest = np.nanmin(like.floats(column.name), initial=0.0) - 1.0
            columns.append(np.where(np.isnan(values), lowest, values))
        else:
            codes, known = table[column.name].astype(np.int64) + 1, like[column.name].astype(np.int64) + 1
            counts = np.bincount(known, minlength=max(int(codes.max(initial=0)), int(known.max(initial=0))) + 1)
            columns.append(np.argsort(np.argsort(-counts, kind="stable"), kind="stable")[codes].astype(np.float64))
    return np.column_stack(columns)


def _without_widest(table: Table) -> list[str]:
    """All columns but the one with the most values, with which hardly any two rows are equal."""
    widest = max(table.schema.names, key=lambda name: len(np.unique(table[name])))
    return [name for name in table.schema.names if name != widest]


def _some(table: Table, most: int) -> Table:
    return table.take(np.sort(np.random.default_rng(0).permutation(table.rows)[:most]))


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
