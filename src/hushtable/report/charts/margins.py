"""Single columns: the real rows beside the release, the columns that differ most first."""

from __future__ import annotations

from collections.abc import Sequence

from hushtable.evidence.finding import Finding
from hushtable.report.charts import folding, plots
from hushtable.report.html import Html, element, join
from hushtable.report.words import number, share

PANELS = 24
"""So many columns are drawn; the others are closer to real than these and stand in the table."""
EXPLAINED = (
    "Columns by total variation distance (TVD), the worst first. Numbers are cut near quantiles of the training rows, so "
    "their training bars are about level by construction; limits are round, and what fewer than five training rows hold is not "
    "shown by itself. Small figures are percent of the training rows / of the release."
)


def panels(findings: Sequence[Finding]) -> Html | None:
    """One panel for each column that brought its shares; None if none did."""
    drawn = [r for r in sorted(findings, key=lambda r: -(r.value or 0.0)) if r.name == "TVD" and folding.bars(r.detail)]
    if not drawn:
        return None
    ordered = {r.scope for r in findings if r.name == "KS"}
    left = f" The {PANELS} worst of {len(drawn)} are drawn; the others are in the table." if len(drawn) > PANELS else ""
    return join(
        element("p", EXPLAINED + left),
        plots.legend(("real", "training rows"), ("release", "release")),
        element("div", [_panel(r, ordered=r.scope in ordered) for r in drawn[:PANELS]], class_="panels"),
    )


def _panel(finding: Finding, *, ordered: bool) -> Html:
    bars = folding.bars(finding.detail)
    worst = max(bars, key=lambda bar: abs(bar.release - bar.train))
    base = f", fresh rows {number(finding.baseline)}" if finding.baseline is not None else ""
    label = f"{finding.scope}: training rows and release. TVD {number(finding.value)}{base}. Largest gap at {worst.label}: "
    label += f"train {share(worst.train)}, release {share(worst.release)}"
    missing = None
    if folding.limits(bars):
        shown, ends, missing = folding.ranges(bars)
        drawing = plots.paired_columns(shown, label, ends)
    else:
        drawing = plots.paired_bars(folding.levels(bars, ordered=ordered), label)
    empty = f"missing: train {share(missing.train)}, release {share(missing.release)}" if missing else None
    return element(
        "figure",
        element("figcaption", element("strong", finding.scope), " ", element("span", f"TVD {number(finding.value)}{base}")),
        drawing,
        element("p", empty, class_="soft") if empty else None,
        class_="panel",
    )
