"""Risk models of leaks that only some audits are meant to notice: each is tried on these alone, as others need not rise with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial as bound
from typing import TYPE_CHECKING

import numpy as np

from hushtable.api.certificate import Curve, Expect, curve
from hushtable.audits import covert
from hushtable.evidence.case import Case
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.api.certify import Study

HANDFULS = (0, 5, 10, 20, 40)
"""Rows that are copied."""
ANSWERING = {
    "handful": ("exposed-records", "identical-matches"),
    "partial": ("rare-values",),
    "rare": ("rare-values",),
    "digests": ("identifiers",),
    "texts": ("text-verbatim",),
}
"""The audits that each leak is meant for."""


def handful(study: Study) -> list[Curve]:
    """A few training rows verbatim: the loneliest, or some at random."""
    train, fresh = study.parts["train"], study.parts["fresh"]
    counts = [float(count) for count in (HANDFULS[::2] if study.quick else HANDFULS) if count <= min(train.rows, fresh.rows)]
    lonely: list[int] = np.argsort(-study.outlying[: train.rows]).tolist()
    orders = {"outliers": lonely, "at random": None}
    curves = []
    for name, order in orders.items():

        def case(count: float, order: list[int] | None = order) -> Case:
            return study.case(covert.handful(train, fresh, int(count), np.random.default_rng([study.seed, 1]), order))

        curves += _curves(study, "handful", name, "rows copied verbatim", counts, case)
    return curves


def partial(study: Study) -> list[Curve]:
    """A few columns of training rows, beside those of others."""
    return _shares(study, "partial", covert.partial)


def rare(study: Study) -> list[Curve]:
    """The rarest values of training people."""
    return _shares(study, "rare", covert.rarest)


def digests(study: Study) -> list[Curve]:
    """An identifier behind a digest."""
    return _shares(study, "digests", covert.hashed, named=True)


def texts(study: Study) -> list[Curve]:
    """A text in other letters and spaces."""
    return _shares(study, "texts", covert.respelled, named=True)


MODELS: dict[str, Callable[[Study], list[Curve]]] = {
    "handful": handful,
    "partial": partial,
    "rare": rare,
    "digests": digests,
    "texts": texts,
}


def _shares(study: Study, model: str, leak: Callable[..., Table], *, named: bool = False) -> list[Curve]:
    """Fresh rows with ever more of a leak among them; with invented identifiers and texts where it needs them."""

    def case(share: float) -> Case:
        rng = np.random.default_rng([study.seed, 1])
        train, control, fresh = (covert.named(part, rng) if named else part for part in study.parts.values())
        return Case(train, leak(train, fresh, share, rng), control)

    return _curves(study, model, model, "share of released rows that hold it", study.levels, case)


def _curves(study: Study, model: str, name: str, along: str, levels: Sequence[float], make: Callable[[float], Case]) -> list[Curve]:
    """The curve of the audits that the leak is meant for; none where they are not among those asked for."""
    audits = {audit: study.audits[audit] for audit in ANSWERING[model] if audit in study.audits}
    if not audits:
        return []
    cells = [(x, study.cell(f"{model}-{name}-{x:g}".replace(" ", "-"), bound(make, x), audits)) for x in levels]
    return [curve(model, name, along, Expect.RISE, cells)]
