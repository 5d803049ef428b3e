"""Properties of the release as it is written: k, l, t, uniqueness, and the caps on re-identification that follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.errors import InputError
from hushtable.evidence.attack import of_hundred
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Better, Finding, Subject, uncomputed
from hushtable.privacy.criteria import Classes, distinct_l, entropy_l, has_order, k_anonymity, recursive_l, t_closeness
from hushtable.table.table import identities

REAL = "where released rows are those of real people, "
"""Of synthetic rows a cap says nothing: there is nobody to link them to."""
CAPS = (2, 3, 5, 10, 20)
"""Shares of rows are told whose chance of being linked is above one in each of these."""


@dataclass(frozen=True, kw_only=True)
class Properties(Audit):
    """Measured on the quasi-identifiers that the release has; a class is all released rows that are written alike on them.

    Caps on the chance that somebody who knows a person's quasi-identifiers links the right row to them (K. El Emam,
    Guide to the De-Identification of Personal Health Information, 2013): the *prosecutor* knows that the person is in the
    table, and a class of f rows gives 1/f; the *journalist* does not, and a class that fits F people of the population
    gives 1/F; the *marketer* links every row, and succeeds for classes/rows of them on average. The population here is
    what is known of it, training and control people together: the true one is larger, and the true risk smaller.

    They are measurements, no attacks, and have no test. Of rows that were made up they say how rare a row is, not whose it
    is: a unique synthetic row may be nobody, and a synthetic row in a large class may still be somebody's copy.
    """

    quasi: tuple[str, ...] = ()
    """The columns an attacker knows; the declared quasi-identifiers when empty."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """k, uniqueness and the three caps; l and t of each secret."""
        schema = case.train.schema
        for name in self.quasi:
            if name not in schema:
                raise InputError(f"there is no column {name!r} in the training rows", where="Properties")
        asked = self.quasi or schema.quasi
        quasi = tuple(name for name in asked if name in case.release.schema)
        if not quasi:
            return [uncomputed("k-anonymity", case.release.rows, _why(asked), scope="")]
        # Whose rows are whose, a release does not say: both sides are counted by rows.
        released, original = (Classes(table.held_by(None), quasi) for table in (case.release, case.train))
        secrets = [name for name in schema.secrets if name in case.release.schema and name not in quasi]
        return [*_classes(released, original), _journalist(case, quasi), *(f for s in secrets for f in _secret(released, s))]


def _why(asked: tuple[str, ...]) -> str:
    if not asked:
        return "no column is declared a quasi-identifier, so there is nothing that classes could be made of"
    return f"the release has none of the quasi-identifiers ({', '.join(asked)}): nobody can be told apart by them"


def _classes(released: Classes, original: Classes) -> Iterator[Finding]:
    sizes, rows = released.sizes, int(released.sizes.sum())
    k, real = k_anonymity(released), k_anonymity(original)
    detail: dict[str, Any] = {"quasi": list(released.quasi), "classes": len(sizes), "suppressed": int(released.suppressed.sum())}
    on = f"on {len(released.quasi)} quasi-identifiers"
    yield _measured(
        "k-anonymity", float(k), rows, better=Better.HIGHER, detail=detail | {"train": real},
        note=f"the smallest class of released rows that are alike {on} has {_rows(k)}, that of the training rows {_rows(real)}",
    )  # fmt: skip
    alone, before = (float((s == 1).sum() / s.sum()) for s in (sizes, original.sizes))
    yield _measured(
        "unique rows", alone, rows, detail=detail | {"train": before},
        note=f"{of_hundred(alone)} released rows are alone in their class {on}, and {of_hundred(before)} training rows; "
        "of synthetic rows this says how rare they are, not whose",
    )  # fmt: skip
    above = {f"1/{cap}": float(sizes[sizes < cap].sum() / rows) for cap in CAPS}
    yield _measured(
        "prosecutor risk", 1 / k, rows, detail={"average": len(sizes) / rows, "share above": above},
        note=f"{REAL}whoever knows that a person is in the table, and their quasi-identifiers, links a row to them with a chance "
        f"of at most 1 in {k}, and of {len(sizes) / rows:.2g} on average; {of_hundred(above['1/5'])} rows lie above 1 in 5",
    )  # fmt: skip
    yield _measured(
        "marketer risk", len(sizes) / rows, rows, detail={"classes": len(sizes)},
        note=f"{REAL}whoever links every one to somebody with its quasi-identifiers is right for at most "
        f"{of_hundred(len(sizes) / rows)} of them on average",
    )  # fmt: skip


def _journalist(case: Case, quasi: tuple[str, ...]) -> Finding:
    rows = case.release.rows
    fits = _people(case, quasi)
    nobody = int((fits == 0).sum())
    if nobody == rows:
        reason = "no released row fits any person known here on all quasi-identifiers, so there is nobody to link it to"
        return uncomputed("journalist risk", rows, reason)
    fewest = int(fits[fits > 0].min())
    above = {f"1/{cap}": float(((fits > 0) & (fits < cap)).mean()) for cap in CAPS}
    return _measured(
        "journalist risk", 1 / fewest, rows,
        detail={"fewest": fewest, "fit_nobody": nobody, "population": sum(side.count for side in case.sides), "share above": above},
        note=f"{REAL}whoever does not know that a person is in the table links a row to them with a chance of at most "
        f"1 in {fewest}, taking training and control people for the whole population (the true one is larger); "
        f"{of_hundred(nobody / rows)} rows fit nobody in it",
    )  # fmt: skip


def _people(case: Case, quasi: tuple[str, ...]) -> NDArray[np.int64]:
    """For each released row how many training and control people it covers on these columns: cells are matched as sets.

    People are grouped by what is written plainly in all tables and sorted along one number within their group, so that
    each class looks only at those of its own group and interval.
    """
    classes, _ = case.release.groups(quasi)
    _, first = np.unique(classes, return_index=True)
    cells = [case.points(which, quasi).cells for which in ("release", "train", "control")]
    codes, sets, low, high = (np.concatenate([getattr(own, part) for own in cells]) for part in ("codes", "sets", "low", "high"))
    low, high = _ends(low, high)
    n, plain = case.release.rows, (low == high).all(axis=0)
    group = identities((*codes.T, *low[:, plain].T), len(low))
    sharp = {int(c): np.unique(low[n:, c]) for c in np.flatnonzero(~plain) if (low[n:, c] == high[n:, c]).all()}
    along = max(sharp, key=lambda c: len(sharp[c]), default=None)
    values, *ends = (sharp[along], low[:, along], high[:, along]) if along is not None else (np.zeros(1), group * 0.0, group * 0.0)
    least, beyond = (np.searchsorted(values, part, side=side) for part, side in zip(ends, ("left", "right"), strict=True))
    width = len(values) + 1
    places = group[n:] * width + least[n:]
    order = n + np.argsort(places, kind="stable")
    begin, end = (np.searchsorted(np.sort(places), group[first] * width + part[first]) for part in (least, beyond))
    one, other = case.sides
    single = one.persons is None
    if plain.all() and not sets.shape[1] and single:
        return (end - begin)[classes]
    who = np.concatenate([one.who, one.count + other.who])[order - n]
    theirs, ours = (tuple(part[rows] for part in (low[:, ~plain], high[:, ~plain], sets)) for rows in (order, first))
    return _covered(begin, end, *ours, *theirs, who, single, case.encoding(quasi).set_starts)[classes]


def _ends(low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of intervals, finite but for the cell that covers missing values too; those lie beyond all finite ends."""
    anything = (low == -np.inf) & (high == np.inf)
    low, high = (np.where(anything, ends, np.clip(ends, -1e300, 1e300)) for ends in (low, high))
    return np.where(np.isnan(low), -2e300, low), np.where(np.isnan(high), -2e300, high)


@njit(cache=True, parallel=True)
def _covered(begin, end, low, high, sets, p_low, p_high, p_sets, who, single, starts):  # type: ignore[no-untyped-def]
    """For each class how many of the people with rows from ``begin`` to ``end`` meet all its cells; ``single``: a row each."""
    found = np.zeros(len(begin), np.int64)
    for i in prange(len(begin)):
        met = np.empty(0 if single else end[i] - begin[i], np.int64)
        for j in range(begin[i], end[i]):
            meet = True
            for c in range(low.shape[1]):
                meet = meet and low[i, c] <= p_high[j, c] and p_low[j, c] <= high[i, c]
            for c in range(len(starts) - 1):
                if not meet:
                    break
                meet = False
                for w in range(starts[c], starts[c + 1]):
                    meet = meet or sets[i, w] & p_sets[j, w] != 0
            if meet and not single:
                met[found[i]] = who[j]
            found[i] += meet
        if not single:
            found[i] = len(np.unique(met[: found[i]]))
    return found


def _secret(classes: Classes, secret: str) -> Iterator[Finding]:
    rows, ordered = classes.table.rows, has_order(classes.table.schema[secret])
    fewest, t = distinct_l(classes, secret), t_closeness(classes, secret, ordered=ordered)
    yield _measured(
        "l-diversity", float(fewest), rows, scope=secret, better=Better.HIGHER,
        detail={"entropy": entropy_l(classes, secret), "recursive_c2": recursive_l(classes, secret, 2.0)},
        note=f"every class of released rows holds at least {fewest} different values of {secret}"
        if fewest > 1
        else f"some class of released rows holds no more than one value of {secret}: whoever is in it is given away",
    )  # fmt: skip
    yield _measured(
        "t-closeness", t, rows, scope=secret, detail={"distance": "ordered" if ordered else "equal"},
        note=f"the distribution of {secret} in a class of released rows differs by up to {t:.2g} (of 1) from that in all of them",
    )  # fmt: skip


def _measured(name: str, value: float, rows: int, *, note: str, better: Better = Better.LOWER, **more: Any) -> Finding:
    return Finding(name=name, value=value, better=better, subject=Subject.PRIVACY, n=rows, note=note, **more)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
