"""The audit of a mechanism as a page: for each canary a line from the bound that was shown up to what is stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.audits.mechanism.lines import NOBODY, CanaryLine, QueryLine, Stated
from hushtable.report.charts.canaries import draw, shape, tone, word
from hushtable.report.html import Child, Html, Section, element, join, page, pairs, table
from hushtable.report.words import NOTHING, fixed, number, share

if TYPE_CHECKING:
    from hushtable.api.mechanism import MechanismReport

MEANING = (
    "A lower bound above what is stated refutes it. A bound below it proves nothing: it says only what these canaries, these "
    "guessers and so many runs could show."
)


def mechanism_page(report: MechanismReport) -> str:
    """One standalone page. No row of anybody is behind it."""
    sections = [
        Section("verdict", "Verdict", _verdict(report)),
        Section("canaries", "Canaries", join(_picture(report.tested), _table(report.tested), _untested(report.untested))),
        Section("questions", "Questions on all neighbours", _questions(report.queries)),
        Section("how", "How it was tested", _how(report)),
    ]
    head = join(
        element("p", "Audit of a mechanism", class_="eyebrow"),
        element("h1", report.recipe),
        element("p", report.title, class_="soft") if report.title else None,
    )
    return page(title=f"Audit of {report.recipe}", head=head, sections=sections, kind="public", running="")


def _verdict(report: MechanismReport) -> Html:
    mark = element("span", f"{shape(report)} {report.verdict}", class_=f"verdict {tone(report)}")
    facts: list[tuple[Child, Child]] = [
        ("Guarantee of the recipe", report.guarantee or "none"),
        ("Confidence", share(report.confidence)),
    ]
    if report.tested:
        first = report.tested[0]
        stated = first.result[0]
        size = f"epsilon {number(stated.epsilon)}, delta {number(stated.delta)}"
        facts += [
            (
                word(first).capitalize(),
                f"{size}, by {stated.source}" if stated.source != NOBODY else f"{size}; {_nobody(stated)}",
            ),
            ("Neighbours", f"{stated.relation}, one {stated.unit}"),
            ("Assumed public", "; ".join(stated.public) or "nothing"),
        ]
    return join(element("p", mark, class_="lead"), pairs(facts), element("p", MEANING, class_="soft"))


def _picture(tested: Sequence[CanaryLine]) -> Html | None:
    if not tested:
        return None
    caption = f"Epsilon: the lower bound (dot) and what is {word(tested[0])} (tick). Nothing proves that epsilon is not larger."
    if any(line.result[0].proven for line in tested):
        caption = "Epsilon, from the lower bound (dot) up to what is stated and proven (tick)."
    return element("figure", draw(tested), element("figcaption", caption), class_="plot")


def _nobody(stated: Stated) -> str:
    return f"the publication claims {number(stated.claimed)}" if stated.claimed else "the recipe states none"


def _table(tested: Sequence[CanaryLine]) -> Html | None:
    if not tested:
        return None
    heads = ["Canary", "Runs", "Judged", "At least", word(tested[0]).capitalize(), "Ceiling", "mu or rho", "Best guesser"]
    rows = [_row(line) for line in tested]
    note = (
        "Runs are those in each world; some judge the guesser that the others picked. The ceiling is the most that so many "
        "could show: where it lies below the epsilon under test (○), no guesser could have refuted it by epsilon. "
        "Beside epsilon, the mu of Gaussian noise or the rho of zCDP is bounded where the ledger states one."
    )
    canaries = pairs([(line.canary, line.description) for line in tested])
    return join(canaries, table(heads, rows, label="Canaries", numbers=range(1, 7)), element("p", note, class_="soft"))


def _row(line: CanaryLine) -> list[Child]:
    stated, bounds = line.result
    other = NOTHING
    if bounds.other is not None:
        name, bound = bounds.other
        other = f"{name} {number(bound.value)} of {number(stated.of(name))}"
    return [
        element("span", f"{shape(line)} {line.canary}", class_=f"verdict {tone(line)}"),
        number(line.runs),
        number(bounds.evaluated),
        fixed(bounds.epsilon.value),
        fixed(stated.epsilon),
        fixed(bounds.epsilon.ceiling),
        other,
        NOTHING if bounds.epsilon.guess is None else bounds.epsilon.guess.score,
    ]


def _untested(lines: Sequence[CanaryLine]) -> Html | None:
    why = [element("li", element("strong", line.canary), f": {line.why}") for line in lines]
    return join(element("h3", "Not tested"), element("ul", why)) if why else None


def _questions(queries: Sequence[QueryLine]) -> Html:
    if not queries:
        return element("p", "The recipe asked no question whose answer gets noise: there is no sensitivity to try.")
    rows = [
        [
            line.query,
            number(line.tried),
            number(line.worst.neighbours),
            _beside(line.worst.l1, line.worst.stated.get("l1")),
            _beside(line.worst.l2, line.worst.stated.get("l2")),
            _beside(line.worst.most, line.worst.stated.get("most")),
            element("span", "● holds" if line.holds else "▲ broken", class_=f"verdict {'calm' if line.holds else 'alarm'}"),
        ]
        for line in queries
    ]
    heads = ["Question", "Tried", "Neighbours", "L1 change", "L2 change", "Largest change", "What is stated"]
    lead = "Each question is asked again of neighbours of its rows: the largest change that was found, and what is stated of it."
    return join(element("p", lead), table(heads, rows, label="Questions", numbers=range(1, 6)))


def _beside(change: float, stated: float | None) -> str:
    return number(float(change)) + ("" if stated is None else f" of {number(float(stated))}")


def _how(report: MechanismReport) -> Html:
    return join(
        element(
            "p",
            "The whole recipe was run again and again on small made-up tables that differ in one canary. A guesser sees the "
            "released rows and, where the ledger paid for them, the numbers on the card, the fitted model and the noisy answers "
            "behind it; it is picked on one half of the runs and judged on the other, with Clopper-Pearson limits corrected for "
            "the number of canaries.",
        ),
        element("ul", [element("li", note) for note in report.notes]),
    )
