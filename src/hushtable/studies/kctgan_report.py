"""The report of the study of rows drawn after microaggregation on a manifold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hushtable.evidence.finding import Better
from hushtable.studies.charts import curves
from hushtable.studies.kctgan_published import (
    GISETTE,
    HOW_MANY,
    IMPOSSIBLE,
    KERNEL,
    RNA,
    ROWS,
    SOURCE,
    TABLES,
    UNREADABLE,
    Published,
)
from hushtable.studies.kctgan_statements import statements
from hushtable.studies.lines import REAL, SHORT, Lines
from hushtable.studies.releases import DRAWN
from hushtable.studies.report import Figure, Grid, Number, Numbers, Part, Report, Section, Statements, refusals


@dataclass(frozen=True)
class Shown:
    """A measure: its name here, its key in results and in what is published, and which way is good."""

    name: str
    key: str
    better: Better | None = Better.LOWER


MMD, FID = Shown("MMD (squared), 1e-3", "mmd"), Shown("FID, values as they are", "fid")
F1 = Shown("F1", "f1", Better.HIGHER)
DISTANCE, VARIANCE = Shown("nearest distance, mean", "distance", None), Shown("nearest distance, variance", "variance", None)
FRECHET = Shown("Frechet distance squared, standard deviations", "frechet")
AUC = Shown("AUC", "auc", Better.HIGHER)
RECONSTRUCTION = Shown("reconstruction: excess over people outside", "reconstruction")
PRINTED = {
    "Table 4.1: MMD and FID": (MMD, FID),
    "Table 4.2: F1, learnt from drawn rows": (F1,),
    "Table 4.3: distance of drawn rows to the nearest real one": (DISTANCE, VARIANCE),
}
NOTES = (
    "The recipes rtvae, ads-gan, ctgan, kctgan and m-kctgan refine what their networks draw; the publications do not. "
    f"Lines that end in '{DRAWN[2:]}' are the same trained network without that.",
    "F1 is that of the rarer class on rows held out, learnt by boosted trees with fixed settings. The source takes the best of "
    "several classifiers, and tests them on the table that the rows were drawn from.",
    "FID, as the source calls the squared Frechet distance of means and covariances, and the nearest distances are of values as "
    "they are, levels by their codes: no other scale gives numbers of the published size. The weights of the census (fnlwgt) "
    "decide both.",
    "The source gives no epsilon for these tables: DPGAN and PATEGAN claim 1 here, and nothing is proven of them.",
    "ADSGAN in the source is by its name that of a library whose penalty pairs rows at random; ours takes the nearest. PATEGAN has "
    "the noise of that library, under which the votes of its teachers are coin flips.",
    "reconstruction is our audit: how many more of the people trained on than of others have a released row within reach, at the "
    "distance where that is most.",
)


def report(found: Lines) -> Report:
    """Published numbers beside ours, table by table."""
    sections = [_section(found, data) for data in TABLES]
    judged = Statements(title="What the source says", statements=tuple(statements(found)))
    extent = "one run on 2,000 of the rows, to see that it works" if found.quick else f"{found.runs} runs"
    lead = (
        f"Seven generators of rows on Adult, by {extent}. Of the three tables of the source only Adult is to be had; the number of "
        "rows, the kernel and the scaling behind most of its numbers are not given, and where they can be inferred they are not "
        "what is said."
    )
    return Report(
        title="Synthetic rows after microaggregation on a manifold",
        source=SOURCE,
        lead=lead,
        sections=(*sections, Section(title="Statements", parts=(judged,)), _section_of_errors(found)),
        notes=NOTES,
        skipped=(*found.skipped, *refusals(found.results)),
    )


def _section(found: Lines, data: str) -> Section:
    parts: list[Part] = [Numbers(title=title, numbers=tuple(_numbers(found, data, shown))) for title, shown in PRINTED.items()]
    if data not in found.data:
        return Section(title=data, parts=tuple(parts), lead=GISETTE if data == "Gisette" else "")
    ours = tuple(_numbers(found, data, (FRECHET, AUC, RECONSTRUCTION), beside=False))
    parts.append(Numbers(title="On our scales", numbers=ours))
    proofs = tuple(found.proofs(data, found.methods))
    parts.append(Grid(title="What is proven", heads=("method", "proven", "cpu s"), rows=proofs))
    if drawn := _disclosed(found, data):
        parts.append(
            Figure(
                name=f"disclosed-{data.lower()}",
                title=f"Figure 4.2: disclosed records on {data}",
                caption="The share of drawn rows (without refinement) nearer to a real row than the threshold, which is in means "
                "of each method's own nearest distance: how the source must have set it, since a method whose distances hardly "
                "vary then discloses nothing below 1, however near it is. The real rows are people held out, whom nobody can have "
                "disclosed.",
                drawn=curves(drawn, f"Disclosed records on {data}", "threshold, in means of the nearest distance"),
            )
        )
    real = found.real(data)
    lead = (
        f"{real.get('rows', 0):,} rows to learn from, {real.get('test', 0):,} held out, {real.get('columns', 0)} columns. The "
        f"kernel of the MMD has a width of {real.get('width', float('nan')):.3g} standard deviations, the median distance of real "
        "rows."
    )
    return Section(title=data if data != "RNA" else "RNA, and tcga_breast in its place", parts=tuple(parts), lead=lead)


def _disclosed(found: Lines, data: str) -> dict[str, list[tuple[float, float]]]:
    """The curves of figure 4.2, each the mean over runs."""
    curves = found.as_published(data, (*found.methods, REAL), "disclosed")
    shares = {name: np.mean(runs, axis=0).tolist() for name, runs in curves.items()}
    return {name: [((place + 1) / len(all_of), share) for place, share in enumerate(all_of)] for name, all_of in shares.items()}


def _lines(found: Lines, data: str) -> list[str]:
    """The published methods; of a table that is at hand also ours and the real rows."""
    if data not in found.data:
        return list(TABLES[data])
    return [*found.of(data, found.methods), REAL]


def _numbers(found: Lines, data: str, shown: tuple[Shown, ...], *, beside: bool = True) -> Iterator[Number]:
    for line in _lines(found, data):
        method = TABLES[data].get(line.removesuffix(DRAWN)) if beside else None
        for one in shown:
            published = None if method is None else getattr(method, one.key)
            values = found.values(data, line, one.key)
            why = "" if method is None else _why_not(found, data, one, method)
            if not values and not why:
                why = found.why_none(data)
            named = {
                "data": data,
                "method": line,
                "measure": one.name,
                "published": published,
                "better": one.better,
                "why_not": why,
            }
            yield Number.over(values, **named)


def _why_not(found: Lines, data: str, shown: Shown, method: Published) -> str:
    """Why a published number cannot be compared with ours, if so."""
    published = getattr(method, shown.key)
    if published is None:
        return UNREADABLE
    if published < 0:
        return IMPOSSIBLE
    if data != "Adult":
        return GISETTE if data == "Gisette" else RNA
    if shown is MMD:
        return KERNEL
    if shown in (DISTANCE, VARIANCE):
        return HOW_MANY
    return SHORT if found.quick else ""


def _section_of_errors(found: Lines) -> Section:
    """What can be inferred from the published numbers about how they were measured."""
    rows = []
    for data, count in ROWS.items():
        mmds = [method.mmd for method in TABLES[data].values()]
        rows.append((data, f"{count:,}", f"{2000 / count:.3f}", f"{min(mmds):.3f}", f"{max(mmds):.3f}"))
    blind = Grid(
        title="MMD of a kernel that sees nothing, 1e-3",
        heads=("data", "rows", "2/rows", "least published", "largest published"),
        rows=tuple(rows),
        note="With a kernel far narrower than the distances between rows nothing is left of the statistic but each row with "
        "itself: 2/n where these pairs are counted. For Gisette and RNA the least published MMD is that.",
    )
    parts: list[Part] = [blind]
    if own := found.real("Adult").get("own"):
        printed = TABLES["Adult"]["ADSGAN"]
        parts.append(
            Grid(
                title="Nearest distances among the real rows of Adult, values as they are",
                heads=("rows", "mean", "variance"),
                rows=tuple((f"{int(count):,}", f"{mean:.0f}", f"{variance:.2g}") for count, (mean, variance) in own.items()),
                note=f"The source says that real rows lie as those of ADSGAN do ({printed.distance:.0f}, {printed.variance:.2g}): "
                "those of a sample do.",
            )
        )
    return Section(title="How the source must have measured", parts=tuple(parts))
