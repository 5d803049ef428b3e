"""Syntactic properties of the release: k-anonymity, l-diversity, t-closeness, unique rows, bounds on re-identification."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from hushtable.audits.matching import finite_ends
from hushtable.errors import InputError
from hushtable.evidence.attack import of_hundred
from hushtable.evidence.finding import Audit, Better, Finding, Subject, uncomputed
from hushtable.privacy.criteria import Classes, distinct_l, entropy_l, has_order, k_anonymity, recursive_l, t_closeness
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import identities

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

REAL = "if released rows are those of real people, "
"""For synthetic rows such a bound says nothing: there is nobody to link them to."""
CAPS = (2, 3, 5, 10, 20)
"""The share of rows whose probability of being linked is above one in each of these is reported."""


@dataclass(frozen=True, kw_only=True)
class Properties(Audit):
    """Measured on the quasi-identifiers that the release has; a class is all released rows that are written alike on them.

    Upper bounds on the probability that somebody who knows a person's quasi-identifiers links the right row to them (K. El Emam,
    Guide to the De-Identification of Personal Health Information, 2013): the *prosecutor* knows that the person is in the
    table, and a class of f rows gives 1/f; the *journalist* does not, and a class that fits F people of the population
    gives 1/F; the *marketer* links every row, and succeeds for classes/rows of them on average. The population here is
    what is known of it, training and control people together: the true one is larger, and the true risk smaller.

    They are measurements, not attacks, and have no test. For synthetic rows they show how rare a row is, not whose it is: a
    unique synthetic row may be nobody's, and a synthetic row in a large class may still be a copy of somebody's.
    """

    quasi: tuple[str, ...] = ()
    """The columns an attacker knows; the declared quasi-identifiers when empty."""

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """k, uniqueness and the three bounds; l and t of each secret."""
        schema = case.train.schema
        for name in self.quasi:
            if name not in schema:
                raise InputError(f"there is no column {name!r} in the training rows", where="Properties")
        asked = self.quasi or schema.quasi
        quasi = tuple(name for name in asked if name in case.release.schema)
        if not quasi:
            return [uncomputed("k-anonymity", case.release.rows, _why(asked), scope="")]
        # A release does not say who holds its rows: both sides are counted by rows.
        released, original = (Classes(table.held_by(None), quasi) for table in (case.release, case.train))
        secrets = [name for name in schema.secrets if name in case.release.schema and name not in quasi]
        return [*_classes(released, original), _journalist(case, quasi), *(f for s in secrets for f in _secret(released, s))]


def _why(asked: tuple[str, ...]) -> str:
    if not asked:
        return "no column is declared as a quasi-identifier, so there are no classes of equal rows"
    return f"the release has none of the quasi-identifiers ({', '.join(asked)}): nobody can be identified by them"


def _classes(released: Classes, original: Classes) -> Iterator[Finding]:
    sizes, rows = released.sizes, int(released.sizes.sum())
    k, real = k_anonymity(released), k_anonymity(original)
    detail: dict[str, Any] = {"quasi": list(released.quasi), "classes": len(sizes), "suppressed": int(released.suppressed.sum())}
    on = f"on {len(released.quasi)} quasi-identifiers"
    yield _measured(
        "k-anonymity", float(k), rows, better=Better.HIGHER, detail=detail | {"train": real},
        note=f"the smallest class of released rows that are equal {on} has {_rows(k)}, that of training rows {_rows(real)}",
    )  # fmt: skip
    alone, before = (float((s == 1).sum() / s.sum()) for s in (sizes, original.sizes))
    yield _measured(
        "unique rows", alone, rows, detail=detail | {"train": before},
        note=f"{of_hundred(alone)} released rows, and {of_hundred(before)} training rows, are unique {on}; "
        "for synthetic rows this shows how rare a row is, not whose row it is",
    )  # fmt: skip
    above = {f"1/{cap}": float(sizes[sizes < cap].sum() / rows) for cap in CAPS}
    yield _measured(
        "prosecutor risk", 1 / k, rows, detail={"average": len(sizes) / rows, "share above": above},
        note=f"{REAL}an attacker who knows a person's quasi-identifiers, and that the person is in the table, links the right row "
        f"to the person with a probability of at most 1 in {k}, and of {len(sizes) / rows:.2g} on average; for "
        f"{of_hundred(above['1/5'])} rows it is above 1 in 5",
    )  # fmt: skip
    yield _measured(
        "marketer risk", len(sizes) / rows, rows, detail={"classes": len(sizes)},
        note=f"{REAL}an attacker who links every row to somebody with its quasi-identifiers is right for at most "
        f"{of_hundred(len(sizes) / rows)} rows on average",
    )  # fmt: skip


def _journalist(case: Case, quasi: tuple[str, ...]) -> Finding:
    rows = case.release.rows
    fits = _people(case, quasi)
    nobody = int((fits == 0).sum())
    if nobody == rows:
        reason = "no released row matches a training or control person on all quasi-identifiers, so there is nobody to link it to"
        return uncomputed("journalist risk", rows, reason)
    fewest = int(fits[fits > 0].min())
    above = {f"1/{cap}": float(((fits > 0) & (fits < cap)).mean()) for cap in CAPS}
    return _measured(
        "journalist risk", 1 / fewest, rows,
        detail={"fewest": fewest, "fit_nobody": nobody, "population": sum(side.count for side in case.sides), "share above": above},
        note=f"{REAL}an attacker who knows a person's quasi-identifiers, but not that the person is in the table, links the right "
        f"row to the person with a probability of at most 1 in {fewest}, if training and control people are taken for the whole "
        f"population (the true one is larger); {of_hundred(nobody / rows)} rows match nobody in it",
    )  # fmt: skip


def _people(case: Case, quasi: tuple[str, ...]) -> Integers:
    """For each released row how many training and control people it covers on these columns: cells are matched as sets.

    People are grouped by what is written plainly in all tables and sorted along one number within their group, so that
    each class is compared only with those of its own group and interval.
    """
    classes, _ = case.release.groups(quasi)
    _, first = np.unique(classes, return_index=True)
    cells = [case.points(which, quasi).cells for which in ("release", "train", "control")]
    codes, sets, low, high = (np.concatenate([getattr(own, part) for own in cells]) for part in ("codes", "sets", "low", "high"))
    low, high = finite_ends(low, high)
    n, plain = case.release.rows, (low == high).all(axis=0)
    group = identities((*codes.T, *low[:, plain].T), len(low))
    sharp = {int(c): np.unique(low[n:, c]) for c in np.flatnonzero(~plain) if (low[n:, c] == high[n:, c]).all()}
    along = max(sharp, key=lambda c: len(sharp[c]), default=None)
    if along is None:
        values, first_end, last_end = np.zeros(1), np.zeros(len(group)), np.zeros(len(group))
    else:
        values, first_end, last_end = sharp[along], low[:, along], high[:, along]
    least, beyond = np.searchsorted(values, first_end, side="left"), np.searchsorted(values, last_end, side="right")
    width = len(values) + 1
    places = group[n:] * width + least[n:]
    order = n + np.argsort(places, kind="stable")
    begin, end = (np.searchsorted(np.sort(places), group[first] * width + part[first]) for part in (least, beyond))
    one, other = case.sides
    single = one.persons is None
    if plain.all() and not sets.shape[1] and single:
        return np.asarray((end - begin)[classes], np.int64)
    who = np.concatenate([one.who, one.count + other.who])[order - n]
    theirs, ours = (_Cells(low[:, ~plain][rows], high[:, ~plain][rows], sets[rows]) for rows in (order, first))
    counts: Integers = _covered(begin, end, ours, theirs, who, single, case.encoding(quasi).set_starts)
    return counts[classes]


class _Cells(NamedTuple):
    """Cells of several rows: the ends of their intervals, and their sets of levels as bits."""

    low: Floats
    high: Floats
    sets: NDArray[np.uint64]


@njit(cache=True, parallel=True)
def _covered(begin, end, classes, people, who, single, starts):  # type: ignore[no-untyped-def]
    """For each class how many of the people with rows from ``begin`` to ``end`` meet all its cells; ``single``: a row each."""
    # The arrays by themselves: a tuple of arrays is counted anew at every touch.
    low, high, sets = classes.low, classes.high, classes.sets
    p_low, p_high, p_sets = people.low, people.high, people.sets
    counts = np.zeros(len(begin), np.int64)
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
                met[counts[i]] = who[j]
            counts[i] += meet
        if not single:
            counts[i] = len(np.unique(met[: counts[i]]))
    return counts


def _secret(classes: Classes, secret: str) -> Iterator[Finding]:
    rows, ordered = classes.table.rows, has_order(classes.table.schema[secret])
    fewest, t = distinct_l(classes, secret), t_closeness(classes, secret, ordered=ordered)
    yield _measured(
        "l-diversity", float(fewest), rows, scope=secret, better=Better.HIGHER,
        detail={"entropy": entropy_l(classes, secret), "recursive_c2": recursive_l(classes, secret, 2.0)},
        note=f"every class of released rows holds at least {fewest} different values of {secret}"
        if fewest > 1
        else f"some class of released rows holds a single value of {secret}: for everybody in that class it is disclosed",
    )  # fmt: skip
    yield _measured(
        "t-closeness", t, rows, scope=secret, detail={"distance": "ordered" if ordered else "equal"},
        note=f"the distribution of {secret} within a class of released rows differs from that in the whole release by up to "
        f"{t:.2g} (0 is equal, 1 is the most there can be)",
    )  # fmt: skip


def _measured(name: str, value: float, rows: int, *, note: str, better: Better = Better.LOWER, **more: Any) -> Finding:
    return Finding(name=name, value=value, better=better, subject=Subject.PRIVACY, n=rows, note=note, **more)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
