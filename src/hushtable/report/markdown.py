"""The audit and the card as Markdown: the same words and numbers as the pages, for a wiki, a pull request or a mail."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from hushtable.display import listed
from hushtable.evidence.finding import Finding
from hushtable.evidence.metrics import family
from hushtable.evidence.power import Power
from hushtable.evidence.verdict import Evidence, by_excess, of_risk, verdict, worst_of
from hushtable.pipeline.card import Card
from hushtable.privacy.stated import MEANINGS
from hushtable.report import attacks, budget, decision, tables
from hushtable.report import findings as show
from hushtable.report.audit import APART, HALVED, RULES, counted, dated, key_figures, kind_of, origin
from hushtable.report.card import cautions, counted_by, meanings, secret_meaning, suppression, whom
from hushtable.report.causes import what_to_do
from hushtable.report.html import INTERNAL
from hushtable.report.utility import PAGES, of_page
from hushtable.report.words import number, p_value, sentence, share

if TYPE_CHECKING:
    # The text shows the report and does not make it.
    from hushtable.api.audit_report import AuditReport

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#~&"})


def audit_markdown(report: AuditReport) -> str:
    """What ``audit_page`` shows of the same report, without the drawings and the values of records."""
    findings, card, evidence = report.findings, report.card, report.evidence
    counts = [f"{count} {what}" for count, what in counted(report)]
    gates = [f"{code(one.expression)} {'holds' if one.holds else 'fails'}: {plain(sentence(one.reason))}" for one in report.gates]
    parts = [
        f"**{INTERNAL}**",
        f"# {kind_of(report).capitalize()}: {plain(dated(report))}",
        *_decision(report),
        *(["## Conditions", bullets(gates)] if gates else []),
        *_figures(findings),
        "## About this audit" if counts else "",
        plain(", ".join([*counts, *origin(report)])),
        plain(HALVED) if report.run.halved else "",
        plain(sentence(report.sampled)) if report.sampled else "",
        *(plain(sentence(reason)) for reason in report.assumed),
        plain(sentence(report.run.untried)) if report.run.untried else "",
        *_attacks(evidence),
        *_whom(report),
        *_power(report.power),
        *(["## Guarantee", *_guarantee(card)] if card else []),
        *_utility(findings),
        *_uncomputed(findings),
        *_meanings(findings),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def card_markdown(card: Card) -> str:
    """A card as Markdown."""
    parts = [
        f"# {plain(card.name or 'Untitled recipe')}",
        f"{number(card.rows)} rows, {number(len(card.columns))} columns, recipe {code(card.recipe or 'unnamed')}"
        f"{f', {plain(card.date)}' if card.date else ''}.",
        plain(whom(card)),
        "## What is promised",
        *_guarantee(card),
        *_budget(card),
        "## The table",
        bullets(
            [
                f"Columns: {', '.join(map(code, card.columns)) or 'none'}",
                f"Left out: {', '.join(map(code, card.dropped)) or 'no column'}",
                *([f"Unchanged: {', '.join(map(code, card.untouched.columns))}"] if card.untouched else []),
            ]
        ),
        "## How it was made",
        bullets([f"Steps: {', '.join(map(code, card.steps))}", f"Source: {plain(card.cite or 'none given')}"]),
        "## How to verify",
        "Anybody who holds the release folder can check it against this card: `hush verify FOLDER`. The raw rows are not needed.",
        grid(["File", "SHA-256"], [[code(name), code(digest)] for name, digest in card.hashes.items()]) if card.hashes else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: object) -> str:
    """Text that shows as it is: nothing in it can start a heading, a table cell, a link, an entity or markup."""
    return _printable(text).translate(_SPECIAL)


def code(text: object) -> str:
    """A name in fixed width."""
    return f"`{_printable(text).translate(str.maketrans('`|', 'ʼ∣'))}`"


def _printable(text: object) -> str:
    """Without what breaks a line, reverses it or cannot be written."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(str(text).split()))


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; what is in the cells must be Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def bullets(lines: Iterable[str]) -> str:
    """A list; the lines must be Markdown already."""
    return "\n".join(f"- {line}" for line in lines)


def _decision(report: AuditReport) -> list[str]:
    """The verdict, what to do about it, and the other three answers."""
    if not report.findings:
        return ["No audit was run, so nothing is known about this release beyond its card."]
    *others, last = decision.answers(report.evidence)
    rows = [[plain(a.question), f"**{plain(a.figure)}**", plain(a.text), plain(a.mark)] for a in others]
    return [
        f"## {plain(last.question)}",
        f"**{plain(last.figure)}.** {plain(last.text)}",
        *(["What to do:", bullets(map(plain, what_to_do(report.evidence)))] if report.evidence.advised else []),
        *(["Why:", bullets(map(plain, last.reasons))] if last.reasons else []),
        grid(["Question", "Answer", "In words", "Evidence"], rows),
        APART,
    ]


def _figures(findings: Sequence[Finding]) -> list[str]:
    """The worst attack of each risk, and the other key figures."""
    worst = [f for risk in attacks.RISKS if (f := worst_of(findings, risk)) is not None]
    figures = [*worst, *key_figures(findings)]
    return ["## Key figures", _table(figures, findings)] if figures else []


def _attacks(evidence: Evidence) -> list[str]:
    planted = None if evidence.power is None else evidence.power.largest
    heads = ["Attack", "More hit of 100", "Interval", "Residual risk", "p (corrected)", "Verdict", "What it means"]
    parts = []
    for risk, (title, law) in attacks.RISKS.items():
        if ours := of_risk(evidence.findings, risk):
            rows = [
                [
                    plain(f.label),
                    show.gained(f),
                    show.gained_between(f),
                    show.value(f),
                    p_value(f.p_adjusted),
                    _judged(f, planted),
                    plain(sentence(f.note)),
                ]
                for f in ours
            ]
            parts += [f"## {title}", law, grid(heads, rows)]
    others = sorted((f for f in evidence.private if not f.risk), key=by_excess)
    return [*parts, "## Other findings about privacy", _table(others)] if others else parts


def _whom(report: AuditReport) -> list[str]:
    """Who is at risk, in counts: rows are named on the page only."""
    sure = any(not record.weak for record in report.records)
    lines = [
        f"{number(one.people)} people have a risk above {share(one.above)}; chance explains {number(round(one.chance))}"
        for one in report.at_risk
        if sure
    ]
    if report.groups and report.groups.tested:
        alarms, tested = number(report.groups.alarms), number(report.groups.tested)
        lines.append(f"{alarms} of {tested} pairs of a group and an attack gain more than chance explains")
    return ["## Who is at risk", bullets(plain(f"{line}.") for line in lines)] if lines else []


def _power(power: Power | None) -> list[str]:
    if power is None or not power.noticed:
        return []
    rows = [
        [share(planted), f"{number(count)} of {number(power.tests)}"]
        for planted, count in zip(power.shares, power.noticed, strict=False)
    ]
    parts = [bullets(plain(f"{line}.") for line in lines)] if (lines := attacks.power_of_parts(power)) else []
    return ["## What it would have noticed", grid(["Planted share of the released rows", "Tests that noticed it"], rows), *parts]


def _guarantee(card: Card) -> list[str]:
    stated, measured = card.stated, card.criteria
    explained = [(head, [line for _, line in lines]) for head, lines in groupby(card.explanation, key=lambda pair: pair[0])]
    rows = [
        [plain(name.replace("_", " ")), plain(number(measured[name])), plain(text)] for name, text in meanings(measured).items()
    ]
    rows += [[plain(cell) for cell in line] for line in suppression(card)]
    for secret, values in (measured.get("secrets") or {}).items():
        rows += [
            [f"{plain(name.replace('_', ' '))} of {code(secret)}", plain(number(value)), plain(secret_meaning(name, value))]
            for name, value in values.items()
        ]
    columns = plain(listed([str(column) for column in measured.get("quasi") or []]))
    over = [f"Measured on the table, over {columns}. {plain(counted_by(measured))}"] if measured else []
    return [
        f"**{stated.assurance}**: {plain(MEANINGS[stated.assurance])}.",
        *(f"**But:** {plain(line)}" for line in card.exposed),
        *map(plain, stated.sentences()),
        plain(stated.in_symbols()),
        bullets(f"**{plain(head)}** {plain(' '.join(lines))}" for head, lines in explained),
        *([*over, grid(["Criterion", "Value", "What it means"], rows)] if rows else []),
        bullets(f"Caution: {plain(sentence(line))}" for line in cautions(card)),
    ]


def _budget(card: Card) -> list[str]:
    if not card.ledger:
        return []
    accesses, _ = budget.accesses(card.ledger)
    spends = math.isfinite(card.stated.epsilon)
    rows = [
        [
            plain(one.step),
            plain(one.what()),
            plain(one.mechanism()),
            share(one.part) if spends and one.part is not None else "",
        ]
        for one in accesses
    ]
    return ["## Privacy budget", grid(["Step", "What was read or asked", "Mechanism", "Share"], rows)]


def _utility(findings: Sequence[Finding]) -> list[str]:
    parts = []
    for page, kind in PAGES.items():
        ours = of_page(findings, page)
        parts += [f"## {kind.title}", plain(kind.lead), _table(ours, ours)] if ours else []
    others = of_page(findings, None)
    return [*parts, "## Other findings", _table(others)] if others else parts


def _uncomputed(findings: Sequence[Finding]) -> list[str]:
    failed = [f for f in findings if f.value is None]
    if not failed:
        return []
    return [
        "## What could not be computed",
        "Not knowing is not the same as finding nothing.",
        grid(["Finding", "Reason"], [[plain(f.label), plain(sentence(f.note))] for f in failed]),
    ]


def _meanings(findings: Sequence[Finding]) -> list[str]:
    kinds = {family(f.name): f for f in reversed(findings)}
    lines = [
        f"**{plain(name)}**: {plain(tables.meaning_or_note(f))}. {plain(show.direction_and_reach(f))}".rstrip()
        for name, f in sorted(kinds.items(), key=lambda pair: pair[0].lower())
    ]
    rules = [f"**{plain(name)}**: {plain(text)}" for name, text in (*RULES, *tables.RULES)]
    return ["## What the numbers mean", bullets([*lines, *rules])]


def _table(findings: Sequence[Finding], parts: Sequence[Finding] = ()) -> str:
    """A row for each; beside a mean the worst of its parts, where they are among ``parts``."""
    rows = [
        [
            plain(f.label),
            f"{show.value(f)} ({plain(worst)})" if (worst := show.worst(f, parts)) else show.value(f),
            show.interval(f),
            show.baseline(f),
            _judged(f),
            plain(sentence(f.note)),
        ]
        for f in findings
    ]
    return grid(["Finding", "Value", "Interval", "Baseline", "Verdict", "Note"], rows)


def _judged(finding: Finding, planted: float | None = None) -> str:
    return f"{show.SHAPES[verdict(finding).tone]} {show.verdict_words(finding, planted)}"
