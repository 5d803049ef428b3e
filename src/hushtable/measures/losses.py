"""What anonymization takes away: wide cells, large classes, hidden cells, missing rows, and variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding
from hushtable.measures.catalogue import CLASS_SIZE, DISCERNIBILITY, GENERALIZATION, SUPPRESSED_CELLS, SUPPRESSED_ROWS, VARIANCE
from hushtable.measures.cells import Spans, penalties
from hushtable.privacy.criteria import Classes
from hushtable.table.columns import NUMBERS, Cells, Column, Role
from hushtable.table.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Losses(Audit):
    """The losses that anonymizers are compared by.

    Generalization loss is the normalized certainty penalty (Xu et al. 2006), a mean over the cells of quasi-identifiers and
    other generalized columns. Discernibility (Bayardo and Agrawal 2005) and average class size (LeFevre et al. 2006) look at
    the rows that are equal on the quasi-identifiers. Variance lost is 1 less the variance of the release over that of the
    training rows, cells counting as their middle: where groups of rows were replaced by their means it is SSE / SST, the
    information loss of microaggregation; where noise made the variance larger it is 0, and the note says so. The baseline of
    the classes is the training table itself, for classes grow with the rows; of the others, the control rows.
    """

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """Six findings for the table, then what each column lost."""
        wide, variance, hidden = _generalization(case), _variances(case), _hidden(case)
        return [wide[0], *_classes(case), _rows(case), hidden[0], variance[0], *wide[1:], *hidden[1:], *variance[1:]]


def quasi(case: Case) -> list[str]:
    """The quasi-identifiers that the release has."""
    return [name for name in case.columns if case.train.schema[name].role is Role.QUASI]


def _generalization(case: Case) -> list[Finding]:
    release = case.release.schema
    if not case.generalized:
        note = "no column of the release is generalized: every cell is one value, and the distances tell how far it moved"
        return [GENERALIZATION.finding(None, n=0, note=note)]
    own = quasi(case)
    columns = [name for name in case.columns if release[name].generalized or name in own]
    found = []
    for name in columns:
        values, present = generalization(case, name), int((~case.release.missing(name)).sum())
        note = "the mean width of a cell, as a share of the domain" if present else f"{name}: the release has no value"
        found.append(GENERALIZATION.finding(values, n=present, note=note, scope=name))
    told = [f.value for f in found if f.value is not None]
    note = f"mean over {len(told)} columns: quasi-identifiers, and others that are generalized; missing cells are not counted"
    absent = [c.name for c in case.train.schema if c.role is Role.QUASI and c.name not in release]
    if absent:
        note += f"; not released at all: {', '.join(absent)}"
    return [GENERALIZATION.finding(float(np.mean(told)) if told else None, n=len(told), note=note), *found]


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
        reason = "no column of the release has the role quasi: there are no classes of rows that look alike"
        return [measure.finding(None, n=0, note=reason) for measure in (DISCERNIBILITY, CLASS_SIZE)]
    ours, before = (Classes(table, tuple(names)) for table in (case.release, case.train))
    stars = int(ours.suppressed.sum())
    kept, size = class_size(ours)
    hidden = f"; {stars:,} rows with * in all of them cannot be told from any row" if stars else ""
    left = f", {stars:,} rows with * in all of them left out" if stars else ""
    return [
        DISCERNIBILITY.finding(
            discernibility(ours), n=rows, baseline=discernibility(before),
            note=f"the sum of squared class sizes on {len(names)} quasi-identifiers, over the square of {rows:,} rows{hidden}; "
            "the baseline is the training table",
        ),
        CLASS_SIZE.finding(
            size, n=rows, baseline=class_size(before)[1],
            note=f"{kept:,} classes{left}; divided by k it is C_avg of LeFevre et al.; the baseline is the training table",
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
        note = "the release has as many rows as the training table; whether they stand for the same people cannot be told from it"
        return SUPPRESSED_ROWS.finding(None, n=before, note=note)
    note = f"{ours:,} of {before:,} rows are released"
    if not case.generalized:
        note += "; no cell is generalized: if the rows are synthetic, a smaller table may have been asked for"
    return SUPPRESSED_ROWS.finding(1 - ours / before, n=before, note=note)


def _hidden(case: Case) -> list[Finding]:
    """The whole, then the columns that hide anything."""
    parts = {name: (hidden(case.release, case.train, name), hidden(case.control, case.train, name)) for name in case.columns}
    release, control = (float(np.mean([part[side] for part in parts.values()])) for side in (0, 1))
    note = f"of the cells of {len(parts)} columns; a cell is newly missing where a column misses more than in the training rows"
    whole = SUPPRESSED_CELLS.finding(release, n=case.release.rows * len(parts), baseline=control, note=note)
    columns = [
        SUPPRESSED_CELLS.finding(ours, n=case.release.rows, baseline=fresh, note="* or newly missing", scope=name)
        for name, (ours, fresh) in parts.items()
        if ours > 0
    ]
    return [whole, *columns]


def hidden(table: Table, before: Table, name: str) -> float:
    """The share of ``*`` in a column, and by how much its missing share exceeds that of the rows before."""
    domain, stars = table.schema[name].domain, 0.0
    if isinstance(domain, Cells):
        stars = float(np.array([*(cell.anything for cell in domain.cells), False])[table[name].astype(np.int64)].mean())
    return stars + max(0.0, float(table.missing(name).mean() - before.missing(name).mean()))


def _variances(case: Case) -> list[Finding]:
    columns = [name for name in case.columns if case.train.schema[name].kind in NUMBERS]
    if not columns:
        return [VARIANCE.finding(None, n=0, note="there is no column of numbers or dates")]
    found = [_variance(case, name) for name in columns]
    told = [f for f in found if f.value is not None]
    if not told:
        return [VARIANCE.finding(None, n=0, note="; ".join(f.note for f in found)), *found]
    grown = sum(f.detail["ratio"] > 1 for f in told)
    note = f"mean over {len(told)} columns of numbers and dates, cells counting as their middle" + (
        f"; {grown} of them vary more than in the training rows, and count as 0" if grown else ""
    )
    bases = [f.baseline for f in told if f.baseline is not None]
    base = float(np.mean(bases)) if bases else None
    return [VARIANCE.finding(float(np.mean([f.value for f in told])), n=len(told), baseline=base, note=note), *found]


def _variance(case: Case, name: str) -> Finding:
    tables = {"training rows": case.train, "release": case.release, "control rows": case.control}
    plain = case.ordinary().schema[name]
    values = {which: _known(middles(table, name, plain)) for which, table in tables.items()}
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
    return VARIANCE.finding(max(0.0, 1 - ratio), n=n, baseline=base, note=note, scope=name, detail={"ratio": ratio})


def middles(table: Table, name: str, plain: Column) -> Floats:
    """The numbers of a column, cells as the mean of their values; NaN where missing."""
    column = table.schema[name]
    if not isinstance(column.domain, Cells):
        return table.floats(name)
    return np.append(Spans.of(column.domain.cells, plain).middle, np.nan)[table[name].astype(np.int64)]


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]
