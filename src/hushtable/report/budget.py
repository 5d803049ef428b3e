"""The privacy budget of a card: every look at the rows, and how the price is shared among them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hushtable.privacy import event
from hushtable.privacy.accountant import Cost
from hushtable.report.charts import plots, staircase
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.words import number, share

MECHANISMS = {
    "Raw": "unprotected look",
    "PostProcessing": "free: reads only what was released",
    "Transform": "free: stays locked away",
    "DiscreteGaussian": "discrete Gaussian noise",
    "StabilityHistogram": "noisy counts above a threshold",
    "DiscreteLaplace": "discrete Laplace noise",
    "Exponential": "exponential mechanism",
    "Approximate": "proven mechanism",
    "Zcdp": "proven mechanism",
    "SampledGaussian": "Gaussian noise on samples",
    "BestOfRuns": "best of a random number of runs",
}
SHOWN = 16
"""A longer table of looks is folded away."""
CURRENCIES = (
    "Epsilon bounds the odds; the whole costs less than the sum of its parts. Rho (zero-concentrated privacy) adds up. Mu is the "
    "size as a Gaussian mechanism and adds up in squares; integer noise is told as if it were Gaussian, to compare, not to promise."
)
HEADS = ("Step", "What was looked at", "Mechanism", "Share of the budget")
FREE = ("PostProcessing", "Transform")
_OWN = ("step", "why", "sample", "rate", "event", "ones")


@dataclass(frozen=True)
class Look:
    """Like looks at the rows, taken together."""

    entry: Mapping[str, Any]
    times: int = 1
    part: float | None = None
    """Their share of the price; None if they have none or it cannot be told."""

    @property
    def step(self) -> str:
        """The step that looked."""
        return str(self.entry.get("step", ""))

    @property
    def kind(self) -> str:
        """The kind of event."""
        return str(self.entry.get("event", ""))

    def what(self) -> str:
        """What was asked, and how often."""
        return f"{self.entry.get('why', '')}{f' ({self.times} times)' if self.times > 1 else ''}"

    def mechanism(self) -> str:
        """How it was protected, with its numbers."""
        knobs = [f"{key} {number(value)}" for key, value in self.entry.items() if key not in _OWN]
        rate = self.entry.get("rate", 1.0)
        sampled = [f"on a secret sample of {share(rate)}"] if isinstance(rate, (int, float)) and rate < 1 else []
        return ", ".join([MECHANISMS.get(self.kind, self.kind), *knobs, *sampled])


def looks(ledger: Sequence[Mapping[str, Any]]) -> tuple[list[Look], str]:
    """The ledger with like looks taken together, each with its share; and the currency the shares are told in."""
    counted: dict[str, Look] = {}
    for entry in ledger:
        key = json.dumps(entry, sort_keys=True, default=str)
        counted[key] = replace(counted[key], times=counted[key].times + 1) if key in counted else Look(entry)
    found = list(counted.values())
    paid = [look for look in found if look.kind not in FREE and look.kind != "Raw"]
    prices, currency = _prices(paid)
    total = math.fsum(prices)
    if not total:
        return found, ""
    parts = {id(look): price / total for look, price in zip(paid, prices, strict=True)}
    return [replace(look, part=parts.get(id(look))) for look in found], currency


def section(ledger: Sequence[Mapping[str, Any]], *, infinite: bool, delta: float | None = None, public: Sequence[str] = ()) -> Html:
    """Where the budget went, look by look and step by step, what was assumed to be public, and the table of looks."""
    if not ledger:
        return element("p", "The ledger is empty: no look at the rows was written down.")
    found, currency = looks(ledger)
    rows: list[list[Child]] = [
        [look.step, look.what(), look.mechanism(), share(look.part) if look.part is not None else _unpaid(look)] for look in found
    ]
    every = table(HEADS, rows, label="Every look at the rows", numbers=[3], class_="ledger")
    climbed = [] if infinite else staircase.stairs(ledger, delta or 0.0)
    return join(
        element("p", _lead(found, infinite=infinite)),
        _bar(found, currency) if currency else None,
        staircase.figure(climbed, delta or 0.0) if len(climbed) > 1 else None,
        join(staircase.by_step(climbed, delta or 0.0), element("p", CURRENCIES, class_="soft")) if climbed else None,
        _assumed(public) if climbed else None,
        element("details", element("summary", f"All {number(len(rows))} kinds of look"), every) if len(rows) > SHOWN else every,
    )


def _assumed(public: Sequence[str]) -> Html:
    """What the proof takes to be known to everybody anyway."""
    head = element("p", element("strong", "Assumed to be public, and not paid for:"))
    return join(head, element("ul", [element("li", text) for text in public]))


def _lead(found: Sequence[Look], *, infinite: bool) -> str:
    total = sum(look.times for look in found)
    count = f"{number(total)} look{'s' if total != 1 else ''} at the rows {'were' if total != 1 else 'was'} written down."
    if any(look.kind == "Raw" for look in found):
        which = "It" if total == 1 else "At least one"
        return f"{count} {which} read the rows unprotected, so there is no budget to share out: epsilon is infinite."
    if infinite:
        return f"{count} Noise was paid for, but the proof is void for the reasons given above: epsilon is infinite."
    return f"{count} All of them together cost what is promised above."


def _bar(found: Sequence[Look], currency: str) -> Html:
    steps = list(dict.fromkeys(look.step for look in found if look.part))
    parts = [(f"{look.step}: {look.what()}", look.part, steps.index(look.step)) for look in found if look.part]
    totals = {step: math.fsum(look.part for look in found if look.step == step and look.part) for step in steps}
    legend = [
        element("li", element("span", class_=f"swatch hue{i % 6}"), f"{step} {share(totals[step])}") for i, step in enumerate(steps)
    ]
    told = "How the budget is shared: " + ", ".join(f"{step} {share(part)}" for step, part in totals.items())
    return element(
        "figure",
        plots.stacked(parts, told),
        element("ul", legend, class_="legend"),
        element("figcaption", f"Each piece is one row of the table below; shares are of {currency}, which adds up over looks."),
        class_="wide",
    )


def _prices(paid: Sequence[Look]) -> tuple[list[float], str]:
    """What each costs in a currency that adds up and that all of them have: pure epsilon, else rho; nothing if there is none."""
    if len({(look.entry.get("sample", 0), look.entry.get("rate", 1.0)) for look in paid}) != 1:
        return [], ""
    costs = [_cost(look.entry) for look in paid]
    for name, told in (("epsilon", "epsilon"), ("rho", "rho (zero-concentrated differential privacy)")):
        amounts = [look.times * float(getattr(cost, name)) if cost else math.inf for look, cost in zip(paid, costs, strict=True)]
        if all(map(math.isfinite, amounts)):
            return amounts, told
    return [], ""


def _cost(entry: Mapping[str, Any]) -> Cost | None:
    values = {key: value for key, value in entry.items() if key not in ("step", "why", "sample", "rate")}
    try:
        return event.from_json(values).cost()
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None


def _unpaid(look: Look) -> str:
    if look.kind == "Raw":
        return "unprotected"
    return "free" if look.kind in FREE else "not told apart"
