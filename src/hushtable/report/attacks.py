"""Attacks by the risk they are an instance of: a box and a section for each of the three."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hushtable.evidence.condition import Outcome
from hushtable.evidence.finding import Finding, Risk
from hushtable.evidence.power import Power
from hushtable.evidence.verdict import (
    FEWEST,
    LEVEL,
    LITTLE,
    Evidence,
    Headline,
    Tone,
    attempts,
    headline,
    is_alarm,
    little_left,
    of_risk,
    surely_worse,
    upper,
    verdict,
    worst_of,
)
from hushtable.report import findings as show
from hushtable.report.charts import intervals
from hushtable.report.html import Child, Html, element, join, table
from hushtable.report.tables import folded
from hushtable.report.words import number, p_value, sentence, share

RISKS = {
    Risk.SINGLING_OUT: (
        "Singling out",
        "In law: whether somebody can isolate the record of one person. Finding a copy of a record, or learning that a "
        "person is in the table at all, counts as that.",
    ),
    Risk.LINKABILITY: (
        "Linkability",
        "In law: whether somebody can connect two records of the same person, here two halves of one record through the release.",
    ),
    Risk.INFERENCE: (
        "Attribute inference",
        "In law: whether somebody can deduce, with significant probability, one attribute of a person from other attributes.",
    ),
}
"""The three risks of the Article 29 Working Party, opinion 05/2014 (WP216), which an anonymous table must not leave open."""
OF_WHOM = "of the people whom it would miss if they were not in the table"
"""Of whom a residual risk is a share."""
NAMED = 4
"""So many attacks are named in a sentence; the others are counted."""
DRAWN = 12
"""So many attacks of one risk are drawn and listed; the others are folded away."""
SOURCE = "Opinion 05/2014 of the Article 29 Working Party names three risks that an anonymous table must not leave open."


def anchor(risk: Risk) -> str:
    """The section of a risk."""
    return risk.replace(" ", "-")


def anchor_of(finding: Finding) -> str:
    """The section that says more about an attack."""
    return "indicators" if finding.risk is None else anchor(finding.risk)


def boxes(findings: Sequence[Finding], planted: float | None) -> Html:
    """For each of the three risks what attacks gain at most, the worst of them with its interval, and its sentence."""
    return join(
        element("div", [_box(risk, findings, planted) for risk in RISKS], class_="figures risks"),
        element(
            "p",
            f"{SOURCE} Each number says on how many more of 100 people in the table than of 100 outside it attacks of the kind "
            f"succeed. The residual risk is the same as a share {OF_WHOM}.",
            class_="soft",
        ),
    )


def gate(outcome: Outcome) -> Html:
    """Whether a condition that was asked for holds."""
    tone, word = (Tone.CALM, "Condition holds") if outcome.holds else (Tone.ALARM, "Condition fails")
    return element(
        "div",
        element(
            "p",
            element("strong", element("span", show.SHAPES[tone], aria_hidden="true"), f" {word}", class_="badge"),
            element("code", outcome.expression),
        ),
        element("p", sentence(outcome.reason)),
        class_=f"statement small {tone}",
    )


def section(risk: Risk, findings: Sequence[Finding], planted: float | None) -> Html:
    """What it means in law, dots of the worst attacks, a table of all."""
    title, law = RISKS[risk]
    ours, lead = of_risk(findings, risk), element("p", law)
    if not ours:
        return join(lead, element("p", "No attack of this kind gave a number.", class_="soft"))

    def draw(some: Sequence[Finding], *, label: str) -> Html:
        return _table(some, planted, label=label)

    worse = sum(map(surely_worse, ours))
    count = f"{number(worse)} of {number(len(ours))} attacks gain more on people in the table than chance explains, worst first."
    own, general = ([f for f in ours if little_left(f) is apart] for apart in (False, True))
    drawn = join(_dots(own[:DRAWN]), folded(own, DRAWN, f"{title}: attacks", draw)) if own else None
    return join(lead, element("p", count), drawn, _general(general, title, draw))


def _general(attacks: Sequence[Finding], title: str, draw: Callable[..., Html]) -> Html | None:
    """Attacks that succeed on nearly everybody, folded away unless one of them is beyond chance."""
    if not attacks:
        return None
    lead = (
        f"These succeed on at least {share(LITTLE)} of the people outside the table too: they show what the release says about "
        "everybody, not about those in it, and little is left for them to gain."
    )
    body = join(element("p", lead), draw(attacks, label=f"{title}: little left to gain"))
    heading = f"Little left to gain: {count_of(attacks)}"
    if any(is_alarm(f.p_adjusted) for f in attacks):
        return join(element("h3", heading), body)
    return element("details", element("summary", heading), body)


def power_section(power: Power) -> Html:
    """Which of the leaks that were planted as a test the audit noticed."""
    lead = (
        "Records of people in the table were planted in a copy of the release, and the whole audit was run on it. Noticed: the "
        "corrected test raised an alarm every time. A leak smaller than those noticed may be there and not be seen."
    )
    rows: list[list[Child]] = [
        [share(planted), f"{number(count)} of {number(power.tests)}"]
        for planted, count in zip(power.shares, power.noticed, strict=False)
    ]
    heads = ["Planted share of the released rows", "Tests that noticed it"]
    parts = [element("p", f"{line}.", class_="soft") for line in power_of_parts(power)]
    return join(element("p", lead), table(heads, rows, label="Planted leaks", numbers=[0, 1], class_="narrow"), parts)


def power_of_parts(power: Power) -> list[str]:
    """Of each leak of a part of a row, the smallest share that was noticed."""
    return [
        f"Of released rows with {leak} from a training row, {share(least)} are noticed"
        if least is not None
        else f"Released rows with {leak} from a training row are not surely noticed, however many of those planted there are"
        for leak, least in power.parts.items()
    ]


def count_of(attacks: Sequence[Finding]) -> str:
    """So many attacks."""
    return f"{number(len(attacks))} attack{'' if len(attacks) == 1 else 's'}"


def gaining(attacks: Sequence[Finding]) -> str:
    """How many of them gain more than chance explains: the beginning of a sentence."""
    worse = sum(map(surely_worse, attacks))
    return f"{number(worse) if worse else 'None'} of {count_of(attacks)} {'gains' if worse <= 1 else 'gain'}"


def achieved(attack: Finding) -> str:
    """What one attack gains in people, with its interval, and its residual risk."""
    if attack.gain is None:
        between = f" (interval {show.interval(attack)})" if show.interval(attack) else ""
        return f"it succeeds on {show.value(attack)} {OF_WHOM}{between}"
    count = f"{show.points(abs(attack.gain.value))} {'fewer' if attack.gain.value < 0 else 'more'} of 100"
    return f"it hits {count} (interval {show.gained_between(attack)}; residual risk {show.value(attack)})"


def excluded(head: Headline) -> str:
    """What cannot be excluded, in people, by which attack or by none."""
    whom = f"up to {show.beyond(head.high)}"
    if head.resolved:
        return f"it cannot be excluded that “{head.widest.label}” hits {whom}"
    return f"an audit of this size cannot exclude that one of them hits {whom}"


def too_few(head: Headline) -> str:
    """Which attacks are not counted in the headline, and why."""
    named = [f"“{f.label}” ({number(round(attempts(f)))} attempts, up to {show.people(upper(f) or 0.0)})" for f in head.few[:NAMED]]
    more = f" and {number(len(head.few) - NAMED)} more, marked in the tables" if len(head.few) > NAMED else ""
    which = f"{count_of(head.few)} with fewer than {FEWEST} attempts"
    return f"too few to say, and not in that bound: {which}: {', '.join(named)}{more}"


def noticed(evidence: Evidence) -> str:
    """The smallest leak that the audit would have noticed."""
    if (least := evidence.smallest_leak) is not None:
        return f"the smallest leak that this audit would have noticed is {share(least)} of the released rows, copied whole"
    if evidence.power is not None:
        return "not even the largest leak that was planted as a test was noticed"
    return "how small a leak this audit would have noticed was not tested (hush audit --power tests it)"


def _table(attacks: Sequence[Finding], planted: float | None, *, label: str) -> Html:
    """One row per attack: its gain, its risk, how likely chance does as much, the leak it would have noticed, its sentence."""
    power = planted is not None or any(f.detectable is not None for f in attacks)
    heads = [
        "Attack and verdict", "More hit of 100", "Interval", "Residual risk", "p (corrected)", *(["Leak noticed"] if power else []),
        "What it means",
    ]  # fmt: skip
    rows: list[list[Child]] = [
        [
            show.judged(f), show.gained(f), show.gained_between(f), show.value(f), p_value(f.p_adjusted),
            *([_leak(f, planted)] if power else []), sentence(f.note),
        ]
        for f in attacks
    ]  # fmt: skip
    return table(heads, rows, label=label, numbers=range(1, 6 if power else 5), class_="findings judged")


def _box(risk: Risk, findings: Sequence[Finding], planted: float | None) -> Html:
    title, _ = RISKS[risk]
    worst = worst_of(findings, risk)
    if worst is None:
        tried = any(f.risk is risk for f in findings)
        reason = "no attack of this kind could be computed; the reasons are below" if tried else "no attack of this kind was run"
        return element(
            "article", element("h3", title), element("p", "–", class_="value"), element("p", reason, class_="soft"),
            element("p", "not judged", class_="verdict open"), element("p", class_="explained"), class_=str(Tone.OPEN),
        )  # fmt: skip
    own = of_risk(findings, risk)
    head = headline(own)
    which = f"worst of {count_of(own)}: {worst.label}: {achieved(worst)}"
    return element(
        "article",
        element("h3", title),
        element("p", show.value(worst) if head is None else show.most(head), class_="value"),
        element("p", which, class_="soft"),
        show.verdict_line(worst, planted),
        element("p", sentence(worst.note), class_="explained"),
        class_=str(verdict(worst).tone),
    )


def _dots(attacks: Sequence[Finding]) -> Html:
    caption = (
        "Dot: how many more of 100 people in the table are hit than of 100 outside it, on the same scale on every page; an arrow: "
        "it may be fewer. Line: its interval. "
        f"Filled: chance would do as much in at most {share(LEVEL)} of all audits, corrected for all tests; hollow: no excess. "
        "An interval is that of one attack alone: of many, some exclude zero by chance, and the corrected test allows for that."
    )
    drawing = intervals.gains(attacks, "; ".join(map(intervals.gain_in_words, attacks)))
    return element("figure", drawing, element("figcaption", caption), class_="plot")


def _leak(finding: Finding, planted: float | None) -> str:
    if finding.detectable is not None:
        return share(finding.detectable)
    return "" if planted is None else f"not even {share(planted)}"
