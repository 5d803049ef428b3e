"""Singling out: descriptions read off the release that fit exactly one person (C2; Article 29 Working Party, opinion 05/2014)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hushtable.audits.predicates import Book
from hushtable.audits.rank_coding import Cells, Ints, Places, Span
from hushtable.errors import InputError
from hushtable.evidence.attack import Scenario, judge
from hushtable.evidence.confidence import clopper_pearson, fisher, gain, observed, residual_risk, wilson
from hushtable.evidence.finding import Audit, Finding, Risk, Trace, uncomputed
from hushtable.evidence.persons import People
from hushtable.table.arrays import Integers, Mask

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

PEOPLE = ("train", "control")


@dataclass(frozen=True, kw_only=True)
class SinglingOut(Audit):
    """Whether descriptions that match a single released row single out one person, more often than among people not in the table.

    Every released row draws columns at random and describes a person by what it holds there: ``>= v`` for a number above
    the median of the release, ``<= v`` for another, ``= v`` for a level, "is missing", the cell itself where it is
    generalized; ``*`` says nothing. With one column: the least and the greatest number, and what occurs once. Descriptions
    that fit another released row too are dropped (the predicates of Giomi et al., PoPETs 2023, after Cohen and Nissim,
    PNAS 2020). Descriptions by exact values, ``= v`` for numbers too, are beyond them: rarely met by chance, they detect a
    few copied rows that the others cannot.

    A description succeeds on a table if exactly one of its people fits, by any of their rows, and copies held by others count.
    How often that happens by chance depends on the number of people, so rates are those on as many training as control
    people, drawn where there are more.
    Their intervals are Wilson's, with the number of descriptions reduced to what they are worth, because descriptions by
    one and the same released row succeed together (the design effect of clusters; Kish 1965): never more than released rows.

    The test is exact. A person is *alone* if some description fits nobody else among training and control people together.
    Descriptions come from the release, so who is alone does not depend on which of these people were the training people;
    where they are exchangeable, the number of training people among the lone is hypergeometric. That is Fisher's test on
    people: valid at any sizes and however descriptions overlap, which a test on successes is not.
    """

    by_knowledge = True

    columns: tuple[int, ...] = (3, 4, 5, 6, 8, 12)
    """How many columns a description has; at most those of the table. One column is always tried."""
    exact: tuple[int, ...] = (6, 12)
    """The same for descriptions by exact values."""
    rounds: int = 32
    """How often a released row may draw columns; no more once there are half as many descriptions as released rows."""

    def __post_init__(self) -> None:
        """At least two columns, at least one round."""
        if any(k < 2 for k in (*self.columns, *self.exact)) or self.rounds < 1:
            raise InputError("descriptions have at least 2 columns, and there is at least 1 round", where="SinglingOut")

    def run(self, case: Case, rng: np.random.Generator) -> list[Finding]:
        """A finding for one column, and one for each number of columns, by ranges and by exact values."""
        attack = _Attack.on(case, rng)
        several, exact = (sorted({min(k, len(case.columns)) for k in sizes} - {1}) for sizes in (self.columns, self.exact))
        findings = [attack.by_one_column(), *(attack.by_ranges(k, self.rounds) for k in several)]
        # Where no column holds plain numbers, both are the same descriptions.
        if any(cells.above is not None for cells in attack.places.cells):
            findings += [attack.by_values(k, self.rounds) for k in exact]
        return findings


@dataclass(frozen=True, eq=False)
class _Attack:
    """A case under attack."""

    case: Case
    places: Places
    people: dict[str, People]
    common: int
    """People of the smaller table: so many of each are attacked."""
    order: dict[str, Integers]
    """The rows of each table of people, those of the people who are attacked first."""
    attacked: dict[str, int]
    """How many rows they hold."""
    rng: np.random.Generator

    @classmethod
    def on(cls, case: Case, rng: np.random.Generator) -> _Attack:
        people = {which: case.people(which) for which in PEOPLE}
        common = min(own.count for own in people.values())
        persons = {w: rng.permutation(own.count) if own.count > common else np.arange(own.count) for w, own in people.items()}
        order = {which: own.rows_of(persons[which]) for which, own in people.items()}
        attacked = {which: int(own.held[persons[which][:common]].sum()) for which, own in people.items()}
        return cls(case, Places.of(case), people, common, order, attacked, rng)

    def by_one_column(self) -> Finding:
        book = self._book(_ends_and_rarities)
        candidates = np.arange(len(book.conditions.column), dtype=np.int32)[:, None]
        source, another = book.first_two(candidates, "release")
        alone = another == self.case.release.rows
        return self._judged("one column", book, candidates[alone], source[alone], self._book(_guesses))

    def by_ranges(self, k: int, rounds: int) -> Finding:
        book = self._book(_ranges)
        return self._judged(f"{k} columns", book, *book.lone(self._own, k, rounds, self.rng), self._book(_guesses))

    def by_values(self, k: int, rounds: int) -> Finding:
        book = self._book(_values)
        return self._judged(f"{k} exact values", book, *book.lone(self._own, k, rounds, self.rng), self._book(_known_values))

    @cached_property
    def _own(self) -> Ints:
        """For each released row the number of its condition on each column, -1 for ``*``."""
        own, start = [], 0
        for cells in self.places.cells:
            own.append(np.where(cells.anything, -1, start + np.arange(len(cells.low)))[cells.of_row])
            start += len(cells.low)
        return np.stack(own, axis=1).astype(np.int32)

    @cached_property
    def _books(self) -> dict[Callable[[Cells], Span], Book]:
        return {}

    def _book(self, of_cells: Callable[[Cells], Span]) -> Book:
        if of_cells not in self._books:
            self._books[of_cells] = Book.of(self.places, self.order, self.people, of_cells)
        return self._books[of_cells]

    def _judged(self, size: str, book: Book, predicates: Ints, sources: Integers, blind: Book) -> Finding:
        name, case = f"singling out by {size}", self.case
        if not len(predicates):
            reason = f"no description by {size} that was tried matches a single released row, so there is none to try on people"
            return uncomputed(name, case.release.rows, reason, risk=Risk.SINGLING_OUT)
        met = {which: book.first_two(predicates, which) for which in PEOPLE}
        hit = {which: self._one(which, *fits) for which, fits in met.items()}
        rows = {w: np.where(hit[w], self.order[w][np.where(hit[w], met[w][0], 0)], -1) for w in PEOPLE}
        persons = {which: own.standing_for(rows[which]) for which, own in self.people.items()}
        lone = self._lone(met)
        trace = Trace(
            hit["train"], hit["control"], persons["train"], persons["control"], released=sources,
            describe=lambda i, values: self._describe(book, predicates[i], int(sources[i]), values),
        )  # fmt: skip
        among = f" among {case.holding}" if case.limited else ""
        part = "" if self.people["train"].count == self.common else f"{self.common:,} of "
        # For each column the descriptions that use it, how many succeed, and how many on control rows.
        used, width = book.conditions.column[predicates], len(self.places.names)
        counts = [np.bincount(used[some].ravel(), minlength=width) for some in (slice(None), hit["train"], hit["control"])]
        finding = judge(
            trace,
            Scenario(
                name=name,
                risk=Risk.SINGLING_OUT,
                knows=f"takes from the release descriptions by {size}{among} that match a single released row",
                does="singles out exactly one person",
                whom=f"descriptions, tried on {part}the people",
            ),
            naive=self._naive(blind, *predicates.shape),
            p=fisher(lone["train"], self.people["train"].count, lone["control"], self.people["control"].count),
            detail={
                "people": self.common,
                "lone": lone["train"],
                "control_lone": lone["control"],
                "by_column": dict(zip(self.places.names, np.stack(counts, axis=1).tolist(), strict=True)),
            },
        )
        return _with_effective_size(finding, hit, sources)

    def _one(self, which: str, first: Integers, second: Integers) -> Mask:
        """Whether one of the attacked people fits and no other of them does."""
        return (first < self.attacked[which]) & (second >= self.attacked[which])

    def _lone(self, met: dict[str, tuple[Integers, Integers]]) -> dict[str, int]:
        """How many people of each table are the only one, in both tables together, whom some description fits."""
        nobody = {which: first == len(self.order[which]) for which, (first, _) in met.items()}
        one = {which: ~nobody[which] & (second == len(self.order[which])) for which, (_, second) in met.items()}
        alone = {"train": one["train"] & nobody["control"], "control": one["control"] & nobody["train"]}
        rows = {which: self.order[which][met[which][0][alone[which]]] for which in PEOPLE}
        return {which: len(np.unique(own.who[rows[which]])) for which, own in self.people.items()}

    def _naive(self, blind: Book, count: int, k: int) -> float | None:
        """Success of as many descriptions of random columns, each by a random one of the blind conditions on it."""
        sizes = np.bincount(blind.conditions.column, minlength=len(self.places.names))
        starts, usable = np.cumsum(sizes) - sizes, np.flatnonzero(sizes)
        if len(usable) < k:
            return None
        columns = usable[np.argsort(self.rng.random((count, len(usable))), axis=1)[:, :k]]
        guessed = starts[columns] + (self.rng.random((count, k)) * sizes[columns]).astype(np.int64)
        return float(self._one("train", *blind.first_two(guessed.astype(np.int32), "train")).mean())

    def _describe(self, book: Book, predicate: Ints, source: int, values: bool) -> str:
        row, conditions = self.case.release.take(np.array([source])), []
        for at in predicate:
            name = self.places.names[book.conditions.column[at]]
            low, high, value = book.conditions.low[at], book.conditions.high[at], row.strings(name)[0]
            if row.schema[name].generalized:
                sign = "in"
            elif low == high:
                sign = "="
            else:
                sign = "<=" if low == 1 else ">="
            if not values:
                conditions.append(name)
            else:
                conditions.append(f"{name} is missing" if value is None else f"{name} {sign} {value}")
        return ", ".join(conditions)


def _with_effective_size(finding: Finding, hit: dict[str, Mask], sources: Integers) -> Finding:
    """The finding with intervals for the effective number of independent descriptions, on either side.

    It is one number: two would shrink two equal rates towards one half by different amounts, and make a risk of it.
    """
    trials = min(_independent(hits, sources) for hits in hit.values())
    share = [float(hit[which].mean()) for which in PEOPLE]
    attack, control = (wilson(rate * trials, trials) for rate in share)
    left = residual_risk(attack, control)
    exact, control_exact = (clopper_pearson(round(rate * round(trials)), round(trials)) for rate in share)
    detail = {
        "independent": trials, "rate_low": attack.low, "rate_high": attack.high,
        "control_low": control.low, "control_high": control.high,
        "exact": [exact.low, exact.high], "control_exact": [control_exact.low, control_exact.high],
    }  # fmt: skip
    value = min(max(finding.value or 0.0, left.low), left.high)
    gained = gain(*(observed(rate * trials, trials) for rate in share))
    return replace(finding, value=value, low=left.low, high=left.high, gain=gained, detail=finding.detail | detail)


def _independent(hit: Mask, sources: Integers) -> float:
    """Kish's effective number of trials that come in clusters, at least 1, at most the number of clusters.

    The sums of the clusters add up to 0, so of g of them only g - 1 are free.
    """
    off, clusters = hit - hit.mean(), len(np.unique(sources))
    spread = float(off @ off)
    if spread == 0 or clusters == 1:
        return float(clusters)
    together = float((np.bincount(sources, weights=off) ** 2).sum()) / spread * clusters / (clusters - 1)
    return min(float(clusters), max(1.0, len(hit) / max(1.0, together)))


def _values(cells: Cells) -> Span:
    return cells.low, cells.high


def _ranges(cells: Cells) -> Span:
    """Numbers by the half of the release that they lie in."""
    if cells.above is None:
        return _values(cells)
    return np.where(cells.missing | cells.above, cells.low, 1), np.where(cells.above, cells.top, cells.high)


def _ends_and_rarities(cells: Cells) -> Span:
    """What one released row holds (whether overlapping cells are alone is then searched), and the ends of plain numbers."""
    rare = ~cells.anything & (cells.counts == 1)
    low, high = cells.low[rare], cells.high[rare]
    if cells.above is None or cells.missing.all():
        return low, high
    present = cells.low[~cells.missing]
    return np.append(low, [1, present.max()]), np.append(high, [present.min(), cells.top])


def _known_values(cells: Cells) -> Span:
    known = ~(cells.anything | cells.missing)
    return cells.low[known], cells.high[known]


def _guesses(cells: Cells) -> Span:
    """Each value with each operator: = and !=, for plain numbers also <, <=, > and >=."""
    known = ~(cells.anything | cells.missing)
    (low, high), (beyond, below) = _known_values(cells), (end[known] for end in cells.outside)
    if cells.above is None:
        return np.append(low, beyond), np.append(high, below)
    ones, tops = np.ones_like(low), np.full_like(low, cells.top)
    return np.concatenate([low, beyond, ones, ones, low, low + 1]), np.concatenate([high, below, low - 1, low, tops, tops])
