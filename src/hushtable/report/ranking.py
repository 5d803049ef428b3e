"""The releases of a comparison one by one: the ranking, what each attack gained, what failed, and the recipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushtable.report.compare_text import SHAPES, alarms, anchor, points, setting, verdict, with_interval
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.report.words import NOTHING, interval, number, sentence, share, shortened

if TYPE_CHECKING:
    from hushtable.api.compare.cell import Cell, Estimate
    from hushtable.api.compare.comparison import Comparison

MEASURES = 3
"""So many other measures have a column of their own; the rest is in comparison.json."""


def section(comparison: Comparison) -> Html:
    """All releases, the best first, and the three risks apart."""
    released = comparison.released
    if not released:
        return element("p", "No release could be made." if comparison.cells else "Nothing was tried.")
    fitting = sum(cell.fits for cell in released)
    names = measures(comparison)
    order = "they come first, the recommended one on top, then by score" if comparison.best else "the nearest comes first"
    return join(
        element("p", f"{number(fitting)} of {number(len(released))} meet all conditions; {order}."),
        _table(heads(comparison, names), [_row(cell, comparison, names) for cell in released], _real(comparison, names)),
        _risks(released),
        _notes(released),
    )


def heads(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """The heads of the table of all releases."""
    risk = "gain, of 100" if comparison.by_gain else "residual risk"
    return ["#", "release", "promise", risk, "alarms", comparison.axis.label, "asked", *names, "seconds"]


def measures(comparison: Comparison) -> list[str]:
    """The measures that most releases have, in their order, without the score itself."""
    counts: dict[str, int] = {}
    for cell in comparison.released:
        for name in cell.measures:
            counts[name] = counts.get(name, 0) + 1
    known = [name for name in counts if name != comparison.axis.name]
    first = {name: place for place, name in enumerate(comparison.uses)}
    return sorted(known, key=lambda name: (first.get(name, len(first)), -counts[name]))[:MEASURES]


def failed(comparison: Comparison) -> Html:
    """What gave no release, and why."""
    rows = [[cell.id, cell.recipe, sentence(cell.failed)] for cell in comparison.failures]
    return table(["release", "recipe", "why"], rows, label="What could not be run")


def recipes(comparison: Comparison) -> Html:
    """What each recipe does, what was set, and where it comes from."""
    entries: list[tuple[Child, Child]] = []
    for recipe in comparison.recipe_names:
        tried = [cell for cell in comparison.cells if cell.recipe == recipe]
        title = next((cell.title for cell in tried if cell.title), "")
        cite = next((cell.cite for cell in tried if cell.cite), "")
        settings = dict.fromkeys(setting(cell) for cell in tried)
        entries.append(
            (
                recipe or "unnamed",
                join(
                    element("p", sentence(title)) if title else None,
                    element("p", f"Tried: {'; '.join(settings)}.", class_="soft"),
                    element("p", cite, class_="soft") if cite else None,
                ),
            )
        )
    return pairs(entries)


def measure(cell: Cell, name: str) -> float | None:
    """One of its other measures."""
    value = cell.measures.get(name)
    return value.value if value else None


def baselines(comparison: Comparison, names: Sequence[str]) -> list[float | None]:
    """What fresh real rows score, and have of each of these measures; None where that is not known."""
    values = [comparison.axis.baseline]
    for name in names:
        known = [cell.measures[name].baseline for cell in comparison.released if name in cell.measures]
        values.append(next((value for value in known if value is not None), None))
    return values


def _real(comparison: Comparison, names: Sequence[str]) -> Html:
    """The last line: fresh real rows, which no release needs to beat."""
    score, *others = (number(value) for value in baselines(comparison, names))
    entries = ["", "fresh real rows", "", "", "", score, "", *others, ""]
    return element("tr", [element("td", entry, class_="num" if _numeric(i) else None) for i, entry in enumerate(entries)])


def _row(cell: Cell, comparison: Comparison, names: Sequence[str]) -> Html:
    shape = SHAPES[cell.assurance]
    kind = element("strong", element("span", shape, aria_hidden="true"), f" {cell.assurance}", class_=f"kind {cell.assurance}")
    best = cell is comparison.best
    entries: list[tuple[Child, float | None]] = [
        (str(cell.rank), cell.rank),
        (join(element("strong", cell.id), element("br"), "recommended") if best else cell.id, None),
        (join(kind, element("br"), element("span", cell.promise, class_="soft")), None),
        (_risk(cell), cell.worst.upper if cell.worst else None),
        (alarms(cell), cell.alarms if cell.tests else None),
        (_estimate(cell.score), cell.score.value if cell.score else None),
        (
            element("span", f"{'✓' if cell.fits else '✗'} {verdict(cell)}", class_=f"verdict {'calm' if cell.fits else 'watch'}"),
            None,
        ),
        *((number(measure(cell, name)), measure(cell, name)) for name in names),
        (number(cell.seconds), cell.seconds),
    ]
    return element(
        "tr",
        [
            element("td", entry, class_="num" if _numeric(i) else None, data_sort=None if key is None else f"{key:.9g}")
            for i, (entry, key) in enumerate(entries)
        ],
        id=anchor(cell),
        class_="best" if best else None,
        data_release=cell.rank,
        data_name=cell.id,
        data_risk=f"{cell.worst.upper:.9g}" if cell.worst and cell.risk_known else None,
        data_score=f"{cell.score.value:.9g}" if cell.score else None,
        data_shown=number(cell.score.value if cell.score else None),
        data_epsilon=None if cell.nominal_epsilon is None else f"{cell.nominal_epsilon:.9g}",
        data_assurance=str(cell.assurance),
        data_strength=cell.strength,
        data_fits="yes" if cell.fits else "no",
    )


def _numeric(column: int) -> bool:
    """Whether a column of the ranking holds numbers: all but the release, its promise and what was asked."""
    return column not in (1, 2, 6)


def _risk(cell: Cell) -> Child:
    if cell.worst is None:
        return "not attacked"
    note = " (audit void)" if cell.void else ""
    if cell.gain:
        bound = element("span", f"at most {points(cell.gain.upper)}", class_="soft")
        shown: Child = join(f"{points(cell.gain.value)}{note}", element("br"), bound)
    else:
        shown = _estimate(cell.worst, percent=True, note=note)
    return join(shown, element("br"), element("span", cell.worst.name, class_="soft")) if cell.worst.name else shown


def _estimate(estimate: Estimate | None, *, percent: bool = False, note: str = "") -> Child:
    """The value, and its interval under it."""
    if estimate is None:
        return NOTHING
    value = (share(estimate.value) if percent else number(estimate.value)) + note
    ends = interval(estimate.low, estimate.high, percent=percent)
    return join(value, element("br"), element("span", ends, class_="soft")) if ends else value


def _table(titles: Sequence[str], rows: Sequence[Html], last: Html) -> Html:
    top = [element("th", shortened(title), scope="col", class_="num" if _numeric(i) else None) for i, title in enumerate(titles)]
    label = "All releases, the best first"
    caption = element("caption", label, class_="unseen")
    parts = element("thead", element("tr", top)), element("tbody", rows), element("tfoot", last)
    inner = element("table", caption, *parts, class_="sortable ranking")
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def _risks(released: Sequence[Cell]) -> Html | None:
    kinds = list(dict.fromkeys(kind for cell in released for kind in cell.worst_by_kind))
    if not kinds:
        return None
    rows = [[str(cell.rank), cell.id, *(_kind(cell, kind) for kind in kinds)] for cell in released]
    return join(
        element("h3", f"The worst attack of each kind{', of 100 people' if any(cell.gain for cell in released) else ''}"),
        table(["#", "release", *kinds], rows, label="The worst attack of each kind", numbers=[0], class_="kinds"),
    )


def _notes(released: Sequence[Cell]) -> Html | None:
    """What is noted about releases, each note once with the numbers of those it is about."""
    ranks: dict[str, list[int]] = {}
    for cell in released:
        for note in (*(f"audit void: {reason}" for reason in cell.void), *cell.remarks):
            ranks.setdefault(note, []).append(cell.rank)
    if not ranks:
        return None
    lines = [
        element("li", element("strong", ", ".join(map(str, dict.fromkeys(whose)))), f": {sentence(note)}")
        for note, whose in ranks.items()
    ]
    return element("details", element("summary", f"Notes on them ({number(len(lines))})"), element("ul", lines, class_="said"))


def _kind(cell: Cell, kind: str) -> Child:
    worst = cell.worst_by_kind.get(kind)
    if worst is None:
        return NOTHING
    shown = f"{points(worst.value)}, at most {points(worst.upper)}" if cell.gain else with_interval(worst, percent=True)
    return join(shown, element("br"), element("span", worst.name, class_="soft")) if worst.name else shown
