"""A grid of hybrids as Markdown: the same choice, findings and tables as on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.report.compare_markdown import chosen
from hushtable.report.compare_text import ended
from hushtable.report.html import INTERNAL
from hushtable.report.hybrid_text import STAGES, decided, levels_table, others, reading, surviving, unit, which, with_ends
from hushtable.report.markdown import bullets, grid, plain
from hushtable.report.words import number

if TYPE_CHECKING:
    from hushtable.api.hybrid.result import HybridCell, HybridGrid


def hybrid_markdown(hybrids: HybridGrid) -> str:
    """A grid of hybrids as plain Markdown."""
    decisions = [plain(" ".join(filter(None, (decided(one), one.words, others(hybrids, one))))) for one in hybrids.hypotheses]
    heads, lines = levels_table(hybrids)
    blocks = [
        "# Hybrids: anonymize, then synthesize",
        f"**{INTERNAL}**",
        *chosen(hybrids.comparison),
        *(["## What the parts do", bullets(decisions)] if decisions else []),
        "## From the original to the hybrid",
        _stages(hybrids),
        *(["## Means", grid([plain(head) for head in heads], [[plain(t) for t in line] for line in lines])] if lines else []),
        *(["## What is still promised", _promises(hybrids)] if hybrids.hybrids else []),
        "## All cells",
        _cells(hybrids),
        *(
            ["## What could not be run", bullets(plain(f"{c.id}: {ended(c.failed)}") for c in hybrids.failures)]
            if hybrids.failures
            else []
        ),
        "## How to read this",
        bullets(plain(f"{term}: {ended(text)}") for term, text in reading(hybrids)),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _stages(hybrids: HybridGrid) -> str:
    rows = [
        [plain(f"{metric.label} ({unit(metric)})"), *(plain(with_ends(metric, hybrids.stage(stage, name))) for stage, _ in STAGES)]
        for name, metric in hybrids.metrics.items()
    ]
    return grid(["metric", *(words for _, words in STAGES)], rows)


def _promises(hybrids: HybridGrid) -> str:
    rows = [
        [evidence, plain(promise), number(len(cells)), plain(which(hybrids, cells))]
        for evidence, promise, cells in surviving(hybrids)
    ]
    return grid(["evidence", "promise", "hybrids", "which"], rows)


def _cells(hybrids: HybridGrid) -> str:
    metrics = hybrids.metrics
    cells = [cell for cell in hybrids.cells if not cell.failed]
    heads = ["release", "promise", "alarms", *(metric.label for metric in metrics.values()), "seconds"]
    return grid([plain(head) for head in heads], [[plain(text) for text in _row(cell, hybrids)] for cell in cells])


def _row(cell: HybridCell, hybrids: HybridGrid) -> list[str]:
    numbers = [with_ends(metric, cell.metrics.get(name)) for name, metric in hybrids.metrics.items()]
    return [cell.id, f"{cell.assurance}: {cell.promise}", number(cell.alarms), *numbers, number(cell.seconds)]
