"""What anonymization leaves of Frechet means and clusters: the study of k-anonymity, differential privacy and their hybrid.

Breast cancer and handwritten digits are mapped into the Poincare ball, released in each way, and compared: agreement of the
clusters with the classes (NMI), silhouette, and the manifold distance of the Frechet means, beside the published numbers (which
are for other data in the second case: MNIST) and beside what each method proves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hushtable.anonymize.published.frechet_noise import PUBLISHED
from hushtable.api.store import Result
from hushtable.evidence.finding import Better
from hushtable.studies.frechet_drawing import curves
from hushtable.studies.frechet_results import by_epsilon, by_k, by_size, elbowed, on_the_graph, scored
from hushtable.studies.frechet_statements import said
from hushtable.studies.frechet_ways import CERTIFIED_DP, CERTIFIED_HYBRID, DP, HYBRID, K_ANONYMITY, RAW, K, load
from hushtable.studies.report import Figure, Grid, Number, Numbers, Part, Report, Section, refusals
from hushtable.studies.study import Scope, Study, Task, Work, slug

KS, QUICK_KS = (5, 10, 15, 20, 30, 40), (5, 10, 20)
EPSILONS, QUICK_EPSILONS = (0.01, 0.02, 0.04, 0.07, 0.1, 0.3, 1.0), (0.01, 0.07, 1.0)
SHARES, QUICK_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0), (0.3, 1.0)
CLUSTERS, QUICK_CLUSTERS = 15, 6
PRINTED: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "breast cancer": {K_ANONYMITY: (0.44, 0.30), DP: (0.49, 0.25), HYBRID: (0.74, 0.38)},
    "digits": {K_ANONYMITY: (0.50, 0.07), DP: (0.47, 0.09), HYBRID: (0.61, 0.08)},
}
"""NMI and silhouette of table 3.3; those beside digits are of MNIST."""
EQUAL: Mapping[str, Mapping[int, float]] = {"breast cancer": {10: 0.07, 15: 0.06}, "digits": {10: 0.071, 15: 0.026}}
"""The epsilon whose mean is as far as that of k, by section 3.6.4; that beside digits is of MNIST."""
ELBOW = {"breast cancer": 2}
MEASURES = {
    "nmi": ("NMI", Better.HIGHER),
    "silhouette": ("silhouette", Better.HIGHER),
    "nmi_real": ("NMI, real rows", Better.HIGHER),
    "silhouette_real": ("silhouette, real rows", Better.HIGHER),
    "moved": ("distance of means", Better.LOWER),
}
OTHER = "the published numbers are of MNIST"
SOURCE = "S. Garg, Bridging AI and Privacy, thesis, Umea University 2025, sections 3.5 and 3.6, table 3.3, figures 3.1 to 3.5"


@dataclass(frozen=True)
class Line:
    """A line of the table: a way with its epsilon, and whether the publication has it."""

    kind: str
    epsilon: float | None = None
    published: bool = False

    @property
    def name(self) -> str:
        """As it is shown."""
        if self.kind == K_ANONYMITY:
            return f"k-anonymity (m-mdav, k = {K})"
        return self.kind if self.epsilon is None else f"{self.kind}, epsilon {self.epsilon:g}"


def lines(epsilon: float) -> list[Line]:
    """Those of a data set for which the publication picked this epsilon."""
    certified = [Line(kind, e) for e in (epsilon, 1.0, 4.0) for kind in (CERTIFIED_DP, CERTIFIED_HYBRID)]
    published = [Line(K_ANONYMITY, None, True), Line(DP, epsilon, True), Line(HYBRID, epsilon, True)]
    return [Line(RAW), *published, Line(HYBRID, 1.0), *certified]


@dataclass(frozen=True)
class Settings:
    """How much is run."""

    names: tuple[str, ...]
    runs: int
    ks: tuple[int, ...]
    epsilons: tuple[float, ...]
    shares: tuple[float, ...]
    clusters: int

    @classmethod
    def of(cls, scope: Scope) -> Settings:
        """Quick is one data set and a few points of each curve."""
        if scope.quick:
            return cls(("breast cancer",), scope.runs or 2, QUICK_KS, QUICK_EPSILONS, QUICK_SHARES, QUICK_CLUSTERS)
        return cls(("breast cancer", "digits"), scope.runs or 5, KS, EPSILONS, SHARES, CLUSTERS)

    def sizes(self, name: str) -> tuple[int, ...]:
        """So many rows of a data set."""
        return tuple(round(load(name).table.rows * share) for share in self.shares)

    def drawn(self, line: Line) -> int:
        """How often a line is drawn: once where nothing is random."""
        return 1 if line.kind in (RAW, K_ANONYMITY) else self.runs


def plan(scope: Scope) -> Work:
    """The table, the curves and the elbow of each data set. The noise is fresh: numbers vary a little."""
    settings = Settings.of(scope)
    tasks = [task for name in settings.names for task in _tasks(name, settings)]
    identity = ("frechet", settings.ks, settings.epsilons, settings.shares, settings.clusters, K)
    return Work(
        tasks=tasks,
        report=partial(report, settings=settings),
        identity=identity,
        tables=[load(name).table for name in settings.names],
    )


STUDY = Study(name="frechet", title="What anonymization leaves of Frechet means and clusters", source=SOURCE, plan=plan)


def _tasks(name: str, settings: Settings) -> Iterator[Task]:
    def task(part: str, title: str, make: Callable[[], Result]) -> Task:
        return Task(name=slug(f"{name}-{part}"), title=f"{name}: {title}", make=make, cost=load(name).table.rows / 569)

    epsilon = load(name).epsilon
    for line in lines(epsilon):
        for run in range(settings.drawn(line)):
            yield task(f"{line.name}-{run}", line.name, partial(scored, name, line.kind, line.epsilon or 1.0, run))
    yield task("by-k", "k", partial(by_k, name, settings.ks))
    for run in range(settings.runs):
        for kind in SWEPT:
            yield task(f"by-epsilon-{kind}-{run}", f"{kind}, by epsilon", partial(by_epsilon, name, kind, settings.epsilons, run))
        for kind, own in sized(epsilon).items():
            make = partial(by_size, name, kind, own, settings.sizes(name), run)
            yield task(f"by-size-{kind}-{run}", f"{kind}, by the number of rows", make)
    yield task("elbow", "elbow", partial(elbowed, name, settings.clusters))
    yield task("graph", "along the graph", partial(on_the_graph, name))


SWEPT = (DP, CERTIFIED_DP, HYBRID)


def sized(epsilon: float) -> dict[str, float]:
    """The ways that are compared by the number of rows, with the epsilon of each."""
    return {K_ANONYMITY: 1.0, DP: epsilon, HYBRID: epsilon, CERTIFIED_DP: 1.0}


def report(results: Mapping[str, Result], *, settings: Settings) -> Report:
    """The published table and its figures, of each data set."""
    sections = [_section(name, results, settings) for name in settings.names]
    claim = "; ".join(PUBLISHED.gaps)
    return Report(
        title=STUDY.title,
        source=SOURCE,
        lead=f"Rows are mapped into the Poincare ball and released in each way, {settings.runs} times where there is noise. Of the "
        "releases, the clusters and the Frechet mean are compared with those of the real rows.",
        sections=tuple(sections),
        notes=(
            "NMI and silhouette are of the released rows, as published; 'real rows' are the original rows grouped by the centres "
            "that the release gives, which is the fair comparison: the certified DP method releases centres, not rows of people.",
            "The defaults of the certified method (rounds, radius, reach) were chosen on these two sets, which flatters it here.",
            f"DP as published: {PUBLISHED.statement}. This does not hold: {claim}.",
        ),
        skipped=refusals(results),
    )


@dataclass(frozen=True)
class Found:
    """The results of a data set, by what they are of; what was refused is left out."""

    name: str
    results: Mapping[str, Result]

    def runs(self, part: str, count: int) -> list[Result]:
        """The results of some runs."""
        named = [self.results[slug(f"{self.name}-{part}-{run}")] for run in range(count)]
        return [one for one in named if "refused" not in one]

    def one(self, part: str) -> Result | None:
        """A result that there is once."""
        result = self.results[slug(f"{self.name}-{part}")]
        return None if "refused" in result else result


def _section(name: str, results: Mapping[str, Result], settings: Settings) -> Section:
    found, data = Found(name, results), load(name)
    table = {line: found.runs(line.name, settings.drawn(line)) for line in lines(data.epsilon)}
    swept = series(found, settings)
    parts: list[Part] = [_table(name, table)]
    proven = [(line.name, runs[0]["proof"]) for line, runs in table.items() if runs]
    parts.append(Grid(title="What is proven", heads=("method", "proof"), rows=tuple(proven)))
    parts.append(
        said(name, {line.name: runs for line, runs in table.items()}, swept, [line.name for line in table if line.published])
    )
    parts += _figures(name, swept)
    parts.append(_printed(found, swept))
    lead = f"{data.table.rows:,} rows of {len(data.features.schema)} columns, {data.groups} classes and as many clusters."
    if graph := found.one("graph"):
        lead += (
            f" The means of real and of k-anonymous rows are {graph['straight']:.4f} apart in the ball, {graph['along']:.4f}"
            " along the graph of records, whose links are Euclidean."
        )
    return Section(title=name, lead=lead, parts=tuple(parts))


def _table(name: str, table: Mapping[Line, Sequence[Result]]) -> Numbers:
    numbers = []
    for line, runs in table.items():
        printed = PRINTED[name].get(line.kind, ()) if line.published else ()
        for place, (key, (measure, better)) in enumerate(MEASURES.items()):
            values = [one[key] for one in runs if key in one]
            published = printed[place] if place < len(printed) else None
            named: dict[str, Any] = {
                "data": name,
                "method": line.name,
                "measure": measure,
                "better": better,
                "published": published,
            }
            why = OTHER if published is not None and name == "digits" else ""
            if values:
                numbers.append(Number.over(values, why_not=why, **named))
    return Numbers(title=f"Table 3.3: {name}", numbers=tuple(numbers), note="One run where nothing is random.")


Series = dict[str, dict[str, list[tuple[float, float]]]]


def series(found: Found, settings: Settings) -> Series:
    """The points of all curves: means over runs of the distance of the means, and what follows from them."""

    def middle(part: str, xs: Sequence[float]) -> list[tuple[float, float]]:
        runs = [one["moved"] for one in found.runs(part, settings.runs)]
        return list(zip(map(float, xs), np.mean(runs, axis=0).tolist(), strict=True)) if runs else []

    ks, bends = found.one("by-k"), found.one("elbow")
    of_k = list(zip(map(float, settings.ks), ks["moved"], strict=True)) if ks else []
    of_epsilon = {kind: middle(f"by-epsilon-{kind}", settings.epsilons) for kind in SWEPT}
    sizes = settings.sizes(found.name)
    inertia = bends["inertia"] if bends else []
    return {
        "3.1": {kind: middle(f"by-size-{kind}", sizes) for kind in sized(1.0)},
        "3.2 epsilon": of_epsilon,
        "3.2 k": {K_ANONYMITY: of_k},
        "3.3": {DP: [(k, e) for k, far in of_k if (e := epsilon_at(far, of_epsilon[DP])) is not None]},
        "3.4": {HYBRID: [(e, same) for e, far in of_epsilon[HYBRID] if (same := epsilon_at(far, of_epsilon[DP])) is not None]},
        "3.5": {"inertia": [(float(at + 1), value) for at, value in enumerate(inertia)]},
    }


def epsilon_at(far: float, curve: Sequence[tuple[float, float]]) -> float | None:
    """The epsilon at which a falling curve passes a distance, between its points on logarithmic scales; None beyond them."""
    if not curve:
        return None
    logs = np.log([[e, max(d, 1e-12)] for e, d in sorted(curve)])
    falling = np.minimum.accumulate(logs[:, 1])[::-1]
    if not falling[0] <= math.log(max(far, 1e-12)) <= falling[-1]:
        return None
    return float(np.exp(np.interp(math.log(max(far, 1e-12)), falling, logs[::-1, 0])))


FIGURES = {
    "3.1": ("How far the mean moves, by the number of rows", "rows", False),
    "3.2 epsilon": ("How far the mean moves, by epsilon", "epsilon", True),
    "3.2 k": ("How far the mean moves, by k", "k", False),
    "3.3": ("k, and the epsilon whose mean is as far", "k", False),
    "3.4": ("Epsilon of the hybrid, and that of DP whose mean is as far", "epsilon of the hybrid", True),
    "3.5": ("Inertia by the number of clusters", "clusters", False),
}


def _figures(name: str, swept: Series) -> Iterator[Figure]:
    for key, (title, along, logarithmic) in FIGURES.items():
        drawn = {kind: curve for kind, curve in swept[key].items() if curve}
        if drawn:
            caption = f"As figure {key.split()[0]} of the source." + (" Logarithmic scales." if logarithmic else "")
            label = f"{name}: {title}"
            yield Figure(
                name=slug(f"frechet-{name}-{key}"),
                title=label,
                caption=caption,
                drawn=curves(drawn, label, along=along, logarithmic=logarithmic),
            )


def _printed(found: Found, swept: Series) -> Numbers:
    """The numbers that the text of the source gives, beside ours."""
    name, equal = found.name, dict(swept["3.3"][DP])
    ks = [k for k, _ in swept["3.2 k"][K_ANONYMITY]]
    why = OTHER if name == "digits" else ""
    numbers = [
        Number(
            data=name, method=f"k = {k}", measure="epsilon of DP as published at equal distance", published=published,
            ours=equal.get(float(k)), why_not=why if float(k) in equal else "no epsilon of those tried moves the mean as far",
        )
        for k, published in EQUAL[name].items() if float(k) in ks
    ]  # fmt: skip
    if bend := found.one("elbow"):
        printed = ELBOW.get(name)
        numbers.append(Number(data=name, method="elbow", measure="number of clusters", published=printed, ours=float(bend["bend"])))
    return Numbers(title="Sections 3.6.4 and 3.6.7: numbers in the text", numbers=tuple(numbers))
