"""The composite scores G and G+ of a release as an audit; ``composite`` computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.finding import Finding, Utility
from hushtable.evidence.measure import Measure
from hushtable.measures.bins import tables
from hushtable.measures.catalogue import G_PLUS, G
from hushtable.measures.composite import BINS, CUTS, NORMS, Composite, CompositeOptions, Reference
from hushtable.measures.composite_models import FAMILIES, unfit
from hushtable.measures.downstream import target_of
from hushtable.measures.phik import LEVELS
from hushtable.pipeline.step import check_knobs
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

ALL = "*"


@dataclass(frozen=True, kw_only=True)
class CompositeScore(Utility):
    """G = alpha mu + beta delta and G+ = G + gamma nu of the release against the training rows (Galloni 2025).

    mu is the distance of the correlations (phi_k), delta the mean difference of the performance of models that are trained and
    tested on the one table and on the other, nu the mean total variation of the columns; 0 is no difference. Rows in another
    order are split otherwise, so even a copy is a little above 0. The baseline is the control rows against the training rows.
    What G does not see: models that do equally well on both tables count as alike, even if they would fail on each other's rows;
    that is what training on the release and testing on real people asks.
    """

    targets: tuple[str, ...] = ()
    """The columns to predict; when empty, the one with role target, else the first secret; ``*`` for every column in turn."""
    alpha: float = 1.0
    """The weight of the correlations, mu."""
    beta: float = 1.0
    """The weight of the models' performance, delta."""
    gamma: float = 1.0
    """The weight of the columns' distances, nu."""
    splits: int = 1
    """Random parts of each table that its models are tested on, to be averaged."""
    norm: str = "pairs"
    """How the difference of two matrices of correlations is measured: pairs, frobenius or spectral."""
    models: tuple[str, ...] = FAMILIES
    """Families of models: support vectors, linear (logistic or linear regression), tree."""
    cut: str = "quantiles"
    """How numbers are cut for nu: quantiles of the training rows, or equal bins over the range of both tables."""
    bins: int = BINS
    """Bins of a number for nu."""
    rows: int = 10_000
    """Rows of a table that models are trained and tested on at most, support vectors on fewer."""

    def __post_init__(self) -> None:
        """Weights that are not negative, known norms, cuts and families."""
        check_knobs(
            self,
            alpha=(self.alpha >= 0, "must not be negative"),
            beta=(self.beta >= 0, "must not be negative"),
            gamma=(self.gamma >= 0, "must not be negative"),
            splits=(self.splits >= 1, "must be at least 1"),
            norm=(self.norm in NORMS, f"must be one of {', '.join(NORMS)}"),
            models=(bool(self.models) and set(self.models) <= set(FAMILIES), f"must be some of {', '.join(FAMILIES)}"),
            cut=(self.cut in CUTS, f"must be one of {', '.join(CUTS)}"),
            bins=(self.bins >= 2, "must be at least 2"),
            rows=(self.rows >= 2, "must be at least 2"),
        )

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """G and G+, or twice the reason why not."""
        seen = {which: table.select(case.columns) for which, table in tables(case).items()}
        targets, reasons = self._targets(case, seen["train"])
        if not targets:
            return [measure.finding(None, n=len(case.columns), note="; ".join(reasons)) for measure in (G, G_PLUS)]
        options = CompositeOptions(
            splits=self.splits, seed=int(rng.integers(2**31)), weights=(self.alpha, self.beta, self.gamma), norm=self.norm,
            models=self.models, cut=self.cut, bins=self.bins, rows=self.rows,
        )  # fmt: skip
        reference = Reference.of(seen["train"], targets, options)
        score, fresh = (reference.compare(seen[which], there=False) for which in ("release", "control"))
        if score.left_out:
            reasons.append(f"columns of more than {LEVELS} levels, which are not in mu: {', '.join(score.left_out)}")
        return [self._finding(measure, score, fresh, reference, "; ".join(["", *reasons])) for measure in (G, G_PLUS)]

    def _targets(self, case: Case, train: Table) -> tuple[list[str], list[str]]:
        """The columns that can be predicted, and why others cannot."""
        strange = [name for name in self.targets if name not in case.train.schema and name != ALL]
        if strange:
            raise InputError(f"there is no column {', '.join(map(repr, strange))}", where="targets")
        asked = list(case.columns) if ALL in self.targets else list(self.targets or filter(None, [target_of(case)]))
        if not asked:
            return [], ["no column has the role target or secret, and none was named"]
        reasons = {name: unfit(train, name) if name in case.columns else "cannot be compared between the tables" for name in asked}
        return [n for n, reason in reasons.items() if not reason], [f"{n}: {reason}" for n, reason in reasons.items() if reason]

    def _finding(self, measure: Measure, score: Composite, fresh: Composite, reference: Reference, more: str) -> Finding:
        value, base = (score.g, fresh.g) if measure is G else (score.g_plus, fresh.g_plus)
        parts = f"mu {score.mu:.3f} + delta {score.delta:.3f}" + (f" + nu {score.nu:.3f}" if measure is G_PLUS else "")
        weights = (self.alpha, self.beta, self.gamma)[: 2 if measure is G else 3]
        weighed = f", weighted {' : '.join(f'{w:g}' for w in weights)}" if set(weights) != {1.0} else ""
        detail: dict[str, Any] = {
            "mu": score.mu, "delta": score.delta, "nu": score.nu, "alpha": self.alpha, "beta": self.beta, "gamma": self.gamma,
            "baseline": {"mu": fresh.mu, "delta": fresh.delta, "nu": fresh.nu},
            "performance": {
                target: {"train": reference.performance[target].to_json(), "release": score.own[target].to_json()}
                for target in reference.tasks
            },
        }  # fmt: skip
        targets = ", ".join(reference.tasks) if len(reference.tasks) <= 3 else f"{len(reference.tasks)} columns"
        note = f"{parts}{weighed}; control rows {base:.3f}; models predict {targets}{more}"
        return measure.finding(value, n=len(reference.table.schema.names), note=note, baseline=base, detail=detail)
