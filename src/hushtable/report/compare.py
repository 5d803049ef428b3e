"""A comparison as a page: the choice first, then all that it rests on. It is computed from raw rows and stays private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.display import listed
from hushtable.evidence.verdict import STRENGTH
from hushtable.report import ranking
from hushtable.report.charts import knobs
from hushtable.report.charts.ground import below
from hushtable.report.charts.plane import HUES, plane
from hushtable.report.compare_markdown import comparison_markdown
from hushtable.report.compare_text import SHAPES, anchor, changes, ended, evidence, facts, headline, reading, untried
from hushtable.report.html import INTERNAL, Child, Html, Section, element, join, page, pairs
from hushtable.report.words import number, sentence, share

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Cell
    from hushtable.api.compare.comparison import Comparison

__all__ = ["comparison_markdown", "comparison_page"]

CAVEATS = 3
"""So many caveats stand on the first screen; all are at the end."""
HOLLOW = {"●": "○", "◆": "◇", "▲": "△", "■": "□"}
"""The outline of each shape."""
RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Largest risks that the reader may ask for."""


def comparison_page(comparison: Comparison) -> str:
    """A comparison as a page: the choice first, then all that it rests on."""
    scored = any(cell.score for cell in comparison.released)
    failed = f"{number(len(comparison.failures))} gave no release, each with its reason."
    recipes = sentence(f"what they do, what was tried, and where they come from: {listed(comparison.recipe_names)}")
    sections = [
        Section("choice", "The choice", choice(comparison)),
        *([Section("plane", "Risk and utility", _plane(comparison))] if scored else []),
        *([Section("cost", "What a stronger promise costs", _cost(comparison))] if knobs.lines(comparison) else []),
        Section("releases", "All releases", ranking.section(comparison)),
        *([Section("failed", "What could not be run", ranking.failed(comparison), failed)] if comparison.failures else []),
        *([Section("recipes", "The recipes", ranking.recipes(comparison), recipes)] if comparison.cells else []),
        Section(
            "reading", "How to read this", reading_list(comparison), "What the words mean, and what a comparison does not show."
        ),
    ]
    about = comparison.table.title or f"{number(len(comparison.cells))} releases"
    day = f", {comparison.run.date}" if comparison.run.date else ""
    take = f"take {comparison.best.id}" if comparison.best else "none fits"
    return page(
        title=f"INTERNAL comparison: {about}{day}: {take}",
        head=_head(comparison),
        sections=sections,
        kind="internal",
        running=INTERNAL,
        scripts=("report.js", "comparison.js"),
    )


def _head(comparison: Comparison) -> Html:
    counts = [
        (comparison.table.rows, "row"),
        (comparison.table.columns, "column"),
        (len(comparison.recipe_names), "recipe"),
        (len(comparison.released), "release"),
    ]
    shown = [
        element("li", element("strong", number(count)), f" {what}{'' if count == 1 else 's'}")
        for count, what in counts
        if count is not None
    ]
    failed = len(comparison.failures)
    if failed:
        shown.append(element("li", element("strong", number(failed)), " could not be run"))
    return join(
        element("p", f"Comparison{f', {comparison.run.date}' if comparison.run.date else ''}", class_="eyebrow"),
        element("h1", f"Which release to publish{f': {comparison.table.title}' if comparison.table.title else ''}"),
        element("ul", shown, class_="counts"),
    )


def choice(comparison: Comparison) -> Html:
    """What to take and why, the command that makes it, the three facts, and what else to know."""
    best, advice = comparison.best, comparison.recommendation
    first, *rest = headline(comparison)
    why = list(advice.why)
    if best:
        # What to take and why, in two sentences; the promise and the numbers stand in the three facts below.
        numbers = [words for words in rest if words != best.promise_sentence]
        rest, why = why[:1], [*numbers, *why[1:]]
    others = [join(sentence(words), _see(cell)) for cell, words in comparison.others]
    make = None
    if advice.command:
        command = element("pre", element("code", advice.command))
        after = element("p", advice.made, class_="soft") if advice.made else None
        make = element("article", element("p", "To make it:", class_="soft"), command, after, class_="command")
    return join(
        element(
            "div",
            element("p", first, class_="promise"),
            element("p", " ".join(rest)) if rest else None,
            class_=f"statement choice {best.assurance if best else 'none'}",
        ),
        make,
        element("div", [_fact(*fact) for fact in facts(comparison)], class_="figures risks") if best else None,
        element(
            "div",
            said("Before you decide", _caveats(comparison)),
            said("If you need something else", others),
            said("What would change the choice", changes(comparison)),
            said("Why this one" if best else "Why none", why),
            class_="beside",
        ),
    )


def _caveats(comparison: Comparison) -> list[Child]:
    caveats = comparison.recommendation.caveats
    shown: list[Child] = list(caveats[:CAVEATS])
    if len(caveats) > CAVEATS:
        shown.append(element("a", f"{number(len(caveats) - CAVEATS)} more at the end.", href="#reading"))
    return shown


def _see(cell: Cell | None) -> Html | None:
    return join(" ", element("a", f"See {cell.rank}.", href=f"#{anchor(cell)}")) if cell else None


def _fact(eyebrow: str, value: str, about: str, kind: str) -> Html:
    short = len(value) <= 12
    return element(
        "article",
        element("p", eyebrow, class_="eyebrow"),
        element("p", value, class_="value" if short else "value long"),
        element("p", about, class_="explained"),
        element("p", kind, class_="soft"),
    )


def said(title: str, items: Sequence[Child]) -> Html | None:
    """Sentences under a title; nothing where there are none."""
    if not items:
        return None
    lines = [element("li", item if isinstance(item, Html) else ended(str(item))) for item in items]
    return element("div", element("h3", title), element("ul", lines, class_="said"))


def _plane(comparison: Comparison) -> Html:
    asked = [
        join(element("code", one.expression), f": {sentence(one.description)}" if one.description else None)
        for one in comparison.constraints
    ]
    missing = [cell.id for cell in comparison.released if cell.score is None]
    drawn = [cell for cell in comparison.released if cell.score is not None]
    return join(
        element("p", f"Each mark is one release; up and to the left is better. {evidence(comparison)}"),
        _controls(comparison),
        element(
            "figure",
            legend(comparison),
            plane(comparison, class_="wide"),
            plane(comparison, width=350.0, height=400.0, class_="slim"),
            element(
                "figcaption",
                f"A mark sits at the {'worst gain measured' if comparison.by_gain else 'residual risk of the worst attack'} and "
                "at its score; it is filled where attacks raised an alarm. The line to the right ends at the upper bound, which "
                "decides; the upright one is the interval of the score. The scale of risk is the same in every comparison, and "
                "logarithmic from about 1. The steps are the front: releases that no other beats in both. Numbers are ranks, as "
                "in the table; pale marks fail a condition"
                + ("; marks on the lower edge lie below it." if below(comparison, drawn) else "."),
            ),
            class_="plane",
        ),
        said("Conditions", asked) or element("p", "No condition was set.", class_="soft"),
        element("p", f"Not drawn, for want of a score: {', '.join(missing)}.", class_="soft") if missing else None,
    )


def legend(comparison: Comparison) -> Html:
    """What colours, shapes and fillings mean on the plane."""
    """What colours, shapes and fillings mean on the plane."""
    used = {cell.recipe for cell in comparison.released}
    hues = [
        element("li", element("span", class_=f"swatch hue{i % HUES}"), recipe)
        for i, recipe in enumerate(comparison.recipe_names)
        if recipe in used
    ]
    met = {str(cell.assurance) for cell in comparison.released}
    kinds = [
        element("li", element("span", HOLLOW[shape], aria_hidden="true"), word) for word, shape in SHAPES.items() if word in met
    ]
    shapes = [shape for word, shape in SHAPES.items() if word in met]
    looks = (" ".join(HOLLOW[shape] for shape in shapes), "no alarm"), (" ".join(shapes), "attacks raised an alarm")
    fills = [element("li", element("span", glyphs, aria_hidden="true"), word) for glyphs, word in looks]
    return join(
        element("ul", hues, class_="legend", aria_label="Recipes by colour"),
        element("ul", kinds, class_="legend", aria_label="Kinds of promise by shape"),
        element("ul", fills, class_="legend", aria_label="Alarms by filling"),
    )


def _controls(comparison: Comparison) -> Html:
    """What the reader may ask for by hand. Hidden until the script that answers has run; the choice above never changes."""
    epsilons = sorted({cell.nominal_epsilon for cell in comparison.released if cell.nominal_epsilon is not None})
    kinds = (("none", "any, or none"), ("verified", "verified or proven"), ("proven", "proven"))
    return element(
        "div",
        element("p", element("strong", "Ask for something else"), class_="wide-row"),
        _slider("risk", *_risk_stops(comparison), "any"),
        _slider("epsilon", "Largest epsilon, where there is one", [(f"{e:.6g}", number(e)) for e in epsilons], "any")
        if len(epsilons) > 1
        else None,
        element(
            "label",
            element("span", "Promise"),
            element("select", [element("option", words, value=STRENGTH[kind]) for kind, words in kinds], data_ask="assurance"),
        ),
        element(
            "label", element("input", type="checkbox", data_ask="fits"), element("span", "meets all conditions"), class_="tick"
        ),
        element("button", "Start again", type="button", class_="button", data_ask="reset"),
        element(
            "p",
            "Releases that do not match turn pale, and the best of the others is named here.",
            class_="answer",
            role="status",
            aria_live="polite",
        ),
        class_="controls",
        hidden=True,
        data_better="higher" if comparison.axis.higher else "lower",
        data_axis=comparison.axis.label,
    )


def _risk_stops(comparison: Comparison) -> tuple[str, list[tuple[str, str]]]:
    """What the reader may bound, and by what."""
    if comparison.by_gain:
        return "Largest gain of any attack (upper bound)", [(f"{r:g}", f"{number(100 * r)} of 100") for r in RISKS]
    return "Largest risk (upper bound)", [(f"{r:g}", share(r)) for r in RISKS]


def _slider(name: str, label: str, stops: Sequence[tuple[str, str]], last: str) -> Html:
    return element(
        "label",
        element("span", f"{label}: ", element("strong", last, data_shows=name)),
        element(
            "input",
            type="range",
            min=0,
            max=len(stops),
            step=1,
            value=len(stops),
            data_ask=name,
            data_stops="|".join(value for value, _ in stops),
            data_words="|".join([*(words for _, words in stops), last]),
        ),
    )


def _cost(comparison: Comparison) -> Html:
    figures = []
    for knob, drawn in knobs.lines(comparison).items():
        name, way = knobs.WORDS.get(knob, (knob, ""))
        caption = element("figcaption", element("strong", f"By {name}"), element("span", way) if way else None)
        figures.append(element("figure", caption, knobs.chart(comparison.axis, knob, drawn), class_="panel"))
    label = comparison.axis.label
    return join(
        element("p", f"{label} by the knob that sets the promise, the rest as the recipe has it. Bars are intervals."),
        element("div", figures, class_="knobs"),
        said("Searched", [join(element("strong", one.recipe), f": {sentence(one.words)}") for one in comparison.searched]),
    )


def reading_list(comparison: Comparison) -> Html:
    """The words of the page, what was not tried, and all caveats."""
    return join(
        pairs(reading(comparison)),
        said("What was not tried", untried(comparison)),
        said("Caveats of this choice", comparison.recommendation.caveats),
    )
