"""Where the privacy budget went: epsilon after each access to the rows as a staircase, and every step's part in each currency."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.privacy import accountant, event
from hushtable.privacy.event import DiscreteGaussian, DiscreteLaplace, Event, Exponential, SampledGaussian
from hushtable.privacy.ledger import Entry, Ledger
from hushtable.report.charts.plots import from_zero, svg, text, titled
from hushtable.report.html import Child, Html, element, table
from hushtable.report.words import number

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 600.0, 190.0, 46.0, 12.0, 158.0
MOST = 2000
"""A ledger with more accesses is not drawn."""
CALLED: dict[type[Event], str] = {
    DiscreteGaussian: "noisy answer",
    DiscreteLaplace: "noisy answer",
    Exponential: "private choice",
    SampledGaussian: "noisy training",
}
HEADS = ("Step", "Accesses", "Epsilon alone", "Rho", "Mu")


@dataclass(frozen=True)
class Stair:
    """One access that was paid for, and the epsilon of all accesses up to it."""

    entry: Entry
    epsilon: float


def climb(ledger: Sequence[Mapping[str, Any]], delta: float) -> list[Stair]:
    """The paid accesses in order; empty if one was unprotected, cannot be read, or has no price at this delta."""
    try:
        entries = [Entry.from_json(dict(entry)) for entry in ledger]
    except (ValueError, TypeError, KeyError):
        return []
    paid = [entry for entry in entries if event.paid(entry.event)]
    if len(paid) > MOST or Ledger(entries).culprits:
        return []
    spent, stairs = Ledger(), list[Stair]()
    for entry in paid:
        spent.add(entry)
        stairs.append(Stair(entry, spent.epsilon(delta)))
    return stairs if stairs and all(math.isfinite(stair.epsilon) for stair in stairs) else []


def figure(stairs: Sequence[Stair], delta: float) -> Html:
    """The staircase: one tread for each access, its colour the step's, its height the epsilon of everything so far."""
    steps = list(dict.fromkeys(stair.entry.step for stair in stairs))
    up = from_zero([stairs[-1].epsilon], BOTTOM, TOP)
    wide = (WIDTH - LEFT) / len(stairs)
    marks: list[Child] = []
    for tick in up.ticks():
        y = up(tick)
        marks += [element("line", class_="axis" if tick == 0 else "grid", x1=LEFT, x2=WIDTH, y1=y, y2=y)]
        marks += [text(LEFT - 6, y + 4, number(tick), anchor="end")]
    for i, stair in enumerate(stairs):
        y, hue = up(stair.epsilon), steps.index(stair.entry.step) % 6
        tread = element("rect", class_=f"hue{hue}", x=LEFT + i * wide, y=y, width=max(wide - 0.6, 0.4), height=BOTTOM - y)
        marks.append(titled(f"{stair.entry.step}: {stair.entry.why}. Epsilon so far: {number(stair.epsilon)}", tread))
    marks.append(text(LEFT, HEIGHT - 12, "first access"))
    marks.append(text(WIDTH, HEIGHT - 12, f"access {number(len(stairs))}", anchor="end"))
    label = f"Epsilon after each of {number(len(stairs))} accesses to the rows, up to {number(stairs[-1].epsilon)}"
    caption = (
        f"Upwards: the epsilon of everything so far{f', at delta = {number(delta)}' if delta else ''}, by the closed forms, "
        "which may come to more than the numerical accountant by which the promise was worked out. To the right: the "
        "accesses in their order. The first seem dear: epsilon grows with the root of rho, which adds up."
    )
    legend = [element("li", element("span", class_=f"swatch hue{i % 6}"), step) for i, step in enumerate(steps)]
    return element(
        "figure",
        element("ul", legend, class_="legend"),
        svg(WIDTH, HEIGHT, label, marks),
        element("figcaption", caption),
        class_="wide",
    )


def by_step(stairs: Sequence[Stair], delta: float) -> Html:
    """For each step what it cost by itself in every currency, and the whole, which is less than the sum in epsilon."""
    steps = list(dict.fromkeys(stair.entry.step for stair in stairs))
    parts = [(step, [stair.entry for stair in stairs if stair.entry.step == step]) for step in steps]
    whole = [("all together", [stair.entry for stair in stairs])] if len(parts) > 1 else []
    rows: list[list[Child]] = [
        [name, _words(entries), _finite(Ledger(entries).epsilon(delta)), _finite(Ledger(entries).rho()), _finite(_mu(entries))]
        for name, entries in [*parts, *whole]
    ]
    return table(HEADS, rows, label="What each step cost, in three currencies", numbers=range(2, 5))


def _mu(entries: Sequence[Entry]) -> float:
    """The size of the whole as a Gaussian mechanism; integer Gaussian noise counts as the Gaussian that it is very nearly."""
    if any(entry.rate < 1 for entry in entries):
        return math.inf
    return math.hypot(*(_one_mu(entry.event) for entry in entries))


def _one_mu(happened: Event) -> float:
    if isinstance(happened, DiscreteGaussian):
        return accountant.gdp(happened.sensitivity / happened.sigma).mu
    return happened.cost().mu


def _words(entries: Sequence[Entry]) -> str:
    """What the accesses were: "30 choices, 45 noisy answers"."""
    kinds = [CALLED.get(type(entry.event), "other proven mechanism") for entry in entries]
    counted = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"{number(times)} {kind}{'' if times == 1 else 's'}" for kind, times in counted.items())


def _finite(value: float) -> str:
    return number(value) if math.isfinite(value) else "–"
