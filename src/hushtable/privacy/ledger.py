"""The ledger: every access to private rows, in order, and what all of them cost together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hushtable.privacy import accountant, event, pld
from hushtable.privacy.accountant import Cost
from hushtable.privacy.event import Event
from hushtable.privacy.slots import Slots
from hushtable.privacy.unit import Budget

_RENAMED = {"why": "note", "rate": "sampling_rate"}
_ORIGINAL = {written: name for name, written in _RENAMED.items()}


@dataclass(frozen=True)
class Entry:
    """One access to the rows: which step, through what mechanism, and why. ``rate`` < 1 if it saw only a secret sample."""

    step: str
    event: Event
    why: str
    sample: int = 0
    """Queries of the same secret sample, or at samples of it, share a number; 0 is the whole table."""
    rate: float = 1.0

    def __post_init__(self) -> None:
        """A rate outside (0, 1] is a ValueError: it would make queries cheaper than any theorem does."""
        if not 0 < self.rate <= 1:
            raise ValueError(f"a sampling rate lies in (0, 1], got {self.rate}")

    def to_json(self) -> dict[str, Any]:
        """A plain mapping."""
        # An event may have a reason or a rate of its own, which must not take the place of the entry's.
        values = {_RENAMED.get(name, name): value for name, value in self.event.to_json().items()}
        if values.get("note") == self.why:
            del values["note"]
        return {"step": self.step, "why": self.why, "sample": self.sample, "rate": self.rate, **values}

    @classmethod
    def from_json(cls, mapping: dict[str, Any]) -> Entry:
        """Read it back."""
        values = dict(mapping)
        own = {name: values.pop(name) for name in ("step", "why", "sample", "rate")}
        if mapping["event"] in ("Raw", "PostProcessing", "Transform"):
            values.setdefault("note", own["why"])
        values = {_ORIGINAL.get(name, name): value for name, value in values.items()}
        return cls(own["step"], event.from_json(values), own["why"], own["sample"], own["rate"])


class Ledger:
    """An append-only list of accesses; it alone says what a release cost."""

    def __init__(self, entries: Iterable[Entry] = (), *, secure: bool = True, slots: Slots | None = None) -> None:
        self._entries = list(entries)
        self.slots = slots
        """The queries that may be made, where their noise is calibrated to what all of them cost together."""
        self.secure = secure
        """False once noise or a secret sample came from a seed."""
        self._samples = max((e.sample for e in self._entries), default=0)
        self._parted: set[tuple[int, float]] = set()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything so far."""
        return tuple(self._entries)

    def add(self, entry: Entry) -> None:
        """Write an access down."""
        self._entries.append(entry)
        self._samples = max(self._samples, entry.sample)

    def new_sample(self) -> int:
        """A number that no sample has had."""
        self._samples += 1
        return self._samples

    def first_part_of(self, number: int, rate: float) -> bool:
        """Whether this is the first sample drawn from the sample with this number and rate."""
        first = (number, rate) not in self._parted
        self._parted.add((number, rate))
        return first

    @property
    def culprits(self) -> tuple[Entry, ...]:
        """The accesses that protected nothing."""
        return tuple(e for e in self._entries if not event.private(e.event))

    @property
    def paid(self) -> tuple[Entry, ...]:
        """The accesses that cost something and protected."""
        return tuple(e for e in self._entries if event.paid(e.event))

    def epsilon(self, delta: float, *, tight: bool = False) -> float:
        """The epsilon at this delta of everything in the ledger; infinite if any access was raw.

        ``tight`` also asks the numerical accountant where it is installed and can answer.
        """
        if self.culprits:
            return math.inf
        samples = self._by_sample()
        if not samples:
            return 0.0
        if len(samples) == 1:
            return self._sample_epsilon(samples[0], delta, tight=tight)
        # Different samples: convert each at its share of delta, then add (basic composition).
        return sum(self._sample_epsilon(group, delta / len(samples), tight=tight) for group in samples)

    def rho(self) -> float:
        """The zCDP parameter of everything, where the whole table was seen; infinite otherwise."""
        if any(e.rate < 1 for e in self.paid):
            return math.inf
        cost = self._total(self._entries)
        return math.inf if cost.delta else cost.rho

    def with_entry(self, entry: Entry) -> Ledger:
        """A copy with one more access, to see what it would cost."""
        return Ledger([*self._entries, entry], secure=self.secure)

    def within(self, budget: Budget) -> bool:
        """Whether everything so far fits; rounding in the last place is forgiven."""
        return self.epsilon(budget.delta) <= budget.epsilon * (1 + 1e-9)

    def _by_sample(self) -> list[list[Entry]]:
        groups: dict[int, list[Entry]] = {}
        for entry in self.paid:
            groups.setdefault(entry.sample, []).append(entry)
        return list(groups.values())

    def _sample_epsilon(self, entries: list[Entry], delta: float, *, tight: bool) -> float:
        rate = max(e.rate for e in entries)
        inside = min(delta / rate, 1.0)
        total = self._total(entries)
        inner = accountant.epsilon_of(total, inside)
        if total.delta:
            inner = min(inner, self._apart(entries, inside))
        if tight:
            inner = min(inner, pld.epsilon([e.event for e in entries], inside))
        return accountant.amplify(inner, 0.0, rate)[0] if math.isfinite(inner) else inner

    def _apart(self, entries: list[Entry], delta: float) -> float:
        """Queries with an epsilon of their own, added up, plus all others in their own currency at the delta that is left.

        The former multiply the likelihood of an outcome by at most e^epsilon (but for their delta) wherever they stand among
        the others, so the two bounds add up; converted together with a Gaussian's rho they may cost more than that.
        """
        costs = [entry.event.cost() for entry in entries]
        alone = accountant.compose(cost for cost in costs if math.isfinite(cost.epsilon))
        others = accountant.compose(cost for cost in costs if not math.isfinite(cost.epsilon))
        return alone.epsilon + accountant.epsilon_of(others, delta - alone.delta)

    @staticmethod
    def _total(entries: Iterable[Entry]) -> Cost:
        return accountant.compose(entry.event.cost() for entry in entries)
