"""The vault: a private table behind doors. Every access to its rows is written in the ledger.

``measure`` answers counts and sums with the noise added inside, and ``choose`` picks a candidate with the coins inside, so the
price cannot lie. ``open`` hands out the rows to
code that protects them by itself, or not at all: then it says ``Raw``, and epsilon is infinite. An overdraft is
refused before a row moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hushtable.errors import BudgetExceeded, GuaranteeRefused, InputError, PlanError
from hushtable.privacy import accountant, event
from hushtable.privacy.allowance import Allowance, Noise, discovery, price, score_change
from hushtable.privacy.choice import exponential, rational
from hushtable.privacy.event import Approximate, Event, Exponential, Gaussian, PostProcessing, Raw, SampledGaussian, Zcdp
from hushtable.privacy.journal import Journal
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.privacy.noise import SYSTEM, Entropy, discrete_gaussian, discrete_laplace, gaussian_variance, laplace_scale
from hushtable.privacy.query import ROWS, Occupied, Query, Scores, in_words
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Budget, Relation, Unit
from hushtable.table.arrays import Array, Integers
from hushtable.table.columns import DRAFTED, Facet
from hushtable.table.rows import Rows, answered
from hushtable.table.schema import Schema
from hushtable.table.table import Table, histogram_sizes

FORESEEN = 1 << 24
"""The most cells that are counted for questions to come."""
LOOSE = "reads rows that an earlier step made of the raw ones in a way that bounds nobody's part in them"


class Applies(Protocol):
    """What the vault needs of a code: its output schema, its map, and how many rows one row can change."""

    @property
    def schema(self) -> Schema:
        """Of the encoded table."""
        ...

    @property
    def stability(self) -> int:
        """Output rows that one input row can change."""
        ...

    def apply(self, table: Table) -> Table:
        """Encode."""
        ...


class Scheme(StrEnum):
    """How a secret sample was drawn."""

    NONE = "none"
    POISSON = "poisson"
    """Each row on its own, with the same probability."""
    FIXED = "fixed"
    """A fixed number of rows, without replacement."""
    OTHER = "other"
    """Strata, shuffled batches, with replacement: no theorem of ours covers it."""


@dataclass(frozen=True)
class Sample:
    """A secret sample that the rows of a vault are: queries of it cost less."""

    number: int
    rate: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Vault:
    """A private table, the unit it is protected for, what may be spent, and what has been."""

    _table: Rows = field(repr=False)
    unit: Unit = field(default_factory=Unit)
    budget: Budget | None = None
    ledger: Ledger = field(default_factory=Ledger)
    taint: Taint = Taint.RAW
    entropy: Entropy = SYSTEM
    step: str = ""
    """The name under which accesses are written down."""
    origin: Vault | None = None
    """The vault of the raw rows, where this one holds what an earlier core released."""
    stability: int = 1
    allowance: Allowance | None = None
    """The part of the budget that the step at work may spend."""
    sample: Sample | None = None
    seeded: bool = False
    """Whether the run is a reproducible one: its samples are then no secret."""
    loose: str = ""
    """Why nobody knows how many of these rows one person can change; empty if it is known. Noise then proves nothing."""
    replayed: bool = False
    """Whether these rows are a sample that a seed can draw again."""
    basis: Schema | None = field(default=None, repr=False)
    """The schema of everything that the rows at hand were made of; what of it was read off the rows may be in any column."""
    report: Callable[[float], None] = field(default=lambda share: None, repr=False)
    """Where a long step reports how much of it is done."""
    journal: Journal | None = field(default=None, repr=False)
    """Where answers are kept that have been paid for, in a run that may be stopped and go on."""
    work: Path | None = None
    """A private folder in which long training keeps where it is; what it holds is as sensitive as the rows."""

    @classmethod
    def of(
        cls,
        table: Rows,
        *,
        unit: Unit | None = None,
        budget: Budget | None = None,
        entropy: Entropy = SYSTEM,
        seed: int | None = None,
    ) -> Vault:
        """Lock a table away. With a key that identifies persons, rows beyond the limit per person are left out here."""
        unit = unit or Unit()
        bounded = _limit(_countable(table), unit, entropy, seed)
        if unit.by is not None and budget is not None and isinstance(bounded, Table):
            # One person more may move the rows of all others: where a place decides anything, it must be nobody's own.
            bounded = bounded.take(np.argsort(entropy.words(bounded.rows), kind="stable"))
        return cls(
            _table=bounded, unit=unit, budget=budget, entropy=entropy, ledger=Ledger(secure=True), seeded=seed is not None,
            basis=table.schema,
        )  # fmt: skip

    @property
    def schema(self) -> Schema:
        """Public, and free."""
        return self._table.schema

    @property
    def in_memory(self) -> bool:
        """Whether the rows are here, all of them at once."""
        return isinstance(self._table, Table)

    def named(self, step: str, allowance: Allowance | None = None) -> Vault:
        """The same vault, writing under this step's name, with what the step may spend."""
        origin = None if self.origin is None else self.origin.named(step, allowance)
        return replace(self, step=step, allowance=allowance, origin=origin)

    def select(self, names: Iterable[str]) -> Vault:
        """The same vault with only these columns."""
        return replace(self, _table=self._table.select(names))

    def without_text(self) -> Vault:
        """The same vault without columns of free text, in what is behind it too."""
        origin = None if self.origin is None else self.origin.without_text()
        vault = self.select(self.schema.without_text().names) if self.schema.texts else self
        return vault if origin is vault.origin else replace(vault, origin=origin)

    def paid(self) -> Allowance:
        """What the step at work may spend; an error if it was given nothing."""
        if self.allowance is None:
            raise GuaranteeRefused(f"step {self.step!r} is differentially private and was given no budget")
        return self.allowance

    def measure(self, query: Query, scale: float, noise: Noise = Noise.GAUSSIAN) -> Integers:
        """The answer plus integer noise of this scale (sigma of a Gaussian, b of a Laplace), drawn here.

        The domains of the columns must be declared: an observed one would give away which values exist.
        """
        if not 0 < scale < math.inf:
            raise InputError(f"a noise scale is positive, got {scale}", where=self.step or "measure")
        self._require_declared(query.columns)
        happened = price(query, self.schema, self._rows(), scale, noise)
        self._spend(happened, f"{in_words(query)} of {', '.join(query.columns) or 'all rows'}")

        def noisy() -> list[Integers]:
            exact = answered(query, self._table)
            if noise is Noise.GAUSSIAN:
                return [exact + discrete_gaussian(gaussian_variance(scale), exact.size, self.entropy)]
            return [exact + discrete_laplace(laplace_scale(scale), exact.size, self.entropy)]

        return self.recorded(f"{happened!r} {in_words(query)} {query.columns}", noisy)[0]

    def foresee(self, sets: Iterable[tuple[str, ...]]) -> None:
        """Count these sets of columns in one pass over rows out of memory, small ones first, as far as there is room.

        Whoever asks about them later reads no row again. Nothing of it leaves the vault, so it costs nothing.
        """
        if self.in_memory:
            return
        sizes = {name: histogram_sizes(self.schema, (name,))[0] for name in self.schema.names}
        cells = {columns: math.prod(sizes[name] for name in columns) for columns in dict.fromkeys(sets)}
        room, chosen = FORESEEN, list[tuple[str, ...]]()
        for columns in sorted(cells, key=cells.__getitem__):
            if cells[columns] > room:
                break
            chosen.append(columns)
            room -= cells[columns]
        self._table.histograms(chosen)

    def recorded(self, question: str, make: Callable[[], Sequence[Array]]) -> list[Array]:
        """What ``make`` gives, which has its noise already; in a run that goes on after a stop, what it gave then."""
        if self.journal is None or self.taint is not Taint.RAW:
            return list(make())
        return self.journal.answer(f"{self.step}: {question}", make)

    def spend(self, query: Query, allowance: Allowance) -> Integers:
        """``measure`` with the noise that an allowance buys when all of it goes into this one answer."""
        return self.measure(query, allowance.scale(query, self.schema), allowance.noise)

    def choose(self, scores: Scores, allowance: Allowance) -> int:
        """The place of one candidate, by the exponential mechanism with all of an allowance; the coins fall in here.

        A candidate is drawn with probability proportional to exp(epsilon score / (2 change)), exactly (``choice.py``).
        """
        rate = self._rate(scores, allowance, "choice")
        drawn = lambda: [np.array([exponential(answered(scores, self._table), rate, self.entropy)])]  # noqa: E731
        return int(self.recorded(f"choice {rate} {in_words(scores)}", drawn)[0][0])

    def choose_each(self, scores: Scores, allowance: Allowance) -> Integers:
        """One candidate for each part, where the scores are parts by candidates; one price for all parts together.

        ``change`` must then bound the *sum* over the parts of the most by which a record changes any score of the part: for parts
        that split the records between them, the change of one score, twice where a record is replaced. The draws are
        independent, and a part whose scores change by c_i out of c is (epsilon c_i / c)-DP by itself; these add up to at most
        epsilon, and their squares to at most epsilon^2, so pure epsilon and epsilon^2/8-zCDP hold as for one choice.
        """
        rate = self._rate(scores, allowance, "choices")

        def drawn() -> list[Integers]:
            return [np.array([exponential(part, rate, self.entropy) for part in answered(scores, self._table)], dtype=np.int64)]

        return self.recorded(f"choices {rate} {in_words(scores)}", drawn)[0]

    def _rate(self, scores: Scores, allowance: Allowance, what: str) -> Fraction:
        """Pay for a choice; the rate by which scores weigh in it."""
        self._require_declared(scores.columns)
        change = score_change(scores, self.schema, self._rows())
        if change < 1:
            raise InputError(f"a score changes by at least 1, got {change}", where=self.step or "choose")
        epsilon = rational(allowance.choice)
        self._spend(Exponential(float(epsilon)), f"{what} by {in_words(scores)}")
        return epsilon / (2 * change)

    def discover(self, cells: Occupied, allowance: Allowance, delta: float) -> tuple[Integers, Integers]:
        """Which cells hold rows, and about how many: those whose noisy count reaches the threshold that ``delta`` sets.

        Only cells that hold a row get noise. That is what the threshold is paid for, so no domain has to be declared.
        """
        scale = allowance.scale(cells, self.schema)
        happened = discovery(cells, self.schema, self._rows(), scale, delta)
        self._spend(happened, f"which values of {', '.join(cells.columns)} there are")

        def above() -> tuple[Integers, Integers]:
            codes, counts = cells.present(self._table)
            noisy = counts + discrete_gaussian(gaussian_variance(scale), counts.size, self.entropy)
            return codes[noisy >= happened.threshold], noisy[noisy >= happened.threshold]

        codes, noisy = self.recorded(f"{happened!r} {cells.columns}", above)
        return codes, noisy

    def open(self, happened: Event, why: str, *, recorded: bool = False) -> Table:
        """The rows themselves in memory, for code that protects them as ``happened`` says. Reviewed code only.

        The event is stated for one record; for a unit of several rows it is charged as a group. ``recorded``: whether all that the
        caller makes of them goes through ``recorded``, so that it is not made, and not paid for, twice.
        """
        return self.open_rows(happened, why, recorded=recorded).whole(why)

    def open_rows(self, happened: Event, why: str, *, recorded: bool = False) -> Rows:
        """The same wherever they are, for code that asks only what any rows answer (``table.rows``). Reviewed code only."""
        if self.journal is not None and self.taint is Taint.RAW and event.paid(happened) and not recorded:
            raise PlanError(f"step {self.step!r} cannot go on after a stop without paying again: leave out --resume")
        if self.taint is Taint.RAW and event.paid(happened):
            self._require_declared(self.schema.names)
            happened = _for_unit(happened, self._rows())
        self._spend(happened, why)
        return self._table

    def open_sampled(self, happened: SampledGaussian, why: str) -> tuple[Table, Integers]:
        """The rows, and for each row the number of its unit, for code that samples whole units by themselves. Reviewed code only.

        The event is stated for one *unit*, a record or a person. That is the caller's to make true: in each step one coin falls for
        each unit and takes all of its rows or none, and a unit's rows together change the sum by no more than the noise is a
        multiple of (each row by 1/rows of it). Refused where nobody knows which rows are one person's.
        """
        unit, table = self._rows(), self._table.whole(why)
        persons = np.arange(table.rows)
        if self.taint is Taint.RAW:
            self._require_declared(self.schema.names)
            require_sampled_units(unit)
            if unit.rows > 1:
                if table.persons is None or np.bincount(table.persons, minlength=1).max() > unit.rows:
                    raise GuaranteeRefused(f"step {self.step!r}: an earlier step has lost which rows are one person's")
                persons = np.unique(table.persons, return_inverse=True)[1]
        self._spend(happened, why)
        return table, persons

    def through(self, code: Applies, *, learnt: bool = False) -> Vault:
        """The encoded vault: same ledger, sensitivities multiplied by what one row can change.

        No code turns what was read off the rows into a declaration, unless it was ``learnt`` and paid for.
        """
        encoded = _countable(self._table.encoded(code))
        if encoded.schema.declared() != code.schema.declared():
            raise GuaranteeRefused(
                f"step {self.step!r}: its code makes other columns of the rows than its own schema says, so they came from the rows"
            )
        if not learnt:
            encoded = encoded.under(encoded.schema.derived_from(self.schema))
        basis = encoded.schema if learnt else self.basis
        return replace(self, _table=encoded, stability=self.stability * code.stability, basis=basis)

    def coins(self, count: int, rng: np.random.Generator) -> NDArray[np.uint64]:
        """Uniform 64-bit words that decide who is sampled: from the system, unless the run is a reproducible one."""
        return rng.integers(0, 2**64, count, dtype=np.uint64) if self.seeded else self.entropy.words(count)

    def sampled(self, table: Rows, rate: float, scheme: Scheme) -> Vault:
        """A vault of a secret sample of the rows, drawn with ``coins``.

        A fixed size counts at the rate that was really drawn. Where one row can change more than one row of the sample,
        or the table is no sample of these rows at all, a private query of it proves nothing.
        """
        if scheme is Scheme.FIXED and self._table.rows:
            rate = max(rate, table.rows / self._table.rows)
        unit, seeded = self._rows(), self.seeded or not self.entropy.secure
        loose = self.loose or unstable(scheme, unit)
        if table.schema != self.schema or table.rows > self._table.rows:
            loose = loose or "is called a sample of the rows, but has other columns or more rows"
        honest = amplifying_rate(rate, scheme, unit, seeded=seeded)
        # Seeded coins belong to places: one row more moves every other row to the next coin.
        replayed = self.replayed or (seeded and not unit.fixes_rows)
        return replace(self, _table=table, sample=self._part(honest), loose=loose, replayed=replayed)

    def released(self, table: Rows, taint: Taint) -> Vault:
        """A vault of what a core made of this one, for the next core. It remembers where the raw rows are.

        What is still raw may hang together in any way: one person may be in all of its rows.
        """
        loose = self.loose or LOOSE
        return replace(
            self, _table=table, taint=taint, origin=self.origin or self, stability=1, sample=None, replayed=False,
            loose=loose if taint is Taint.RAW else "",
        )  # fmt: skip

    def _require_declared(self, columns: tuple[str, ...]) -> None:
        """Refuse a paid query of columns that hold, or come from, anything read off the rows; a query of none reads no schema."""
        if self.taint is Taint.RAW and columns:
            basis = self.basis or self.schema
            require_declared(basis, basis.names, self.step)
            require_declared(self.schema, columns, self.step)

    def _part(self, rate: float) -> Sample | None:
        """The sample that a further sampling at this rate leaves.

        A sample of a sample keeps its number: queries of both share the coins of the outer one, so they are charged
        together, at the rate of the outer one. A second sample of the same sample amplifies nothing more.
        """
        if rate == 1:
            return self.sample
        if self.sample is None:
            return Sample(self.ledger.new_sample(), rate)
        inner = Sample(self.sample.number, self.sample.rate * rate)
        return inner if self.ledger.first_part_of(self.sample.number, self.sample.rate) else self.sample

    def _rows(self) -> Unit:
        """The unit, counting the encoded rows that one person can change."""
        return replace(self.unit, rows=self.unit.rows * self.stability)

    def _spend(self, happened: Event, why: str) -> None:
        if self.taint is not Taint.RAW:
            note = (
                "reads only what is differentially private already" if self.taint is Taint.DP else "reads only the anonymized table"
            )
            self.ledger.add(Entry(self.step, PostProcessing(note), why))
            return
        if isinstance(happened, PostProcessing):
            why = f"calls itself post-processing but reads raw rows: {happened.why}"
            happened = Raw(why)
        if self.loose and event.paid(happened) and not self.ledger.culprits:
            why = f"{self.loose} ({why})"
            happened = Raw(why)
        sample = self.sample or Sample(0, 1.0)
        entry = Entry(self.step, happened, why, sample.number, sample.rate)
        if self.budget is not None and event.private(happened) and not self.ledger.culprits:
            if (slots := self.ledger.slots) is not None:
                if sample.rate < 1 or not slots.take(self.step, happened):
                    raise BudgetExceeded(
                        f"step {self.step!r} asks for {happened}, which is none of the queries that it planned and has left: the "
                        f"budget of epsilon {self.budget.epsilon:g} at delta {self.budget.delta:g} was shared out among those. No "
                        "row was read."
                    )
            elif not (after := self.ledger.with_entry(entry)).within(self.budget):
                spent, would = self.ledger.epsilon(self.budget.delta), after.epsilon(self.budget.delta)
                raise BudgetExceeded(
                    f"step {self.step!r} asks for {happened}, which would bring epsilon from {spent:.4g} to {would:.4g}; "
                    f"the budget is epsilon {self.budget.epsilon:g} at delta {self.budget.delta:g}. No row was read."
                )
        self.ledger.add(entry)
        if event.paid(happened) and (self.replayed or not self.entropy.secure):
            self.ledger.secure = False


def amplifying_rate(rate: float, scheme: Scheme, unit: Unit, *, seeded: bool) -> float:
    """The rate at which a sample amplifies privacy: as drawn where the theorem covers it, else 1 (not at all).

    It covers Poisson sampling under add-remove and a fixed size without replacement under replace-one. A person with
    several rows is sampled several times, and a sample from a seed is no secret: neither amplifies.
    """
    fits = {Relation.ADD_REMOVE: Scheme.POISSON, Relation.REPLACE_ONE: Scheme.FIXED}[unit.relation]
    return rate if scheme is fits and unit.rows == 1 and not seeded else 1.0


def unstable(scheme: Scheme, unit: Unit) -> str:
    """Why one row can change more than one row of a sample drawn like this; empty if it cannot.

    Poisson coins fall on each row alone. Of a fixed number of rows one stays the same when a row is exchanged; but a row
    more pushes another one out, which costs up to twice the epsilon of the query, and strata do so each for itself.
    """
    if scheme in (Scheme.NONE, Scheme.POISSON) or (scheme is Scheme.FIXED and unit.fixes_rows):
        return ""
    if scheme is Scheme.FIXED:
        return "reads a sample of a fixed size, in which one row more pushes another one out"
    return "reads a sample drawn in a way that no theorem of ours covers"


def require_sampled_units(unit: Unit) -> None:
    """Refuse where units cannot be sampled one by one, or where their sampling no theorem of ours covers."""
    if unit.relation is Relation.REPLACE_ONE:
        raise GuaranteeRefused("Gaussian noise on samples is accounted for under add-remove only: leave out --relation replace_one")
    if unit.rows > 1 and unit.by is None:
        raise GuaranteeRefused(
            f"each person is sampled as a whole, so it must be known which of the rows are one person's: name the column that "
            f"identifies persons (person, --person), since one may hold {unit.rows} rows"
        )


def require_declared(schema: Schema, columns: Iterable[str], step: str) -> None:
    """Refuse columns of which anything was read off the rows; the error names the marks to remove, and no value."""
    columns = tuple(columns)
    lines = [f"  {name}: observed: {_mark(schema[name].undeclared)}" for name in columns if schema[name].undeclared]
    if columns and schema.drafted:
        lines.append("  missing codes: observed: true")
    if lines:
        raise GuaranteeRefused(
            f"step {step!r}: this was read off the rows, where one person more could have made it something else, unpaid:\n"
            + "\n".join(lines)
            + "\nWhat is public knowledge, declare: check these lines of the schema and remove the marks, or all of them at once "
            "with 'hush schema SCHEMA --declare' (in Python: table.declared(by=...)). The rest can be paid for, or takes a fixed "
            "default: put a 'learn-domain' step first (--learn-domain)."
        )


def _mark(facets: frozenset[Facet]) -> str:
    return "true" if facets >= DRAFTED else f"[{', '.join(facet for facet in Facet if facet in facets)}]"


def _for_unit(happened: Event, unit: Unit) -> Event:
    """The event as it is for one unit, where it was stated for one record."""
    if isinstance(happened, SampledGaussian) and unit.relation is Relation.REPLACE_ONE:
        raise GuaranteeRefused(f"{happened} is accounted for under add-remove only")
    if unit.rows == 1:
        return happened
    if unit.relation is Relation.REPLACE_ONE:
        raise GuaranteeRefused(
            f"{happened} is stated for one record replaced by another; a person with {unit.rows} rows may be replaced by one "
            "with fewer, and what that costs is not known"
        )
    if isinstance(happened, Gaussian):
        return replace(happened, sensitivity=unit.rows * happened.sensitivity)
    cost = accountant.group(happened.cost(), unit.rows)
    if cost.epsilon < float("inf"):
        return Approximate(cost.epsilon, cost.delta)
    if cost.rho < float("inf") and not cost.delta:
        return Zcdp(cost.rho)
    raise GuaranteeRefused(f"the cost of {happened} for a person with {unit.rows} rows is not known")


def _countable(table: Rows) -> Rows:
    """The table, if it has no more rows than every question can add up exactly."""
    if table.rows > ROWS:
        raise InputError(f"a private table has at most {ROWS:,} rows, so that sums of 64 bits stay exact", where="table")
    return table


def _limit(table: Rows, unit: Unit, entropy: Entropy, seed: int | None) -> Rows:
    """Keep at most ``unit.rows`` rows of each person, picked at random, and none whose person is unknown."""
    if unit.by is None:
        return table
    return table.bounded(unit.by, unit.rows, entropy.words, seed)
