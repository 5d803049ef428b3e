"""What each part of an audit says, in one line: all that is seen of it until it is opened."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.groups import Groups
from hushtable.evidence.records import Record, Tail
from hushtable.evidence.verdict import furthest, of_risk, surely_worse, worst_of
from hushtable.pipeline.card import Card
from hushtable.report import attacks
from hushtable.report import findings as show
from hushtable.report.words import number, share


def of_attacks(findings: Sequence[Finding], risk: Risk) -> str:
    """How many attacks of a risk gain something, and which most."""
    worst = worst_of(findings, risk)
    if worst is None:
        return "No attack of this kind gave a number."
    return f"{attacks.gaining(of_risk(findings, risk))} more than chance explains; the worst is “{worst.label}”."


def of_indicators(findings: Sequence[Finding]) -> str:
    """How many numbers there are, and how many are worse than for real rows."""
    worse = sum(map(surely_worse, findings))
    count = f"{number(worse) if worse else 'None'} of {number(len(findings))} numbers"
    return f"{count} {'is' if worse <= 1 else 'are'} worse than for fresh real rows."


def of_records(records: Sequence[Record], at_risk: Sequence[Tail], people: int | None) -> str:
    """How many people are at risk."""
    if not any(not record.weak for record in records):
        return "No record is known to be at risk."
    whom = f" of {number(people)}" if people else ""
    return " ".join(f"{number(one.people)}{whom} people have a risk above {share(one.above)}." for one in at_risk[:1])


def of_groups(groups: Groups) -> str:
    """How many groups attacks gain on."""
    alarms = number(groups.alarms) if groups.alarms else "none"
    return f"Of {number(groups.tested)} pairs of a group and an attack, {alarms} {'gains' if groups.alarms == 1 else 'gain'} more."


def of_budget(card: Card) -> str:
    """What was spent, in how many accesses to the rows."""
    count = number(len(card.ledger))
    spent = f"epsilon = {number(card.stated.epsilon)}" if math.isfinite(card.stated.epsilon) else "no epsilon"
    return f"{count} access{'' if count == '1' else 'es'} to the rows; {spent}."


def of_measures(findings: Sequence[Finding]) -> str:
    """The measure of a page that is worst, with its verdict."""
    first = furthest(findings)
    count = f"{number(len(findings))} number{'' if len(findings) == 1 else 's'}"
    return f"{count}; the furthest from real rows is {first.label}, {show.value(first)}: {show.verdict_words(first)}."
