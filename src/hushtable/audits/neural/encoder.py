"""What the contrastive attacks share: one encoder for a case, and the search among its points.

The attacker has the release and nothing else, so the encoder is trained on the release alone; training and control
rows only pass through it, and are alike to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hushtable.errors import InputError
from hushtable.evidence.reading import floats_like
from hushtable.learn import network
from hushtable.table.arrays import Floats, Integers, Mask, Singles
from hushtable.table.columns import NUMBERS
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

MASKED, ABSENT, FIRST = 0, 1, 2
"""Codes of a column that is not known and of a missing value; levels follow, and a present number has the first of them."""
GRID = 2.0**20
"""Points lie on multiples of 1/GRID: products and their sums are then exact, and equal distances are equal."""
BLOCK = 2**24
"""Distances held at once."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How the encoder of a case is trained."""

    width: int = 256
    """Neurons of each of the three layers. The source has 1,024: eight times the work."""
    dimensions: int = 0
    """Of the sphere; 0 takes 10 for up to 15 columns, 20 for up to 30, else 30."""
    temperature: float = 0.1
    """Divides the cosines: smaller pushes the nearest other records away harder."""
    rate: float = 1e-3
    """Learning rate."""
    batch: int = 1024
    """Records that are contrasted with one another at once."""
    epochs: int = 300
    """Most passes over the release."""
    steps: int = 1000
    """Most gradient steps."""
    patience: int = 10
    """Passes without progress on held-out released rows before training stops."""
    encoder_seed: int = 0
    """Of the training. It is a knob, since attacks on one case share one encoder."""

    def __post_init__(self) -> None:
        """Whole numbers that mean something."""
        least = {"width": 1, "dimensions": 0, "batch": 2, "epochs": 1, "steps": 1, "patience": 1, "encoder_seed": 0}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise InputError(f"{name} is at least {low}, got {getattr(self, name)}", where=type(self).__name__)
        for name in ("temperature", "rate"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be positive, got {getattr(self, name)}", where=type(self).__name__)

    def encoder(self, case: Case) -> Encoder:
        """The encoder of a case with plain cells, trained once for all attacks with these knobs."""
        knobs = tuple(getattr(self, name) for name in Training.__dataclass_fields__)
        encoder: Encoder = case.once(("contrastive encoder", knobs), lambda: self._trained(case))
        return encoder

    def _trained(self, case: Case) -> Encoder:
        contrast = network("hushtable.audits.neural.contrast", "a contrastive attack")
        from hushtable.learn.loop import Descent  # imports torch: heavy, and an extra

        records = Records.of(case)
        codes, values = records.inputs(records.rows["release"], range(len(case.columns)))
        net = contrast.fit(
            EncodedRows(codes, values, records.numeric, records.sizes),
            width=self.width, dimensions=self.dimensions or min(30, 10 * -(-len(case.columns) // 15)), temperature=self.temperature,
            descent=Descent(rate=self.rate, batch=self.batch, epochs=self.epochs, steps=self.steps, patience=self.patience),
            seed=self.encoder_seed,
        )  # fmt: skip
        return Encoder(records, net)


class EncodedRows(NamedTuple):
    """Rows as a network takes them: codes (0 is the mask), and standardized values, of which only ``numeric`` columns have any."""

    codes: Integers
    values: Singles
    numeric: Mask
    sizes: Integers
    """Codes of each column, the mask included."""


@dataclass(frozen=True, eq=False)
class Records:
    """The rows of the three tables one below the other, as codes and standardized values by the release's measure."""

    rows: dict[str, slice]
    codes: Integers
    values: Singles
    numeric: Mask
    scales: Floats
    """columns x 2: mean and spread of the released numbers."""
    kinds: Integers
    """rows x columns: a number for each different value of a column."""

    @property
    def sizes(self) -> Integers:
        """Codes of each column, the mask included."""
        return np.asarray(self.codes.max(axis=0) + 1, np.int64)

    @classmethod
    def of(cls, case: Case) -> Records:
        """A level that the release does not have is as if not known: the attacker never saw it."""
        tables = case.tables
        ends = np.cumsum([table.rows for table in tables.values()]).tolist()
        rows = {name: slice(end - table.rows, end) for (name, table), end in zip(tables.items(), ends, strict=True)}
        numeric = np.array([case.train.schema[name].kind in NUMBERS for name in case.columns])
        columns = [(_numbers if number else _levels)(case, name) for name, number in zip(case.columns, numeric, strict=True)]
        codes, values, kinds = (np.stack(part, axis=1) for part in list(zip(*columns, strict=True))[:3])
        return cls(rows, codes, values.astype(np.float32), numeric, np.array([scale for *_, scale in columns]), kinds)

    def inputs(self, rows: slice | Integers, known: Sequence[int]) -> tuple[Integers, Singles]:
        """These rows with only these columns known."""
        codes, values = np.zeros_like(self.codes[rows]), np.zeros_like(self.values[rows])
        at = list(known)
        codes[:, at], values[:, at] = self.codes[rows][:, at], self.values[rows][:, at]
        return codes, values

    def distinct(self, known: Sequence[int]) -> tuple[Integers, Integers]:
        """The first row of each kind, as far as these columns show, and for every row which kind it is."""
        kind = np.zeros(len(self.codes), np.int64)
        for column in known:
            value = self.kinds[:, column]
            _, first, kind = np.unique(kind * (int(value.max()) + 1) + value, return_index=True, return_inverse=True)
        return first, kind


@dataclass(frozen=True, eq=False)
class Encoder:
    """A trained network and the records of its case."""

    records: Records
    net: object

    def points(self, known: Sequence[int]) -> dict[str, Floats]:
        """The rows of each table as points when only these columns are known; equal rows are equal points."""
        first, kind = self.records.distinct(known)
        points = self._embed(*self.records.inputs(first, known))[kind]
        return {name: points[rows] for name, rows in self.records.rows.items()}

    def single(self, column: int, codes: Integers, values: Floats) -> Floats:
        """Records of which only one column is known, as points."""
        width = len(self.records.sizes)
        inputs = np.zeros((len(codes), width), np.int64), np.zeros((len(codes), width), np.float32)
        inputs[0][:, column], inputs[1][:, column] = codes, values
        return self._embed(*inputs)

    def _embed(self, codes: Integers, values: Singles) -> Floats:
        points = network("hushtable.audits.neural.contrast", "a contrastive attack").embed(
            self.net, codes, values, self.records.numeric
        )
        return np.asarray(np.round(points * GRID) / GRID, np.float64)


def nearest(queries: Floats, targets: Floats) -> tuple[Integers, Floats]:
    """The nearest target of each query and its distance; ties go to the smaller index.

    On the sphere the nearest is also the one with the largest cosine. Exhaustive, by products of blocks of matrices,
    and exact: on the grid |t|^2 - 2 q.t is a whole multiple of 2^-40 below 2^13, whatever the order of the sums.
    """
    lifted = np.column_stack([targets, (targets**2).sum(axis=1)]).T.copy()
    asked = np.column_stack([-2 * queries, np.ones(len(queries))])
    index, least = np.empty(len(queries), np.int64), np.empty(len(queries))
    step = max(1, BLOCK // len(targets))
    for at in range(0, len(queries), step):
        block = asked[at : at + step] @ lifted
        best = block.argmin(axis=1)
        index[at : at + step], least[at : at + step] = best, block[np.arange(len(block)), best]
    return index, np.sqrt(np.maximum(least + (queries**2).sum(axis=1), 0))


Coded = tuple[Integers, Floats, Integers, tuple[float, float]]
"""Codes, standardized values, a number for each different value, mean and spread."""


def _numbers(case: Case, name: str) -> Coded:
    """Standardized by the release; a missing value is 0, and its code distinguishes it from the mean."""
    seen = case.release.floats(name)
    present = seen[~np.isnan(seen)]
    mean, spread = (float(present.mean()), float(present.std()) or 1.0) if len(present) else (0.0, 1.0)
    values = (np.concatenate([table.floats(name) for table in case.tables.values()]) - mean) / spread
    missing = np.isnan(values)
    kinds = np.unique(values, return_inverse=True)[1]
    return np.where(missing, ABSENT, FIRST), np.where(missing, 0.0, values), kinds, (mean, spread)


def _levels(case: Case, name: str) -> Coded:
    seen = np.unique(case.release[name])
    codes = np.concatenate([_codes(table, case.release, name, seen) for table in case.tables.values()])
    return codes, np.zeros(len(codes)), codes, (0.0, 1.0)


def _codes(table: Table, release: Table, name: str, seen: Integers) -> Integers:
    codes = floats_like(table, name, release)
    return np.where(table.missing(name), ABSENT, np.where(np.isin(codes, seen), codes + FIRST, MASKED)).astype(np.int64)
