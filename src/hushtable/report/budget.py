"""The privacy budget of a card: every access to the rows, and how the price is shared among them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hushtable.pipeline.card import Card
from hushtable.privacy.accountant import Cost
from hushtable.privacy.ledger import Entry
from hushtable.report.charts import plots, staircase
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.words import number, share

MECHANISMS = {
    "Raw": "unprotected access",
    "PostProcessing": "free: reads only what was released",
    "Transform": "free: its result is not released",
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
"""A longer table of accesses is folded away."""
CURRENCIES = (
    "Epsilon bounds the odds; the whole costs less than the sum of its parts. Rho (zero-concentrated privacy) adds up. Mu is the "
    "size as a Gaussian mechanism and adds up in squares; integer noise counts as if it were Gaussian, to compare, not to promise."
)
HEADS = ("Step", "What was read or asked", "Mechanism", "Share of the budget")
FREE = ("PostProcessing", "Transform")
_OWN = ("step", "why", "sample", "rate", "event", "ones")


@dataclass(frozen=True)
class Access:
    """Equal accesses to the rows, taken together."""

    entry: Mapping[str, Any]
    times: int = 1
    part: float | None = None
    """Their share of the price; None if they have none or it is not known."""

    @property
    def step(self) -> str:
        """The step that accessed the rows."""
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
        if self.kind == "SampledGaussian":
            return _gradient_steps(self.entry)
        knobs = [f"{key} {number(value)}" for key, value in self.entry.items() if key not in _OWN]
        rate = self.entry.get("rate", 1.0)
        sampled = [f"on a secret sample of {share(rate)}"] if isinstance(rate, (int, float)) and rate < 1 else []
        return ", ".join([MECHANISMS.get(self.kind, self.kind), *knobs, *sampled])


def accesses(ledger: Sequence[Mapping[str, Any]]) -> tuple[list[Access], str]:
    """The ledger with equal accesses taken together, each with its share; and the currency of the shares."""
    counted: dict[str, Access] = {}
    for entry in ledger:
        key = json.dumps(entry, sort_keys=True, default=str)
        counted[key] = replace(counted[key], times=counted[key].times + 1) if key in counted else Access(entry)
    distinct = list(counted.values())
    paid = [access for access in distinct if access.kind not in FREE and access.kind != "Raw"]
    prices, currency = _prices(paid)
    total = math.fsum(prices)
    if not total:
        return distinct, ""
    parts = {id(access): price / total for access, price in zip(paid, prices, strict=True)}
    return [replace(access, part=parts.get(id(access))) for access in distinct], currency


def section(card: Card) -> Html:
    """Where the budget went, access by access and step by step, what was assumed to be public, and the table of accesses."""
    if not card.ledger:
        return element("p", "The ledger is empty: no access to the rows was recorded.")
    infinite, delta = not math.isfinite(card.stated.epsilon), card.stated.delta
    distinct, currency = accesses(card.ledger)
    rows: list[list[Child]] = [
        [one.step, one.what(), one.mechanism(), share(one.part) if one.part is not None else _unpaid(one)] for one in distinct
    ]
    every = table(HEADS, rows, label="Every access to the rows", numbers=[3], class_="ledger")
    stairs = [] if infinite else staircase.climb(card.ledger, delta)
    return join(
        element("p", _lead(distinct, infinite=infinite)),
        _bar(distinct, currency) if currency else None,
        staircase.figure(stairs, delta) if len(stairs) > 1 else None,
        join(staircase.by_step(stairs, delta), element("p", CURRENCIES, class_="soft")) if stairs else None,
        _assumed(card.public) if stairs else None,
        element("details", element("summary", f"All {number(len(rows))} kinds of access"), every) if len(rows) > SHOWN else every,
    )


def _assumed(public: Sequence[str]) -> Html:
    """What the proof takes to be known to everybody anyway."""
    head = element("p", element("strong", "Assumed to be public, and not paid for:"))
    return join(head, element("ul", [element("li", text) for text in public]))


def _lead(distinct: Sequence[Access], *, infinite: bool) -> str:
    total = sum(access.times for access in distinct)
    count = f"{number(total)} access{'es' if total != 1 else ''} to the rows {'were' if total != 1 else 'was'} recorded."
    if any(access.kind == "Raw" for access in distinct):
        which = "It" if total == 1 else "At least one"
        return f"{count} {which} read the rows unprotected, so there is no budget to share out: epsilon is infinite."
    if infinite:
        return f"{count} Noise was paid for, but the proof is void for the reasons given above: epsilon is infinite."
    return f"{count} All of them together cost what is promised above."


def _bar(distinct: Sequence[Access], currency: str) -> Html:
    steps = list(dict.fromkeys(access.step for access in distinct if access.part))
    parts = [(f"{one.step}: {one.what()}", one.part, steps.index(one.step)) for one in distinct if one.part]
    totals = {step: math.fsum(one.part for one in distinct if one.step == step and one.part) for step in steps}
    legend = [
        element("li", element("span", class_=f"swatch hue{i % 6}"), f"{step} {share(totals[step])}") for i, step in enumerate(steps)
    ]
    label = "How the budget is shared: " + ", ".join(f"{step} {share(part)}" for step, part in totals.items())
    return element(
        "figure",
        plots.stacked(parts, label),
        element("ul", legend, class_="legend"),
        element("figcaption", f"Each piece is one row of the table below; shares are of {currency}, which adds up over accesses."),
        class_="wide",
    )


def _prices(paid: Sequence[Access]) -> tuple[list[float], str]:
    """What each costs in a currency that adds up and that all of them have: pure epsilon, else rho; nothing if there is none."""
    if len({(access.entry.get("sample", 0), access.entry.get("rate", 1.0)) for access in paid}) != 1:
        return [], ""
    costs = [_cost(access.entry) for access in paid]
    for name, currency in (("epsilon", "epsilon"), ("rho", "rho (zero-concentrated differential privacy)")):
        amounts = [
            access.times * float(getattr(cost, name)) if cost else math.inf for access, cost in zip(paid, costs, strict=True)
        ]
        if all(map(math.isfinite, amounts)):
            return amounts, currency
    return [], ""


def _cost(entry: Mapping[str, Any]) -> Cost | None:
    try:
        return Entry.from_json({"step": "", "why": "", "sample": 0, "rate": 1.0} | dict(entry)).event.cost()
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None


def _gradient_steps(entry: Mapping[str, Any]) -> str:
    """Noisy gradients in words: how many, on how many rows, with how much noise."""
    steps, rate, noise = (entry.get(name) for name in ("steps", "sampling_rate", "multiplier"))
    on = "all rows" if rate == 1 else f"a random {share(rate) if isinstance(rate, (int, float)) else rate} of the rows"
    grid = entry.get("grid")
    rounded = f", rounded to 1/{number(round(1 / grid))} of the noise" if isinstance(grid, (int, float)) and grid > 0 else ""
    one = f"{number(steps)} noisy gradient step{'' if steps == 1 else 's'}{', each' if steps != 1 else ''} on {on}"
    return f"{one}, noise {number(noise)} times the clip{rounded}"


def _unpaid(access: Access) -> str:
    if access.kind == "Raw":
        return "unprotected"
    return "free" if access.kind in FREE else "not known by itself"
