"""Whom the attacks hit: the riskiest records by row number, and the groups most at risk. Values stay out unless passed in."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from hushtable.display import listed
from hushtable.evidence.groups import Group, Groups
from hushtable.evidence.records import Hit, Record, Tail
from hushtable.evidence.verdict import Tone, Verdict
from hushtable.report.findings import marked, points
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.words import firsts, number, p_value, share

MOST = 20
"""So many records are on the page; the others are in the file."""
ATTACKS = 3
"""So many kinds of attack are named of each record."""
SHOWN = 10
"""So many records are listed; the others are folded away."""
LETTERS = 110
"""Letters of what an attacker used."""
HIDDEN = (
    "Rows are counted from 1 in the training table and in the release. Values are left out unless the audit was asked for them."
)


def records_section(records: Sequence[Record], at_risk: Sequence[Tail], people: int | None) -> Html:
    """The records at most risk, and how many people are at risk."""
    records = records[:MOST]
    sure, weak = [r for r in records if not r.weak], [r for r in records if r.weak]
    explained = (
        "A record's risk is the share of the hits of an attack that are owed to being in the table and not to what the release "
        "says about everybody, at its lower bound; the largest over all attacks that hit it and that chance does not explain."
    )
    nobody = "No attack that hits people one by one gains more than chance explains, so no record is known to be at risk."
    return join(
        element("p", explained if sure else nobody),
        element("p", _counts(at_risk, people)) if sure and at_risk else None,
        _table(sure[:SHOWN], "Riskiest records") if sure else None,
        _fold(f"{number(len(sure) - SHOWN)} more", sure[SHOWN:], "Riskiest records, the rest"),
        _fold(f"{number(len(weak))} hit by attacks that chance may explain", weak, "Records hit, perhaps by chance"),
        element("p", HIDDEN, class_="soft") if records else None,
    )


def groups_section(groups: Groups) -> Html:
    """The groups on which attacks gain most."""
    small = f" {number(groups.left_out)} groups with too few people on either side were left out." if groups.left_out else ""
    if not groups.worst:
        return element("p", f"No group was large enough to be judged.{small}", class_="soft")
    alarms = groups.alarms
    lead = (
        f"Every attack on people one by one, on every level of the columns with a role: {number(alarms) if alarms else 'none'} of "
        f"{number(groups.tested)} such pairs {'gains' if alarms <= 1 else 'gain'} more on people in the table than chance "
        f"explains, corrected for all of them.{small}"
    )
    heads = [
        "Group and verdict",
        "Worst attack on it",
        "In the table",
        "Outside",
        "More hit of 100",
        "Interval",
        "Residual risk",
        "On everybody",
        "p (corrected)",
    ]
    drawn = table(heads, map(_group, groups.worst), label="Groups", numbers=range(2, 9), class_="findings groups")
    nearest = element("details", element("summary", f"The {number(len(groups.worst))} that come nearest"), drawn)
    return join(element("p", lead), drawn if alarms else nearest)


def _fold(title: str, records: Sequence[Record], label: str) -> Html | None:
    return element("details", element("summary", title), _table(records, label)) if records else None


def _table(records: Sequence[Record], label: str) -> Html:
    rows: list[list[Child]] = [
        [number(r.row), share(r.risk), number(len(r.attacks)), join(_values(r), _attacks(r.attacks))] for r in records
    ]
    heads = ["Training row", "Risk at least", "Attacks", "Which, by which released row, from what"]
    return table(heads, rows, label=label, numbers=[0, 1, 2], class_="findings records")


def _values(record: Record) -> Html | None:
    """What the row holds, if that was asked for."""
    if not record.values:
        return None
    values = ", ".join(f"{name} {'is missing' if value is None else value}" for name, value in record.values.items())
    return element("p", values, class_="soft")


def _attacks(hits: Sequence[Hit]) -> Html:
    """The surest hit of each kind of attack, and how many there are besides."""
    kinds = firsts(hits, lambda hit: hit.name)[:ATTACKS]
    rest = [element("li", f"and {number(len(hits) - len(kinds))} more", class_="soft")] if len(hits) > len(kinds) else []
    return element("ul", [element("li", _hit(hit)) for hit in kinds], rest, class_="plain")


def _hit(hit: Hit) -> str:
    name = f"{hit.name}, {hit.scope}" if hit.scope else hit.name
    row = f", released row {number(hit.released)}" if hit.released is not None else ""
    used = f": {textwrap.shorten(hit.description, LETTERS, placeholder=' …')}" if hit.description else ""
    return f"{name}{row}{used}{' (perhaps chance)' if hit.weak else ''}"


def _counts(at_risk: Sequence[Tail], people: int | None) -> str:
    lines = [
        f"{number(one.people)} have a risk above {share(one.above)} "
        f"(the same attacks would hit {number(round(one.chance))} of as many people outside)"
        for one in at_risk
    ]
    return f"Of {f'{number(people)} ' if people else 'the '}people in the table, {listed(lines)}."


def _group(group: Group) -> list[Child]:
    scope = f", {group.scope}" if group.scope else ""
    judged = Verdict(Tone.ALARM, "worse than for people outside") if group.alarm else Verdict(Tone.OPEN, "no excess found")
    return [
        join(element("span", f"{group.column}: {group.level}"), marked(judged)),
        f"{group.name}{scope}",
        f"{share(group.rate)} of {number(group.attacked)}",
        f"{share(group.control_rate)} of {number(group.control_attacked)}",
        points(group.gain.value),
        f"{points(group.gain.low)} to {points(group.gain.high)}",
        share(group.value),
        share(group.whole),
        p_value(group.p_adjusted),
    ]
