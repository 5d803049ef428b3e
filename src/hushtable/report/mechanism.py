"""The audit of a mechanism as a page: for each canary a line from the bound that was shown up to what is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.charts.canaries import NOBODY, PROVEN, draw, shape, tone, word
from hushtable.report.html import Child, Html, Section, element, join, page, pairs, table
from hushtable.report.words import NOTHING, fixed, number, share

Plain = Mapping[str, Any]
MEANING = (
    "A lower bound above what is stated refutes it. A bound below it proves nothing: it says only what these canaries, these "
    "guessers and so many runs could show."
)


def mechanism_page(report: Plain) -> str:
    """One standalone page from the plain values of a report. No row of anybody is behind it."""
    lines = report["lines"]
    tested = [line for line in lines if "epsilon_lb" in line]
    sections = [
        Section("verdict", "Verdict", _verdict(report, tested)),
        Section("canaries", "Canaries", join(_picture(tested), _table(tested), _untested(lines))),
        Section("questions", "Questions on all neighbours", _questions(report["questions"])),
        Section("how", "How it was tested", _how(report)),
    ]
    head = join(
        element("p", "Audit of a mechanism", class_="eyebrow"),
        element("h1", report["recipe"]),
        element("p", report["title"], class_="soft") if report["title"] else None,
    )
    return page(title=f"Audit of {report['recipe']}", head=head, sections=sections, kind="public", running="")


def _verdict(report: Plain, tested: Sequence[Plain]) -> Html:
    mark = element("span", f"{shape(report)} {report['verdict']}", class_=f"verdict {tone(report)}")
    facts: list[tuple[Child, Child]] = [
        ("Guarantee of the recipe", report["guarantee"] or "none"),
        ("Confidence", share(report["confidence"])),
    ]
    if tested:
        first = tested[0]
        size = f"epsilon {number(first['epsilon_stated'])}, delta {number(first['delta'])}"
        facts += [
            (
                word(first).capitalize(),
                f"{size}, by {first['source']}" if first["source"] != NOBODY else f"{size}; {_nobody(first)}",
            ),
            ("Neighbours", f"{first['relation']}, one {first['unit']}"),
            ("Assumed public", "; ".join(first["public"]) or "nothing"),
        ]
    return join(element("p", mark, class_="lead"), pairs(facts), element("p", MEANING, class_="soft"))


def _picture(tested: Sequence[Plain]) -> Html | None:
    if not tested:
        return None
    caption = f"Epsilon: the lower bound (dot) and what is {word(tested[0])} (tick). Nothing proves that epsilon is not larger."
    if any(line["source"] == PROVEN for line in tested):
        caption = "Epsilon, from the lower bound (dot) up to what is stated and proven (tick)."
    return element("figure", draw(tested), element("figcaption", caption), class_="plot")


def _nobody(line: Plain) -> str:
    claimed = line.get("claimed")
    return f"the publication claims {number(claimed)}" if claimed else "the recipe states none"


def _table(tested: Sequence[Plain]) -> Html | None:
    if not tested:
        return None
    heads = ["Canary", "Runs", "Judged", "At least", word(tested[0]).capitalize(), "Ceiling", "mu or rho", "Best guesser"]
    rows = [
        [
            element("span", f"{shape(line)} {line['canary']}", class_=f"verdict {tone(line)}"),
            number(line["runs"]),
            number(line["evaluated"]),
            fixed(line["epsilon_lb"]),
            fixed(line["epsilon_stated"]),
            fixed(line["ceiling"]) if "ceiling" in line else NOTHING,
            _other(line),
            (line.get("guess_epsilon") or {}).get("score", NOTHING),
        ]
        for line in tested
    ]
    note = (
        "Runs are those in each world; some judge the guesser that the others picked. The ceiling is the most that so many "
        "could show: where it lies below the epsilon under test (○), no guesser could have refuted it by epsilon. "
        "Beside epsilon, the mu of Gaussian noise or the rho of zCDP is bounded where the ledger states one."
    )
    canaries = pairs([(line["canary"], line["told"]) for line in tested])
    return join(canaries, table(heads, rows, label="Canaries", numbers=range(1, 7)), element("p", note, class_="soft"))


def _other(line: Plain) -> str:
    """A lower bound on mu or rho and what is stated of it, where both are there."""
    name = next((name for name in ("mu", "rho") if f"{name}_lb" in line), None)
    return NOTHING if name is None else f"{name} {number(line[f'{name}_lb'])} of {number(line[name])}"


def _untested(lines: Sequence[Plain]) -> Html | None:
    why = [element("li", element("strong", line["canary"]), f": {line['why']}") for line in lines if "epsilon_lb" not in line]
    return join(element("h3", "Not tested"), element("ul", why)) if why else None


def _questions(questions: Sequence[Plain]) -> Html:
    if not questions:
        return element("p", "The recipe asked no question whose answer gets noise: there is no sensitivity to try.")
    rows = [
        [
            q["question"],
            number(q["tried"]),
            number(q["neighbours"]),
            *(_beside(q, name) for name in ("l1", "l2", "most")),
            element("span", "● holds" if q["holds"] else "▲ broken", class_=f"verdict {'calm' if q['holds'] else 'alarm'}"),
        ]
        for q in questions
    ]
    heads = ["Question", "Tried", "Neighbours", "L1 change", "L2 change", "Largest change", "What is stated"]
    lead = "Each question is asked again of neighbours of its rows: the largest change that was found, and what is stated of it."
    return join(element("p", lead), table(heads, rows, label="Questions", numbers=range(1, 6)))


def _beside(question: Plain, name: str) -> str:
    stated = question["stated"].get(name)
    return number(float(question[name])) + ("" if stated is None else f" of {number(float(stated))}")


def _how(report: Plain) -> Html:
    return join(
        element(
            "p",
            "The whole recipe was run again and again on small made-up tables that differ in one canary. A guesser sees the "
            "released rows and, where the ledger paid for them, the numbers on the card, the fitted model and the noisy answers "
            "behind it; it is picked on one half of the runs and judged on the other, with Clopper-Pearson limits corrected for "
            "the number of canaries.",
        ),
        element("ul", [element("li", note) for note in report["notes"]]),
    )
