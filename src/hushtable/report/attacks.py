"""Attacks by the risk they are an instance of: a box and a section for each of the three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.evidence.verdict import LEVEL
from hushtable.report.charts import intervals
from hushtable.report.everything import SHAPES, folded, judged, verdict
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.reading import Reading, Tone
from hushtable.report.words import number, p_value, sentence, share

RISKS = {
    "singling out": (
        "Singling out",
        "In law: whether somebody can isolate the record of one person. Finding a copy of a record, or learning that a "
        "person is in the table at all, counts as that.",
    ),
    "linkability": (
        "Linkability",
        "In law: whether somebody can connect two records of the same person, here two halves of one record through the release.",
    ),
    "inference": (
        "Inference",
        "In law: whether somebody can deduce, with significant probability, what a person wants kept private from the rest.",
    ),
}
"""The three risks of the Article 29 Working Party, opinion 05/2014 (WP216), which an anonymous table must not leave open."""
DRAWN = 12
"""So many attacks of one risk are drawn and listed; the others are folded away."""
SOURCE = "Opinion 05/2014 of the Article 29 Working Party names three risks that an anonymous table must not leave open."


def boxes(readings: Sequence[Reading]) -> Html:
    """For each of the three risks the worst attack, its risk with interval, and its sentence."""
    return join(
        element("div", [_box(risk, [r for r in readings if r.risk == risk]) for risk in RISKS], class_="figures risks"),
        element("p", f"{SOURCE} A risk is what an attack gains on people in the table beyond people outside it.", class_="soft"),
    )


def gate(outcome: Mapping[str, Any]) -> Html:
    """Whether what was asked of the release holds."""
    holds = bool(outcome.get("holds"))
    tone, told = (Tone.CALM, "Gate passed") if holds else (Tone.ALARM, "Gate failed")
    return element(
        "div",
        element(
            "p",
            element("strong", element("span", SHAPES[tone], aria_hidden="true"), f" {told}", class_="badge"),
            element("code", str(outcome.get("expression", ""))),
        ),
        element("p", sentence(str(outcome.get("told", "")))),
        class_=f"statement small {tone}",
    )


def section(risk: str, readings: Sequence[Reading]) -> Html:
    """What it means in law, dots of the worst attacks, a table of all."""
    _, law = RISKS[risk]
    ours = sorted((r for r in readings if r.risk == risk and r.value is not None), key=hardest)
    lead = element("p", law)
    if not ours:
        return join(lead, element("p", "No attack of this kind gave a number.", class_="soft"))
    worse = sum(r.surely_worse for r in ours)
    count = (
        f"{number(worse)} of {number(len(ours))} attacks gain more on people in the table than chance explains. The worst first."
    )
    return join(lead, element("p", count), _dots(ours[:DRAWN]), folded(ours, DRAWN, f"{RISKS[risk][0]}: attacks", attack_table))


def power_section(power: Mapping[str, Any]) -> Html:
    """Which of the leaks that were planted to try the audit out it noticed."""
    shares, noticed, tests = power.get("shares") or [], power.get("noticed") or [], int(power.get("tests") or 0)
    lead = (
        "Records of people in the table were planted in a copy of the release, and the whole audit was run on it. Noticed: the "
        "corrected test raised an alarm every time. A leak smaller than those noticed may be there and not be seen."
    )
    rows: list[list[Child]] = [
        [share(float(planted)), f"{number(int(count))} of {number(tests)}"] for planted, count in zip(shares, noticed, strict=False)
    ]
    heads = ["Planted share of the released rows", "Tests that noticed it"]
    told = [element("p", f"{line}.", class_="soft") for line in power_of_parts(power)]
    return join(element("p", lead), table(heads, rows, label="Planted leaks", numbers=[0, 1], class_="narrow"), *told)


def power_of_parts(power: Mapping[str, Any]) -> list[str]:
    """Of each leak of a part of a row, the smallest share that was noticed."""
    return [
        f"Of released rows with {leak} from a training row, {share(float(least))} are noticed"
        if least is not None
        else f"Released rows with {leak} from a training row are not surely noticed, however many of those planted there are"
        for leak, least in (power.get("parts") or {}).items()
    ]


def attack_table(readings: Sequence[Reading], *, label: str) -> Html:
    """One row per attack: its risk, how likely chance does as much, the leak it would have noticed, its sentence."""
    power = any(r.detectable is not None or r.tried is not None for r in readings)
    heads = ["Attack and verdict", "Risk", "Interval", "p (corrected)", *(["Leak noticed"] if power else []), "What it means"]
    rows: list[list[Child]] = [
        [
            judged(r), r.told(r.value), r.interval(), p_value(r.p_adjusted), *([_leak(r)] if power else []),
            sentence(r.note),
        ]
        for r in readings
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 4 + power), class_="findings judged")


def _box(risk: str, readings: Sequence[Reading]) -> Html:
    title, _ = RISKS[risk]
    known = sorted((r for r in readings if r.value is not None), key=hardest)
    if not known:
        reason = (
            "no attack of this kind was run" if not readings else "no attack of this kind could be computed; the reasons are below"
        )
        return _article(title, "–", reason, verdict_of=None)
    worst = known[0]
    told = f"worst of {count_of(known)}: {worst.label}; interval {worst.interval() or 'unknown'}"
    return _article(title, worst.told(worst.value), told, verdict_of=worst)


def _article(title: str, value: str, told: str, *, verdict_of: Reading | None) -> Html:
    return element(
        "article",
        element("h3", title),
        element("p", value, class_="value"),
        element("p", told, class_="soft"),
        verdict(verdict_of, power=True) if verdict_of else element("p", "not judged", class_="verdict open"),
        element("p", sentence(verdict_of.note) if verdict_of else None, class_="told"),
        class_=str(verdict_of.verdict.tone if verdict_of else Tone.OPEN),
    )


def _dots(readings: Sequence[Reading]) -> Html:
    caption = (
        "Dot: residual risk, what the attack gains on people in the table beyond people outside it. Line: its interval. "
        f"Filled: chance would do as much in at most {share(LEVEL)} of all audits, corrected for all tests; hollow: no excess. "
        "An interval is that of one attack alone: of many, some exclude zero by chance, and the corrected test allows for that."
    )
    drawing = intervals.dots(readings, "; ".join(intervals.told(r) for r in readings))
    return element("figure", drawing, element("figcaption", caption), class_="plot")


def hardest(reading: Reading) -> tuple[bool, bool, float, float]:
    """A sort key: beyond chance first, risks before other numbers, then by what is surely gained, then by the estimate."""
    return (not reading.surely_worse, not reading.risk, -(reading.low or 0.0), -(reading.value or 0.0))


def count_of(readings: Sequence[Reading]) -> str:
    """So many attacks."""
    return f"{number(len(readings))} attack{'' if len(readings) == 1 else 's'}"


def gaining(readings: Sequence[Reading]) -> str:
    """How many of them gain more than chance explains: the beginning of a sentence."""
    worse = sum(r.surely_worse for r in readings)
    return f"{number(worse) if worse else 'None'} of {count_of(readings)} {'gains' if worse <= 1 else 'gain'}"


def _leak(reading: Reading) -> str:
    if reading.detectable is not None:
        return share(reading.detectable)
    return f"not even {share(reading.tried)}" if reading.tried is not None else ""


def noticed(tested: Sequence[Reading], power: Mapping[str, Any] | None) -> str:
    """The smallest leak that any of them would have noticed."""
    whole = (power or {}).get("audit")
    found = [r.detectable for r in tested if r.detectable is not None]
    least = min([*found, *([float(whole)] if isinstance(whole, (int, float)) else [])], default=None)
    if least is not None:
        return f"the smallest leak that this audit would have noticed is {share(least)} of the released rows, copied whole"
    if power is not None:
        return "not even the largest leak that was planted, to try it out, was noticed"
    return "how small a leak this audit would have noticed was not tried out"
