"""Distances as pictures: histograms of the nearest rows, and the share of people within reach at each threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.evidence.finding import Finding
from hushtable.report.charts import plots
from hushtable.report.charts.plots import Scale, svg, text, titled
from hushtable.report.html import Html, element, join
from hushtable.report.words import number, sentence, share

FRESH = ("real", "fresh real rows (control)")
OUTSIDE = ("real", "people outside it (control)")
LAST = "The last bar holds all beyond."


@dataclass(frozen=True)
class Side:
    """Whose distances are compared with the control's, in the words of a legend, an axis and a reader's aid."""

    key: str
    ours: str
    fresh: tuple[str, str]
    axis: str
    aid: str


SIDES = (
    Side(
        "release", "release", FRESH, "distance to the nearest training rows",
        "Where the release lies left of fresh rows it crowds around the people it was made from.",
    ),
    Side(
        "train", "people in the table", OUTSIDE, "distance to the closest released row",
        "Where people in the table lie left of people outside it, the release crowds around those it was made from.",
    ),
)  # fmt: skip


def section(findings: Sequence[Finding]) -> Html | None:
    """One figure for each finding that brought histograms or a threshold curve; None if none did."""
    figures = [figure for r in findings for figure in (_histogram(r), _thresholds(r)) if figure]
    return join(figures) if figures else None


def _histogram(finding: Finding) -> Html | None:
    edges, control = finding.detail.get("edges"), _heights(finding.detail, "control")
    side = next((s for s in SIDES if _heights(finding.detail, s.key)), None)
    if side is None or not isinstance(edges, list):
        return None
    ours = _heights(finding.detail, side.key)
    if not len(edges) - 1 == len(ours) == len(control) > 0 or None in edges or edges[-1] <= edges[0]:
        return None
    threshold, chance = finding.detail.get("threshold"), finding.detail.get("chance")
    rule = f" Suspiciously close is what {share(chance)} of the fresh real rows are." if isinstance(chance, float) else ""
    label = f"{finding.label}: {side.axis}, {side.ours} and {side.fresh[1]}. {finding.note}"
    names = (side.ours, side.fresh[1].removesuffix(" (control)"), side.axis)
    return element(
        "figure",
        plots.legend(("line", side.ours), side.fresh),
        plots.distances(edges, ours, control, threshold if isinstance(threshold, float) else None, label, names),
        element("figcaption", element("strong", finding.label), f". {sentence(finding.note)}{rule} {side.aid} {LAST}"),
        class_="plot",
    )


def _heights(detail: Mapping[str, Any], key: str) -> list[float]:
    """A list of numbers of the detail, nothing for what is none."""
    values = detail.get(key)
    if not isinstance(values, list) or any(isinstance(x, (list, str)) for x in values):
        return []
    return [float(x or 0.0) for x in values]


def _thresholds(finding: Finding) -> Html | None:
    at, ours, others = (_heights(finding.detail, key) for key in ("thresholds", "train", "control"))
    if not len(at) == len(ours) == len(others) > 1 or at != sorted(at) or at[-1] <= at[0]:
        return None
    bands = [_band(finding.detail, key, len(at)) for key in ("train", "control")]
    gap = max(range(len(at)), key=lambda i: ours[i] - others[i])
    widest = f"Widest gap at {number(at[gap])}: {share(ours[gap])} in the table, {share(others[gap])} outside it."
    shade = " Shaded: their intervals." if all(bands) else ""
    aid = f"Share of people with a released row within so small a distance.{shade} {widest}"
    return element(
        "figure",
        plots.legend(("line", "people in the table"), ("grey", OUTSIDE[1])),
        curves(at, ours, others, bands, f"{finding.label}. {aid}"),
        element("figcaption", element("strong", finding.label), f". {sentence(finding.note)} {aid}"),
        class_="plot",
    )


def curves(
    at: Sequence[float],
    ours: Sequence[float],
    others: Sequence[float],
    bands: Sequence[tuple[list[float], list[float]] | None],
    label: str,
) -> Html:
    """Two rising curves over thresholds, each with its band if it has one."""
    width, left, top, bottom = 400.0, 42.0, 10.0, 188.0
    # Of all people on every page, so that two releases can be compared by eye.
    along, up = Scale(at[0], at[-1], left, width - 8), Scale(0.0, 1.0, bottom, top)
    colours = ("release", "real")
    shades = [
        element("path", class_=f"band {colour}", d=_path(along, up, [*at, *at[::-1]], [*band[1], *band[0][::-1]]) + "Z")
        for colour, band in zip(colours, bands, strict=True)
        if band
    ]
    lines = [
        element("path", class_=f"curve thick line-{colour}", d=_path(along, up, at, values))
        for colour, values in zip(colours, (ours, others), strict=True)
    ]
    spots = []
    for i, x in enumerate(at):
        before, after = (along((x + at[j]) / 2) for j in (max(i - 1, 0), min(i + 1, len(at) - 1)))
        title = f"within {number(x)}: {share(ours[i])} in the table, {share(others[i])} outside it"
        spots.append(titled(title, element("rect", class_="hover", x=before, y=top, width=after - before, height=bottom - top)))
    ticks = [text(along(t), bottom + 15, number(t), anchor="middle") for t in along.ticks()]
    name = text((left + width) / 2, bottom + 31, "distance to the closest released row, at most", anchor="middle", class_="small")
    return svg(width, bottom + 34, label, plots.share_grid(up, left, width - 8), shades, lines, spots, ticks, name)


def _band(detail: Mapping[str, Any], key: str, size: int) -> tuple[list[float], list[float]] | None:
    low, high = (_heights(detail, f"{key}_{end}") for end in ("low", "high"))
    return (low, high) if len(low) == len(high) == size else None


def _path(along: Scale, up: Scale, xs: Sequence[float], ys: Sequence[float]) -> str:
    return "M" + "L".join(f"{along(x):.1f} {up(y):.1f}" for x, y in zip(xs, ys, strict=True))
