"""The audit and the card as Markdown: the same words and numbers as the pages, for a wiki, a pull request or a mail."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from hushtable.report import attacks, budget, decision, promise
from hushtable.report.audit import HALVED, counted, evidence, title_of
from hushtable.report.card import SECRETS, counted_by, meanings, notes
from hushtable.report.decision import Evidence
from hushtable.report.everything import RULES, SHAPES, meaning_of
from hushtable.report.html import INTERNAL
from hushtable.report.meanings import family
from hushtable.report.reading import Reading, worst_first
from hushtable.report.utility import PAGES
from hushtable.report.words import listed, number, p_value, sentence, share

Plain = Mapping[str, Any]
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#~&"})


def audit_markdown(told: Plain) -> str:
    """What ``audit_page`` tells of the same values, without the drawings and the values of records."""
    found = evidence(told)
    readings, card, made = found.readings, found.card, told.get("made") or {}
    kind = "Audit" if found.attacked or not readings else "Utility"
    counts = [f"{count} {what}" for count, what in counted(told)]
    source = [f"hushtable {made['hushtable']}, seed {made['seed']}"] if "hushtable" in made and "seed" in made else []
    parts = [
        f"**{INTERNAL}**",
        f"# {kind}: {plain(title_of(card))}",
        plain(", ".join([*counts, *source])),
        plain(HALVED) if made.get("halved") else "",
        *(plain(sentence(reason)) for reason in found.assumed),
        *_decision(found),
        *_gates(found.gates),
        *_attacks(readings),
        *_whom(told.get("at_risk") or (), told.get("groups"), told.get("records")),
        *_power(found.power),
        *(["## Guarantee", *_guarantee(card)] if card else []),
        *_utility(readings),
        *_uncomputed(readings),
        *_meanings(readings),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def card_markdown(card: Plain) -> str:
    """The card of ``Release.card()`` as Markdown."""
    columns = [str(c) for c in card.get("columns") or []]
    dropped = [str(c) for c in card.get("dropped") or []]
    hashes = card.get("hashes") or {}
    parts = [
        f"# {plain(card.get('title') or card.get('recipe') or 'Untitled recipe')}",
        f"{number(card.get('rows'))} rows, {number(len(columns))} columns, recipe {code(card.get('recipe') or 'unnamed')}.",
        "## What is promised",
        *_guarantee(card),
        *_budget(card),
        "## The table",
        bullets(
            [f"Columns: {', '.join(map(code, columns)) or 'none'}", f"Left out: {', '.join(map(code, dropped)) or 'no column'}"]
        ),
        "## How it was made",
        bullets(
            [f"Steps: {', '.join(code(s) for s in card.get('steps') or [])}", f"Source: {plain(card.get('cite') or 'none given')}"]
        ),
        "## How to verify",
        "Anybody who holds the release folder can check it against this card: `hush verify FOLDER`. The raw rows are not needed.",
        grid(["File", "SHA-256"], [[code(name), code(digest)] for name, digest in hashes.items()]) if hashes else "",
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


def _decision(found: Evidence) -> list[str]:
    if not found.readings:
        return ["No audit was run, so nothing is known about this release beyond its card."]
    told = decision.answers(found)
    *_, last = told
    rows = [[plain(a.question), f"**{plain(a.figure)}**", plain(a.told), plain(a.mark)] for a in told]
    return [
        "## Decision",
        grid(["Question", "Answer", "In words", "Evidence"], rows),
        *(["Why:", bullets(map(plain, last.reasons))] if last.reasons else []),
        "Promised, measured and lost are three kinds of evidence, never added up to one score.",
    ]


def _gates(gates: Sequence[Plain]) -> list[str]:
    lines = [
        f"{code(g.get('expression', ''))} {'holds' if g.get('holds') else 'fails'}: {plain(sentence(str(g.get('told', ''))))}"
        for g in gates
    ]
    return ["## Conditions", bullets(lines)] if lines else []


def _attacks(readings: Sequence[Reading]) -> list[str]:
    parts = []
    for risk, (title, law) in attacks.RISKS.items():
        ours = sorted((r for r in readings if r.risk == risk and r.value is not None), key=attacks.hardest)
        if ours:
            rows = [
                [
                    plain(r.label),
                    r.told(r.value),
                    r.interval(),
                    p_value(r.p_adjusted),
                    _judged(r, power=True),
                    plain(sentence(r.note)),
                ]
                for r in ours
            ]
            parts += [f"## {title}", law, grid(["Attack", "Risk", "Interval", "p (corrected)", "Verdict", "What it means"], rows)]
    others = sorted((r for r in readings if r.subject == "privacy" and not r.risk and r.value is not None), key=worst_first)
    return [*parts, "## Other findings about privacy", _table(others)] if others else parts


def _whom(at_risk: Sequence[Plain], groups: Plain | None, records: Sequence[Plain] | None) -> list[str]:
    """Who is at risk, in counts: rows are named on the page only."""
    sure = sum(not r.get("weak") for r in records or ())
    lines = [f"{number(int(one['people']))} people have a risk above {share(float(one['above']))}; chance explains "
             f"{number(round(one['chance']))}" for one in at_risk if sure]  # fmt: skip
    if groups and groups.get("tested"):
        alarms, tested = (number(int(groups.get(key) or 0)) for key in ("alarms", "tested"))
        lines.append(f"{alarms} of {tested} pairs of a group and an attack gain more than chance explains")
    return ["## Who is at risk", bullets(plain(f"{line}.") for line in lines)] if lines else []


def _power(power: Plain | None) -> list[str]:
    if not power or not power.get("noticed"):
        return []
    rows = [
        [share(float(s)), f"{number(int(n))} of {number(int(power.get('tests') or 0))}"]
        for s, n in zip(power["shares"], power["noticed"], strict=False)
    ]
    told = [bullets(plain(f"{line}.") for line in lines)] if (lines := attacks.power_of_parts(power)) else []
    return ["## What it would have noticed", grid(["Planted share of the released rows", "Tests that noticed it"], rows), *told]


def _guarantee(card: Plain) -> list[str]:
    word = promise.assurance(card)
    guarantee = card.get("guarantee") or {}
    told = [
        (str(head), [str(text) for _, text in lines])
        for head, lines in groupby(card.get("explanation") or [], key=lambda pair: pair[0])
    ]
    measured = guarantee.get("criteria") or {}
    rows = [
        [plain(name.replace("_", " ")), plain(number(measured[name])), plain(text)] for name, text in meanings(measured).items()
    ]
    for secret, values in (measured.get("secrets") or {}).items():
        rows += [
            [f"{plain(name.replace('_', ' '))} of {code(secret)}", plain(number(value)), plain(SECRETS.get(name, ""))]
            for name, value in values.items()
        ]
    columns = plain(listed([str(column) for column in measured.get("quasi") or []]))
    over = [f"Measured on the table, over {columns}. {plain(counted_by(measured))}"] if measured else []
    return [
        f"**{word}**: {plain(promise.ASSURANCES[word][1])}.",
        *(plain(line) for line in promise.sentences(card)),
        plain(promise.in_symbols(card)),
        bullets(f"**{plain(head)}** {plain(' '.join(lines))}" for head, lines in told),
        *([*over, grid(["Criterion", "Value", "What it means"], rows)] if rows else []),
        bullets(f"Mind: {plain(sentence(str(c)))}" for c in [*notes(card.get("result")), *(guarantee.get("caveats") or [])]),
    ]


def _budget(card: Plain) -> list[str]:
    ledger = (card.get("guarantee") or {}).get("ledger") or []
    if not ledger:
        return []
    found, _ = budget.looks(ledger)
    spends = math.isfinite(promise.epsilon(card))
    rows = [
        [
            plain(look.step),
            plain(look.what()),
            plain(look.mechanism()),
            share(look.part) if spends and look.part is not None else "",
        ]
        for look in found
    ]
    return ["## Privacy budget", grid(["Step", "What was looked at", "Mechanism", "Share"], rows)]


def _utility(readings: Sequence[Reading]) -> list[str]:
    parts = []
    for page, kind in PAGES.items():
        ours = [r for r in readings if r.page == page and r.subject != "privacy" and r.value is not None]
        parts += [f"## {kind.title}", plain(kind.lead), _table(ours)] if ours else []
    others = [r for r in readings if not r.page and r.subject != "privacy" and r.value is not None]
    return [*parts, "## Other findings", _table(others)] if others else parts


def _uncomputed(readings: Sequence[Reading]) -> list[str]:
    failed = [r for r in readings if r.value is None]
    if not failed:
        return []
    return [
        "## What could not be computed",
        "Not knowing is not the same as finding nothing.",
        grid(["Finding", "Reason"], [[plain(r.label), plain(sentence(r.note))] for r in failed]),
    ]


def _meanings(readings: Sequence[Reading]) -> list[str]:
    found = {family(r.name): r for r in reversed(readings)}
    told = [
        f"**{plain(name)}**: {plain(meaning_of(r))}. {plain(', '.join(p for p in (r.direction, r.reach) if p))}".rstrip()
        for name, r in sorted(found.items(), key=lambda pair: pair[0].lower())
    ]
    rules = [("Should it be published?", decision.RULE), *RULES]
    return ["## What the numbers mean", bullets([*told, *(f"**{plain(name)}**: {plain(text)}" for name, text in rules)])]


def _table(readings: Sequence[Reading]) -> str:
    rows = [
        [
            plain(r.label),
            r.told(r.value),
            r.interval(),
            r.told(r.baseline) if r.baseline is not None else "",
            _judged(r),
            plain(sentence(r.note)),
        ]
        for r in readings
    ]
    return grid(["Finding", "Value", "Interval", "Baseline", "Verdict", "Note"], rows)


def _judged(reading: Reading, *, power: bool = False) -> str:
    found = reading.verdict
    more = f"; {reading.power}" if power and reading.power and not reading.surely_worse else ""
    return f"{SHAPES[found.tone]} {found.words}{more}"
