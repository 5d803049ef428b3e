"""The audit of a mechanism as a page: for each canary a line from the bound that was shown up to what is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.charts.plots import Scale, from_zero, svg, text, titled
from hushtable.report.html import Child, Html, Section, element, join, page, pairs, table
from hushtable.report.words import NOTHING, fit, fixed, number, share

Plain = Mapping[str, Any]
WIDTH, ROW, LEFT = 400.0, 44.0, 8.0
RIGHT = WIDTH - 12
PROVEN, CLAIM, NOBODY = "the ledger", "a publication's claim", "nobody"
"""Who states an epsilon, as the lines say it."""
MEANING = (
    "A lower bound above what is stated refutes it. A bound below it proves nothing: it says only what these canaries, these "
    "guessers and so many runs could show."
)


def mechanism_page(told: Plain) -> str:
    """One standalone page from the plain values of a report. No row of anybody is behind it."""
    lines = told["lines"]
    tested = [line for line in lines if "epsilon_lb" in line]
    sections = [
        Section("verdict", "Verdict", _verdict(told, tested)),
        Section("canaries", "Canaries", join(_picture(tested), _table(tested), _untested(lines))),
        Section("questions", "Questions on all neighbours", _questions(told["questions"])),
        Section("how", "How it was tested", _how(told)),
    ]
    head = join(
        element("p", "Audit of a mechanism", class_="eyebrow"),
        element("h1", told["recipe"]),
        element("p", told["title"], class_="soft") if told["title"] else None,
    )
    return page(title=f"Audit of {told['recipe']}", head=head, sections=sections, kind="public", running="")


def _verdict(told: Plain, tested: Sequence[Plain]) -> Html:
    mark = element("span", f"{_shape(told)} {told['verdict']}", class_=f"verdict {_tone(told)}")
    facts: list[tuple[Child, Child]] = [
        ("Guarantee of the recipe", told["guarantee"] or "none"),
        ("Confidence", share(told["confidence"])),
    ]
    if tested:
        first = tested[0]
        size = f"epsilon {number(first['epsilon_stated'])}, delta {number(first['delta'])}"
        facts += [
            (
                _word(first).capitalize(),
                f"{size}, by {first['source']}" if first["source"] != NOBODY else f"{size}; {_nobody(first)}",
            ),
            ("Neighbours", f"{first['relation']}, one {first['unit']}"),
            ("Assumed public", "; ".join(first["public"]) or "nothing"),
        ]
    return join(element("p", mark, class_="lead"), pairs(facts), element("p", MEANING, class_="soft"))


def _picture(tested: Sequence[Plain]) -> Html | None:
    if not tested:
        return None
    scale = from_zero([x for line in tested for x in (line["epsilon_lb"], line["epsilon_stated"])], LEFT, RIGHT, least=0.1)
    bottom = ROW * len(tested)
    marks = [_line(line, scale, i * ROW) for i, line in enumerate(tested)]
    ticks = [
        text(scale(t), bottom + 12, number(t), anchor="middle" if LEFT < scale(t) < RIGHT else None, class_="small")
        for t in scale.ticks()
    ]
    label = "Epsilon: " + "; ".join(_words(line) for line in tested)
    proven = any(line["source"] == PROVEN for line in tested)
    caption = (
        "Epsilon, from the lower bound (dot) up to what is stated and proven (tick)."
        if proven
        else f"Epsilon: the lower bound (dot) and what is {_word(tested[0])} (tick). Nothing proves that epsilon is not larger."
    )
    return element("figure", svg(WIDTH, bottom + 20, label, marks, ticks), element("figcaption", caption), class_="plot")


def _line(line: Plain, scale: Scale, top: float) -> Html:
    y, low, high = top + 29, scale(line["epsilon_lb"]), scale(line["epsilon_stated"])
    tone = _tone(line)
    # Between the two lies epsilon itself only where the upper one is proven; where it is refuted, what it falls short by.
    between = element("line", class_=f"whisker {tone}", x1=min(low, high), x2=max(low, high), y1=y, y2=y)
    beside = f"{fixed(line['epsilon_lb'])}, {_word(line)} {fixed(line['epsilon_stated'])}"
    return titled(
        _words(line),
        text(LEFT, top + 14, fit(line["canary"], WIDTH - 120, 13), class_="name"),
        text(RIGHT, top + 14, beside, anchor="end", class_="name"),
        element("line", class_="grid", x1=LEFT, x2=RIGHT, y1=y, y2=y),
        between if line["source"] == PROVEN or line["refuted"] else None,
        element("line", class_="baseline", x1=high, x2=high, y1=y - 9, y2=y + 9),
        element("circle", class_=f"dot {tone}", cx=low, cy=y, r=5),
    )


def _words(line: Plain) -> str:
    return f"{line['canary']}: at least {fixed(line['epsilon_lb'])}, {_word(line)} {fixed(line['epsilon_stated'])}"


def _word(line: Plain) -> str:
    """How the epsilon under test came up: "stated" only where the ledger says it."""
    return {CLAIM: "claimed", NOBODY: "asked about"}.get(line["source"], "stated")


def _nobody(line: Plain) -> str:
    claimed = line.get("claimed")
    return f"the publication claims {number(claimed)}" if claimed else "the recipe states none"


def _table(tested: Sequence[Plain]) -> Html | None:
    if not tested:
        return None
    heads = ["Canary", "Runs", "Judged", "At least", _word(tested[0]).capitalize(), "Ceiling", "mu or rho", "Best guesser"]
    rows = [
        [
            element("span", f"{_shape(line)} {line['canary']}", class_=f"verdict {_tone(line)}"),
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
    told = (
        "Runs are those in each world; some judge the guesser that the others picked. The ceiling is the most that so many "
        "could show: where it lies below the epsilon under test (○), no guesser could have refuted it by epsilon. "
        "Beside epsilon, the mu of Gaussian noise or the rho of zCDP is bounded where the ledger states one."
    )
    canaries = pairs([(line["canary"], line["told"]) for line in tested])
    return join(canaries, table(heads, rows, label="Canaries", numbers=range(1, 7)), element("p", told, class_="soft"))


def _shape(line: Plain) -> str:
    return "▲" if line["refuted"] else "○" if _few(line) else "●"


def _tone(line: Plain) -> str:
    return "alarm" if line["refuted"] else "open" if _few(line) else "calm"


def _few(line: Plain) -> bool:
    """Of a line or of the whole: whether so few runs could have refuted nothing."""
    return bool(line.get("too_few")) or line.get("label") == "too few runs"


def _other(line: Plain) -> str:
    """A lower bound on mu or rho and what is stated of it, where both are there."""
    found = [name for name in ("mu", "rho") if f"{name}_lb" in line]
    return f"{found[0]} {number(line[f'{found[0]}_lb'])} of {number(line[found[0]])}" if found else NOTHING


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
    told = "Each question is asked again of neighbours of its rows: the largest change that was found, and what is stated of it."
    return join(element("p", told), table(heads, rows, label="Questions", numbers=range(1, 6)))


def _beside(question: Plain, name: str) -> str:
    stated = question["stated"].get(name)
    return number(float(question[name])) + ("" if stated is None else f" of {number(float(stated))}")


def _how(told: Plain) -> Html:
    return join(
        element(
            "p",
            "The whole recipe was run again and again on small made-up tables that differ in one canary. A guesser sees the "
            "released rows and, where the ledger paid for them, the numbers on the card, the fitted model and the noisy answers "
            "behind it; it is picked on one half of the runs and judged on the other, with Clopper-Pearson limits corrected for "
            "the number of canaries.",
        ),
        element("ul", [element("li", note) for note in told["notes"]]),
    )
