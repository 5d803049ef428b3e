"""The releases of a comparison one by one: the ranking, what each attack gained, what failed, and the recipes."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.evidence.verdict import STRENGTH
from hushtable.report.html import Child, Html, element, join, pairs, table
from hushtable.report.promise import ASSURANCES
from hushtable.report.trials import Trial, Trials, finite
from hushtable.report.words import NOTHING, interval, number, sentence, share, shortened

FIRST = ("mean TVD", "association difference", "real or released: AUC")
"""Measures that are shown before others: of one column, of two, of all together."""
MEASURES = 3
"""So many other measures have a column of their own; the rest is in comparison.json."""


def section(read: Trials) -> Html:
    """All releases, the best first, and the three risks apart."""
    if not read.ran:
        return element("p", "No release could be made." if read.trials else "Nothing was tried.")
    fit = sum(t.fits for t in read.ran)
    names = measures(read)
    heads = ["#", "release", "promise", "risk", "alarms", read.axis.label, "asked", *names, "seconds"]
    right = {0, 3, 4, 5, *range(7, len(heads))}
    rows = [_row(t, read, names) for t in read.ran]
    baselines = [f"{name} {number(base)}" for name, base in _baselines(read, names)]
    return join(
        element("p", f"{number(fit)} of {number(len(read.ran))} meet what was asked; they come first, the best score on top."),
        _table(heads, rows, right),
        element("p", f"For fresh real rows: {'; '.join(baselines)}.", class_="soft") if baselines else None,
        _risks(read),
        _notes(read),
    )


def measures(read: Trials) -> list[str]:
    """The measures that most releases have, in the order they were told, without the score itself."""
    counts: dict[str, int] = {}
    for trial in read.ran:
        for name in trial.measures:
            counts[name] = counts.get(name, 0) + 1
    known = [name for name in counts if name != read.axis.name]
    return sorted(known, key=lambda name: (name not in FIRST, -counts[name]))[:MEASURES]


def failed(read: Trials) -> Html:
    """What gave no release, and why."""
    rows = [[t.id, t.recipe, sentence(t.failed)] for t in read.failures]
    return table(["release", "recipe", "why"], rows, label="What could not be run")


def recipes(read: Trials) -> Html:
    """What each recipe does, what was set, and where it comes from."""
    told: list[tuple[Child, Child]] = []
    for recipe in read.recipes:
        tried = [t for t in read.trials if t.recipe == recipe]
        title = next((t.title for t in tried if t.title), "")
        cite = next((t.cite for t in tried if t.cite), "")
        settings = list(dict.fromkeys(setting(t) for t in tried))
        told.append(
            (
                recipe or "unnamed",
                join(
                    element("p", sentence(title)) if title else None,
                    element("p", f"Tried: {'; '.join(settings)}.", class_="soft"),
                    element("p", cite, class_="soft") if cite else None,
                ),
            )
        )
    return pairs(told)


def setting(trial: Trial) -> str:
    """The knobs that were set."""
    return ", ".join(f"{k} = {v}" for k, v in trial.settings.items()) or "as it comes"


def asked(trial: Trial) -> str:
    """Whether it meets what was asked, in words."""
    return "fits" if trial.fits else "; ".join(trial.misses) or "does not fit"


def measure(trial: Trial, name: str) -> float | None:
    """One of its other measures."""
    return finite((trial.measures.get(name) or {}).get("value"))


def alarms(trial: Trial) -> str:
    """How many of its tests raised an alarm."""
    if trial.alarms is None or not trial.tests:
        return "not tested"
    return f"{number(trial.alarms)} of {number(trial.tests)}"


def _baselines(read: Trials, names: Sequence[str]) -> list[tuple[str, float]]:
    told = [] if read.axis.baseline is None else [(read.axis.label, read.axis.baseline)]
    for name in names:
        known = [finite((t.measures.get(name) or {}).get("baseline")) for t in read.ran]
        base = next((b for b in known if b is not None), None)
        told += [] if base is None else [(name, base)]
    return told


def _row(trial: Trial, read: Trials, names: Sequence[str]) -> Html:
    shape = ASSURANCES[trial.assurance][0]
    kind = element("strong", element("span", shape, aria_hidden="true"), f" {trial.assurance}", class_=f"kind {trial.assurance}")
    best = trial is read.chosen
    tone = "calm" if trial.fits else "watch"
    cells: list[tuple[Child, float | None]] = [
        (str(trial.number), float(trial.number)),
        (join(element("strong", trial.id), element("br"), "recommended") if best else trial.id, None),
        (join(kind, element("br"), element("span", trial.promise, class_="soft")), None),
        (_risk(trial), trial.risk.upper),
        (alarms(trial), None if trial.alarms is None else float(trial.alarms)),
        (_estimate(number(trial.score.value), interval(trial.score.low, trial.score.high)), trial.score.value),
        (element("span", f"{'✓' if trial.fits else '✗'} {asked(trial)}", class_=f"verdict {tone}"), None),
        *((number(measure(trial, name)), measure(trial, name)) for name in names),
        (number(trial.seconds), trial.seconds),
    ]
    right = {0, 3, 4, 5, *range(7, len(cells))}
    return element(
        "tr",
        [
            element("td", cell, class_="num" if i in right else None, data_sort=None if key is None else f"{key:.9g}")
            for i, (cell, key) in enumerate(cells)
        ],
        id=trial.anchor,
        class_="best" if best else None,
        data_release=trial.number,
        data_name=trial.id,
        data_risk=f"{trial.risk.upper:.9g}" if trial.judged and trial.risk.upper is not None else None,
        data_score=None if trial.score.value is None else f"{trial.score.value:.9g}",
        data_shown=number(trial.score.value),
        data_epsilon=None if trial.epsilon is None else f"{trial.epsilon:.9g}",
        data_assurance=trial.assurance,
        data_strength=STRENGTH[trial.assurance],
        data_fits="yes" if trial.fits else "no",
    )


def _risk(trial: Trial) -> Child:
    if trial.risk.value is None:
        return "not attacked"
    void = " (audit void)" if trial.void else ""
    told = _estimate(share(trial.risk.value) + void, interval(trial.risk.low, trial.risk.high, percent=True))
    return join(told, element("br"), element("span", trial.risk.name, class_="soft")) if trial.risk.name else told


def _estimate(value: str, gap: str) -> Child:
    """The value, and its interval under it."""
    return join(value, element("br"), element("span", gap, class_="soft")) if gap else value


def _table(heads: Sequence[str], rows: Sequence[Html], right: set[int]) -> Html:
    top = [element("th", shortened(head), scope="col", class_="num" if i in right else None) for i, head in enumerate(heads)]
    label = "All releases, the best first"
    caption = element("caption", label, class_="unseen")
    inner = element("table", caption, element("thead", element("tr", top)), element("tbody", rows), class_="sortable ranking")
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=label)


def _risks(read: Trials) -> Html | None:
    kinds = list(dict.fromkeys(kind for t in read.ran for kind in t.risks))
    if not kinds:
        return None
    rows = [[str(t.number), t.id, *(_kind(t, kind) for kind in kinds)] for t in read.ran]
    return join(
        element("h3", "The worst attack of each kind"),
        table(["#", "release", *kinds], rows, label="The worst attack of each kind", numbers=[0], class_="kinds"),
    )


def _notes(read: Trials) -> Html | None:
    """What releases say of themselves, each note once with the numbers of those that say it."""
    found: dict[str, list[int]] = {}
    for trial in read.ran:
        for note in (*(f"audit void: {reason}" for reason in trial.void), *trial.notes):
            found.setdefault(note, []).append(trial.number)
    if not found:
        return None
    lines = [
        element("li", element("strong", ", ".join(map(str, dict.fromkeys(who)))), f": {sentence(note)}")
        for note, who in found.items()
    ]
    return element("details", element("summary", f"Notes on them ({number(len(lines))})"), element("ul", lines, class_="said"))


def _kind(trial: Trial, kind: str) -> Child:
    found = trial.risks.get(kind)
    if found is None or found.value is None:
        return NOTHING
    name = element("span", found.name, class_="soft") if found.name else None
    return join(found.told(percent=True), element("br") if name else None, name)
