"""Many releases of one table, tried and judged, as a page that ends in a choice. It is computed from raw rows and stays private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.evidence.verdict import STRENGTH
from hushtable.report import ranking
from hushtable.report.charts import knobs
from hushtable.report.charts.ground import below
from hushtable.report.charts.plane import HUES, plane
from hushtable.report.compare_markdown import comparison_markdown
from hushtable.report.compare_text import changes, ended, evidence, facts, headline, reading, untried
from hushtable.report.html import INTERNAL, Child, Html, Section, element, join, page, pairs
from hushtable.report.promise import ASSURANCES
from hushtable.report.trials import Trial, Trials
from hushtable.report.words import number, sentence, share

__all__ = ["comparison_markdown", "comparison_page"]

CAVEATS = 3
"""So many caveats stand on the first screen; all are at the end."""
RISKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Largest risks that the reader may ask for."""


def comparison_page(told: Mapping[str, Any]) -> str:
    """What ``comparison.json`` holds as a page: the choice first, then all that it rests on."""
    read = Trials.of(told)
    drawn = [t for t in read.ran if t.score.value is not None]
    parts = [
        Section("choice", "The choice", _choice(read)),
        *([Section("plane", "Risk and use", _plane(read))] if drawn else []),
        *([Section("cost", "What a stronger promise costs", _cost(read))] if knobs.lines(read) else []),
        Section("releases", "All releases", ranking.section(read)),
        *([Section("failed", "What could not be run", ranking.failed(read))] if read.failures else []),
        *([Section("recipes", "The recipes", ranking.recipes(read))] if read.trials else []),
        Section("reading", "How to read this, and what it does not say", _reading(read)),
    ]
    return page(
        title=f"INTERNAL comparison: {number(len(read.trials))} releases",
        head=_head(read),
        sections=parts,
        kind="internal",
        running=INTERNAL,
        scripts=("report.js", "comparison.js"),
    )


def _head(read: Trials) -> Html:
    counts = [
        (read.table.get("rows"), "row"),
        (read.table.get("columns"), "column"),
        (len(read.recipes), "recipe"),
        (len(read.ran), "release"),
    ]
    shown = [
        element("li", element("strong", number(count)), f" {what}{'' if count == 1 else 's'}")
        for count, what in counts
        if count is not None
    ]
    failed = len(read.failures)
    shown += [element("li", element("strong", number(failed)), " could not be run")] if failed else []
    return join(
        element("p", "Comparison", class_="eyebrow"),
        element("h1", "Which release to publish"),
        element("ul", shown, class_="counts"),
    )


def _choice(read: Trials) -> Html:
    chosen = read.chosen
    first, *rest = headline(read)
    # What to publish and what that promises; its numbers stand in the three facts, so other words come with the reasons.
    promised = [words for words in rest if chosen and chosen.promise and chosen.promise in words]
    why = [*(words for words in rest if words not in promised), *read.why] if chosen else read.why
    tone = chosen.assurance if chosen else "none"
    changed = changes(read)
    others = [join(sentence(words), _see(t)) for t, words in read.others]
    return join(
        element(
            "div",
            element("p", " ".join([first, *promised]), class_="promise"),
            element("p", " ".join(rest)) if rest and not chosen else None,
            class_=f"statement choice {tone}",
        ),
        element("div", [_fact(*fact) for fact in facts(read)], class_="figures risks") if chosen else None,
        element(
            "div",
            _list("Mind", _caveats(read)),
            _list("If you need something else", others),
            _list("What would change the choice", changed),
            _list("Why this one" if chosen else "Why none", why),
            class_="beside",
        ),
        element(
            "article", element("p", "To make it:", class_="soft"), element("pre", element("code", read.command)), class_="command"
        )
        if read.command
        else None,
    )


def _caveats(read: Trials) -> list[Child]:
    more = len(read.caveats) - CAVEATS
    shown: list[Child] = list(read.caveats[:CAVEATS])
    return [*shown, element("a", f"{number(more)} more at the end.", href="#reading")] if more > 0 else shown


def _see(trial: Trial | None) -> Html | None:
    return join(" ", element("a", f"See {trial.number}.", href=f"#{trial.anchor}")) if trial else None


def _fact(eyebrow: str, value: str, said: str, kind: str) -> Html:
    short = len(value) <= 12
    return element(
        "article",
        element("p", eyebrow, class_="eyebrow"),
        element("p", value, class_="value" if short else "value long"),
        element("p", said, class_="explained"),
        element("p", kind, class_="soft"),
    )


def _list(title: str, items: Sequence[Child]) -> Html | None:
    if not items:
        return None
    lines = [element("li", item if isinstance(item, Html) else ended(str(item))) for item in items]
    return element("div", element("h3", title), element("ul", lines, class_="said"))


def _plane(read: Trials) -> Html:
    asked = [join(element("code", expression), f": {sentence(told)}" if told else None) for expression, told in read.constraints]
    missing = [t.id for t in read.ran if t.score.value is None]
    drawn = [t for t in read.ran if t.score.value is not None]
    return join(
        element("p", f"Each mark is one release; up and to the left is better. {evidence(read)}"),
        _controls(read),
        element(
            "figure",
            _legend(read),
            plane(read, class_="wide"),
            plane(read, width=350.0, height=400.0, class_="slim"),
            element(
                "figcaption",
                "A mark sits at what the worst attack gained, on a root scale, and at its score; the lines through it are the "
                "intervals. The bar at the right end is the upper bound, which decides. The steps are the front: releases that no "
                "other beats in both. Numbers are ranks, as in the table; pale marks miss something that was asked"
                + ("; marks on the lower edge lie below it." if below(read, drawn) else "."),
            ),
            class_="plane",
        ),
        _list("What was asked", asked) or element("p", "Nothing was asked of the releases.", class_="soft"),
        element("p", f"Not drawn, for want of a score: {', '.join(missing)}.", class_="soft") if missing else None,
    )


def _legend(read: Trials) -> Html:
    used = {t.recipe for t in read.ran}
    hues = [
        element("li", element("span", class_=f"swatch hue{i % HUES}"), recipe)
        for i, recipe in enumerate(read.recipes)
        if recipe in used
    ]
    met = {t.assurance for t in read.ran}
    kinds = [
        element("li", element("span", shape, aria_hidden="true"), word) for word, (shape, _) in ASSURANCES.items() if word in met
    ]
    return join(
        element("ul", hues, class_="legend", aria_label="Recipes by colour"),
        element("ul", kinds, class_="legend", aria_label="Kinds of promise by shape"),
    )


def _controls(read: Trials) -> Html:
    """What the reader may ask for by hand. Hidden until the script that answers has run; the choice above never changes."""
    epsilons = sorted({t.epsilon for t in read.ran if t.epsilon is not None})
    kinds = (("none", "any, or none"), ("verified", "verified or proven"), ("proven", "proven"))
    return element(
        "div",
        element("p", element("strong", "Ask for something else"), class_="wide-row"),
        _slider("risk", "Largest risk (upper bound)", [(f"{r:g}", share(r)) for r in RISKS], "any"),
        _slider("epsilon", "Largest epsilon, where there is one", [(f"{e:.6g}", number(e)) for e in epsilons], "any")
        if len(epsilons) > 1
        else None,
        element(
            "label",
            element("span", "Promise"),
            element("select", [element("option", words, value=STRENGTH[kind]) for kind, words in kinds], data_ask="assurance"),
        ),
        element(
            "label", element("input", type="checkbox", data_ask="fits"), element("span", "meets all that was asked"), class_="tick"
        ),
        element("button", "Start again", type="button", class_="button", data_ask="reset"),
        element(
            "p",
            "What does not answer turns pale, and the best of the rest is named here.",
            class_="answer",
            role="status",
            aria_live="polite",
        ),
        class_="controls",
        hidden=True,
        data_better="higher" if read.axis.higher else "lower",
        data_axis=read.axis.label,
    )


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


def _cost(read: Trials) -> Html:
    figures = []
    for knob, drawn in knobs.lines(read).items():
        name, way = knobs.WORDS.get(knob, (knob, ""))
        caption = element("figcaption", element("strong", f"By {name}"), element("span", way) if way else None)
        figures.append(element("figure", caption, knobs.chart(read, knob, drawn), class_="panel"))
    return join(
        element("p", f"{read.axis.label} by the knob that sets the promise, the rest as the recipe has it. Bars are intervals."),
        element("div", figures, class_="knobs"),
        _list("Searched", [join(element("strong", recipe), f": {sentence(words)}") for recipe, words in read.searched]),
    )


def _reading(read: Trials) -> Html:
    return join(
        pairs(reading(read)),
        _list("What was not tried", untried(read)),
        _list("Caveats of this choice", read.caveats),
    )
