"""Whom the attacks hit: the riskiest records by row number, and the groups that fare worst. Values stay out unless passed in."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.evidence.verdict import LEVEL
from hushtable.report.everything import SHAPES
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.reading import Tone
from hushtable.report.words import firsts, interval, listed, number, p_value, share

ATTACKS = 3
"""So many kinds of attack are told of each record."""
SHOWN = 10
"""So many records are listed; the others are folded away."""
TOLD = 110
"""Letters of what an attacker used."""
HIDDEN = (
    "Rows are counted from 1 in the training table and in the release. Values are left out unless the audit was asked for them."
)


def records(found: Sequence[Mapping[str, Any]], at_risk: Sequence[Mapping[str, Any]], people: int | None) -> Html:
    """The records of ``riskiest`` and the counts of ``at_risk``, as plain values."""
    sure, weak = [r for r in found if not r.get("weak")], [r for r in found if r.get("weak")]
    explained = (
        "A record's risk is the share of the hits of an attack that are owed to being in the table and not to what the release "
        "says about everybody, at its lower bound; the largest over all attacks that hit it and that chance does not explain."
    )
    nobody = "No attack that hits people one by one gains more than chance explains, so no record can be said to be at risk."
    return join(
        element("p", explained if sure else nobody),
        element("p", _counts(at_risk, people)) if sure and at_risk else None,
        _table(sure[:SHOWN], "Riskiest records") if sure else None,
        _fold(f"{number(len(sure) - SHOWN)} more", sure[SHOWN:], "Riskiest records, the rest"),
        _fold(f"{number(len(weak))} hit by attacks that chance may explain", weak, "Records hit, perhaps by chance"),
        element("p", HIDDEN, class_="soft") if found else None,
    )


def groups(found: Mapping[str, Any]) -> Html:
    """What ``by_group`` found, as plain values: the groups on which attacks gain most."""
    worst, tested, left = found.get("worst") or [], int(found.get("tested") or 0), int(found.get("left_out") or 0)
    small = f" {number(left)} groups with too few people on either side were left out." if left else ""
    if not worst:
        return element("p", f"No group was large enough to be judged.{small}", class_="soft")
    alarms = int(found.get("alarms") or 0)
    lead = (
        f"Every attack on people one by one, on every level of the columns with a role: {number(alarms) if alarms else 'none'} of "
        f"{number(tested)} such pairs {'gains' if alarms <= 1 else 'gain'} more on people in the table than chance explains, "
        f"corrected for all of them.{small}"
    )
    heads = [
        "Group and verdict",
        "Worst attack on it",
        "In the table",
        "Outside",
        "Risk",
        "Interval",
        "On everybody",
        "p (corrected)",
    ]
    drawn = table(heads, map(_group, worst), label="Groups", numbers=range(2, 8), class_="findings groups")
    nearest = element("details", element("summary", f"The {number(len(worst))} that come nearest"), drawn)
    return join(element("p", lead), drawn if alarms else nearest)


def _fold(title: str, found: Sequence[Mapping[str, Any]], label: str) -> Html | None:
    return element("details", element("summary", title), _table(found, label)) if found else None


def _table(found: Sequence[Mapping[str, Any]], label: str) -> Html:
    rows: list[list[Child]] = [
        [
            number(r.get("row")),
            share(r.get("risk")),
            number(len(r.get("attacks") or [])),
            join(_values(r), _attacks(r.get("attacks") or [])),
        ]
        for r in found
    ]
    heads = ["Training row", "Risk at least", "Attacks", "Which, by which released row, from what"]
    return table(heads, rows, label=label, numbers=[0, 1, 2], class_="findings records")


def _values(record: Mapping[str, Any]) -> Html | None:
    """What the row holds, if that was asked for."""
    held = record.get("values") or {}
    told = ", ".join(f"{name} {'is missing' if value is None else value}" for name, value in held.items())
    return element("p", told, class_="soft") if held else None


def _attacks(hits: Sequence[Mapping[str, Any]]) -> Html:
    """The surest hit of each kind of attack, and how many there are besides."""
    kinds = firsts(hits, lambda hit: hit.get("name"))[:ATTACKS]
    rest = [element("li", f"and {number(len(hits) - len(kinds))} more", class_="soft")] if len(hits) > len(kinds) else []
    return element("ul", [element("li", _told(hit)) for hit in kinds], rest, class_="plain")


def _told(hit: Mapping[str, Any]) -> str:
    name = f"{hit.get('name', '')}, {hit['scope']}" if hit.get("scope") else str(hit.get("name", ""))
    row = f", released row {number(hit['released'])}" if hit.get("released") is not None else ""
    told = f": {textwrap.shorten(str(hit['told']), TOLD, placeholder=' …')}" if hit.get("told") else ""
    return f"{name}{row}{told}{' (perhaps chance)' if hit.get('weak') else ''}"


def _counts(at_risk: Sequence[Mapping[str, Any]], people: int | None) -> str:
    counts = [(number(int(one["people"])), share(float(one["above"])), number(round(one["chance"]))) for one in at_risk]
    told = [
        f"{hit} have a risk above {above} (the same attacks would hit {chance} of as many people outside)"
        for hit, above, chance in counts
    ]
    return f"Of {f'{number(people)} ' if people else 'the '}people in the table, {listed(told)}."


def _group(group: Mapping[str, Any]) -> list[Child]:
    scope = f", {group['scope']}" if group.get("scope") else ""
    tone, word = (Tone.ALARM, "worse than for people outside") if _alarm(group) else (Tone.OPEN, "no excess found")
    sides = [
        f"{share(group.get(rate))} of {number(group.get(size))}"
        for rate, size in (("rate", "attacked"), ("control_rate", "control_attacked"))
    ]
    words = element("p", element("span", SHAPES[tone], aria_hidden="true"), f" {word}", class_=f"verdict {tone}")
    return [
        join(element("span", f"{group.get('column', '')}: {group.get('level', '')}"), words),
        f"{group.get('name', '')}{scope}", *sides, share(group.get("value")),
        interval(group.get("low"), group.get("high"), percent=True), share(group.get("whole")),
        p_value(group.get("p_adjusted")),
    ]  # fmt: skip


def _alarm(group: Mapping[str, Any]) -> bool:
    p = group.get("p_adjusted")
    return isinstance(p, (int, float)) and p <= LEVEL
