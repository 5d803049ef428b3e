"""Information loss of anonymization: wide cells, large classes, hidden cells, missing rows and columns, lost variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hushtable.evidence.confidence import NORMAL
from hushtable.evidence.finding import Finding, Utility
from hushtable.measures.catalogue import (
    CLASS_SIZE,
    DISCERNIBILITY,
    GENERALIZATION,
    MISSING_COLUMNS,
    SUPPRESSED_CELLS,
    SUPPRESSED_ROWS,
    VARIANCE,
)
from hushtable.measures.generalized_cells import Spans, penalties
from hushtable.measures.jackknife import LOTS, jackknife
from hushtable.privacy.criteria import Classes
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import FREE, NUMBERS, Cells, Column, Role
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case


@dataclass(frozen=True, kw_only=True)
class Losses(Utility):
    """The losses that anonymizers are compared by.

    Generalization loss is the normalized certainty penalty (Xu et al. 2006), a mean over the cells of quasi-identifiers and
    other generalized columns. Discernibility (Bayardo and Agrawal 2005) and average class size (LeFevre et al. 2006) are about
    the rows that are equal on the quasi-identifiers. Variance lost is 1 less the variance of the release over that of the
    training rows, cells counting as their middle: where groups of rows were replaced by their means it is SSE / SST, the
    information loss of microaggregation; where noise made the variance larger it is 0, and the note says so; its interval is a
    jackknife over rows. The cells of columns that were not released count as hidden. The baseline of the classes is the training
    table itself, for classes grow with the rows; of the others, the control rows.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Seven findings for the table, then what each column lost."""
        wide, variance, hidden = _generalization(case), _variances(case, rng), _hidden(case)
        return [
            wide[0], *_classes(case), _rows(case), _columns(case), hidden[0], variance[0], *wide[1:], *hidden[1:], *variance[1:],
        ]  # fmt: skip


def quasi(case: Case) -> list[str]:
    """The quasi-identifiers that the release has."""
    return [name for name in case.columns if case.train.schema[name].role is Role.QUASI]


def _generalization(case: Case) -> list[Finding]:
    release = case.release.schema
    if not case.generalized:
        note = "no column of the release is generalized: every cell is one value, and the distances show how far it moved"
        return [GENERALIZATION.finding(None, n=0, note=note)]
    own = quasi(case)
    columns = [name for name in case.columns if release[name].generalized or name in own]
    findings = []
    for name in columns:
        values, present = generalization(case, name), int((~case.release.missing(name)).sum())
        note = "the mean width of a cell, as a share of the domain" if present else f"{name}: the release has no value"
        findings.append(GENERALIZATION.finding(values, n=present, note=note, scope=name))
    known = [f.value for f in findings if f.value is not None]
    note = f"mean over {len(known)} columns: quasi-identifiers, and others that are generalized; missing cells are not counted"
    gone = [name for name in absent(case) if case.train.schema[name].role is Role.QUASI]
    if gone:
        note += f"; not released at all: {', '.join(gone)}"
    return [GENERALIZATION.finding(float(np.mean(known)) if known else None, n=len(known), note=note), *findings]


def generalization(case: Case, name: str) -> float | None:
    """The mean certainty penalty of a released column; None where it is all missing."""
    column, codes = case.release.schema[name], case.release[name]
    present = ~case.release.missing(name)
    if not present.any():
        return None
    if not isinstance(column.domain, Cells):
        return 0.0
    return float(penalties(column, case.train.schema[name])[codes[present].astype(np.int64)].mean())


def _classes(case: Case) -> list[Finding]:
    names, rows = quasi(case), case.release.rows
    if not names:
        reason = "no column of the release has the role quasi, so there are no classes of equal rows"
        return [measure.finding(None, n=0, note=reason) for measure in (DISCERNIBILITY, CLASS_SIZE)]
    ours, before = (Classes(table, tuple(names)) for table in (case.release, case.train))
    stars = int(ours.suppressed.sum())
    count, size = class_size(ours)
    hidden = f"; {stars:,} rows with * in all of them cannot be distinguished from any row" if stars else ""
    left = f", {stars:,} rows with * in all of them left out" if stars else ""
    return [
        DISCERNIBILITY.finding(
            discernibility(ours), n=rows, baseline=discernibility(before),
            note=f"the sum of squared class sizes on {len(names)} quasi-identifiers, over the square of {rows:,} rows{hidden}; "
            "the baseline is the training table",
        ),
        CLASS_SIZE.finding(
            size, n=rows, baseline=class_size(before)[1],
            note=f"{count:,} classes{left}; divided by k it is C_avg of LeFevre et al.; the baseline is the training table",
        ),
    ]  # fmt: skip


def discernibility(classes: Classes) -> float:
    """Sum of squared class sizes, and n for each row that is all ``*``, over n squared (Bayardo and Agrawal 2005)."""
    rows, stars = classes.table.rows, int(classes.suppressed.sum())
    sizes = np.bincount(classes.groups[~classes.suppressed]).astype(np.float64)
    return (float((sizes**2).sum()) + float(stars) * rows) / float(rows) ** 2


def class_size(classes: Classes) -> tuple[int, float]:
    """How many classes there are, and rows in one on average; rows that are all ``*`` are neither."""
    sizes = np.bincount(classes.groups[~classes.suppressed])
    sizes = sizes[sizes > 0]
    return len(sizes), float(sizes.mean())


def _rows(case: Case) -> Finding:
    ours, before = case.release.rows, case.train.rows
    if ours > before:
        return SUPPRESSED_ROWS.finding(
            None, n=before, note=f"the release has more rows ({ours:,}) than the training table ({before:,})"
        )
    if ours == before and not case.generalized:
        note = "the release has as many rows as the training table; whether they stand for the same people is not known"
        return SUPPRESSED_ROWS.finding(None, n=before, note=note)
    note = f"{ours:,} of {before:,} rows are released"
    if not case.generalized:
        note += "; no cell is generalized: if the rows are synthetic, a smaller table may have been asked for"
    return SUPPRESSED_ROWS.finding(1 - ours / before, n=before, note=note)


def absent(case: Case) -> list[str]:
    """The columns that could be released and were not; identifiers, keys and texts never are."""
    return [c.name for c in case.train.schema if releasable(c) and c.name not in case.release.schema]


def releasable(column: Column) -> bool:
    """Whether a release may be expected to have it."""
    return column.role is not Role.IDENTIFIER and column.kind not in FREE


def _columns(case: Case) -> Finding:
    gone, n = absent(case), sum(map(releasable, case.train.schema))
    note = f"{n - len(gone)} of {n} columns are released; not released: {', '.join(gone) or 'none'}"
    return MISSING_COLUMNS.finding(len(gone) / n, n=n, baseline=0.0, note=note, detail={"columns": gone})


def _hidden(case: Case) -> list[Finding]:
    """The whole, then the columns that hide anything."""
    gone = absent(case)
    parts = {name: (hidden(case.release, case.train, name), hidden(case.control, case.train, name)) for name in case.columns}
    parts |= dict.fromkeys(gone, (1.0, 0.0))
    release, control = (float(np.mean([part[side] for part in parts.values()])) for side in (0, 1))
    note = f"of the cells of {len(parts)} columns; a cell is newly missing where a column misses more than in the training rows"
    if gone:
        note += f"; all cells of {len(gone)} columns that were not released count as hidden"
    whole = SUPPRESSED_CELLS.finding(release, n=case.release.rows * len(parts), baseline=control, note=note)
    why = ("* or newly missing", "not released")
    columns = [
        SUPPRESSED_CELLS.finding(
            ours, n=case.release.rows, baseline=fresh, interval=_missing(case, name, ours), note=why[name in gone], scope=name
        )
        for name, (ours, fresh) in parts.items()
        if ours > 0
    ]
    return [whole, *columns]


def _missing(case: Case, name: str, value: float) -> tuple[float, float]:
    """The interval of what is hidden: missing values are as many as chance makes them, in both tables; ``*`` is put on purpose."""
    if name not in case.release.schema:
        return 1.0, 1.0
    share = float(case.release.missing(name).mean())
    radius = NORMAL * np.sqrt(share * (1 - share) * (1 / case.release.rows + 1 / case.train.rows))
    return max(0.0, value - radius), min(1.0, value + radius)


def hidden(table: Table, before: Table, name: str) -> float:
    """The share of ``*`` in a column, and by how much its missing share exceeds that of the rows before."""
    domain, stars = table.schema[name].domain, 0.0
    if isinstance(domain, Cells):
        stars = float(np.array([*(cell.anything for cell in domain.cells), False])[table[name].astype(np.int64)].mean())
    return stars + max(0.0, float(table.missing(name).mean() - before.missing(name).mean()))


def _variances(case: Case, rng: np.random.Generator) -> list[Finding]:
    columns = [name for name in case.columns if case.train.schema[name].kind in NUMBERS]
    if not columns:
        return [VARIANCE.finding(None, n=0, note="there is no column of numbers or dates")]
    lots = {which: rng.permutation(table.rows) % LOTS for which, table in case.tables.items()}
    ratios = {name: _ratios(case, name, lots) for name in columns}
    findings = [_variance(case, name, ratios[name]) for name in columns]
    known = [f for f in findings if f.value is not None]
    if not known:
        return [VARIANCE.finding(None, n=0, note="; ".join(f.note for f in findings)), *findings]
    grown = sum(f.detail["ratio"] > 1 for f in known)
    note = f"mean over {len(known)} columns of numbers and dates, cells counting as their middle" + (
        f"; {grown} of them vary more than in the training rows, and count as 0" if grown else ""
    )
    bases = [f.baseline for f in known if f.baseline is not None]
    base = float(np.mean(bases)) if bases else None
    lines = np.mean([np.clip(1 - ratios[f.scope], 0.0, 1.0) for f in known], axis=0)
    return [
        VARIANCE.finding(float(lines[0]), n=len(known), baseline=base, interval=_interval(lines), note=note),
        *findings,
    ]


def _ratios(case: Case, name: str, lots: Mapping[str, Integers]) -> Floats:
    """The variance of the release over that of the training rows: of all rows, then without each lot of them."""
    with np.errstate(invalid="ignore", divide="ignore"):
        release, train = (_spreads(_values(case, name, which), lots[which]) for which in ("release", "train"))
        return np.where(train > 0, release / train, np.nan)


def _spreads(values: Floats, lots: Integers) -> Floats:
    """The variance of the values that are present, then without each lot; NaN where none is left."""
    known = ~np.isnan(values)
    centred = values[known] - (values[known].mean() if known.any() else 0.0)
    sums = [np.bincount(lots[known], centred**power, minlength=LOTS) for power in (0, 1, 2)]
    rows, first, second = (np.append(total.sum(), total.sum() - total) for total in sums)
    return np.asarray(second / rows - (first / rows) ** 2)


def _interval(lost: Floats) -> tuple[float, float]:
    """Of a share, from the same without each lot; NaN, hence none, where a lot has all values."""
    radius = jackknife(lost)
    low, high = (float(np.clip(lost[0] + side * radius, 0.0, 1.0)) for side in (-1, 1))
    return low, high


def _values(case: Case, name: str, which: str) -> Floats:
    return middles(case.tables[which], name, case.ordinary().schema[name])


def _variance(case: Case, name: str, ratios: Floats) -> Finding:
    words = {"train": "training rows", "release": "release", "control": "control rows"}
    values = {word: _known(_values(case, name, which)) for which, word in words.items()}
    n = len(values["release"])

    def reason(why: str) -> Finding:
        return VARIANCE.finding(None, n=n, note=f"{name}: {why}", scope=name)

    if not n or not len(values["training rows"]):
        return reason(f"all values of the {'training rows' if n else 'release'} are missing")
    before = float(values["training rows"].var())
    if not before > 0:
        return reason("all training rows have the same value")
    ratio = float(values["release"].var()) / before
    fresh = values["control rows"]
    base = max(0.0, 1 - float(fresh.var()) / before) if len(fresh) else None
    note = f"{1 - ratio:.1%} of the variance is gone" if ratio <= 1 else f"the variance is {ratio:.3g} times as large: none is gone"
    return VARIANCE.finding(
        max(0.0, 1 - ratio), n=n, baseline=base, interval=_interval(1 - ratios), note=note, scope=name, detail={"ratio": ratio}
    )


def middles(table: Table, name: str, plain: Column) -> Floats:
    """The numbers of a column, cells as the mean of their values; NaN where missing."""
    column = table.schema[name]
    if not isinstance(column.domain, Cells):
        return table.floats(name)
    return np.append(Spans.of(column.domain.cells, plain).middle, np.nan)[table[name].astype(np.int64)]


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]
