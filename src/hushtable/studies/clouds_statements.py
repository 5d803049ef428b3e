"""What the source says of point clouds in words, and what our numbers say to it. With one run nothing is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hushtable.api.store import Result
from hushtable.evidence.confidence import Rate, binomial_tail, clopper_pearson
from hushtable.evidence.finding import Better
from hushtable.report.words import interval, p_value, share
from hushtable.studies.clouds_cells import FEW, GENERATORS, LINE
from hushtable.studies.clouds_sets import MNIST, SETS
from hushtable.studies.report import Statement, Statements, Verdict, over_runs
from hushtable.studies.verdicts import all_of, best, spoken

Cells = dict[tuple[str, str], list[Result]]
"""By set and generator the results of all runs that were not refused."""
Returned = dict[tuple[str, str], list[Result]]
"""By kind of injected points and generator."""
GANS = {
    "gan": "The vanilla GAN aligns poorly with the points, where the VAE keeps the shapes (figures 4.3 to 4.7 and 4.10a)",
    "dcgan": "The DCGAN's points are disorganized, where the VAE keeps the shapes (figure 4.10b)",
    "ctgan": "The CTGAN's points are scattered, where the VAE keeps the shapes (figure 4.10c)",
    "dpgan": "The DPGAN's points are dispersed without the geometry, where the VAE keeps the shapes (figure 4.10d)",
}
ALIKE = 0.25
"""Distances that differ by less than this part of the VAE's are called comparable."""
SPREAD = 0.9
"""Points that are spread at least so much, beside real ones, are not crowded."""


def shape_statements(made: Cells, sets: Sequence[str], *, digits: bool) -> Statements:
    """The VAE against each GAN, by the Wasserstein distance on every set, run by run."""
    said = [_against(made, sets, generator, says) for generator, says in GANS.items()]
    said.append(_on_the_shape(made, sets))
    if digits:
        said.append(_comparable(made))
    return Statements(title="What the source says of the shapes", statements=tuple(one for one in said if one is not None))


def decided(yes: bool, no: bool) -> Verdict:
    """Confirmed, contradicted, or neither."""
    return Verdict.CONFIRMED if yes else Verdict.CONTRADICTED if no else Verdict.UNDECIDED


def distances(made: Cells, name: str, generators: Sequence[str]) -> dict[str, list[float]]:
    """Wasserstein distances of all runs, by the title of the generator."""
    return {GENERATORS[one].title: [cell["wasserstein"] for cell in made[name, one]] for one in generators}


def _against(made: Cells, sets: Sequence[str], generator: str, says: str) -> Statement | None:
    found = {name: distances(made, name, ("vae", generator)) for name in sets if made[name, generator] and made[name, "vae"]}
    if not found:
        return None
    nearer = sum(float(np.mean(runs["VAE"])) < float(np.mean(runs[GENERATORS[generator].title])) for runs in found.values())
    parts = [f"{SETS[name].title}: {spoken(runs)}" for name, runs in found.items()]
    verdict = all_of(best("VAE", runs, Better.LOWER) for runs in found.values())
    because = f"The VAE is nearer on {nearer} of {len(found)} sets. Wasserstein distances from fresh points: {'; '.join(parts)}"
    return Statement(says=says, verdict=verdict, because=because)


def _on_the_shape(made: Cells, sets: Sequence[str]) -> Statement | None:
    off = {name: over_runs([one["off"] for one in made[name, "vae"]]) for name in sets if made[name, "vae"]}
    if not off:
        return None
    parts = [f"{SETS[name].title} {share(middle)}{_ends(low, high)}" for name, (middle, low, high) in off.items()]
    below, above = (
        [end is not None and (end < 0.5) == under for end in ends]
        for under, ends in ((True, [high for _, _, high in off.values()]), (False, [low for _, low, _ in off.values()]))
    )
    return Statement(
        says="What the VAE draws follows circles, half circles, clusters and surfaces closely, with slight variations (figures 4.3 "
        "to 4.7)",
        verdict=decided(all(below) and len(off) == len(sets), any(above)),
        because=f"Off the shape lie, of its points (of real ones 1 %, and more than half contradicts): {', '.join(parts)}",
    )


def _ends(low: float | None, high: float | None) -> str:
    return f" ({interval(low, high, percent=True)})" if low is not None else ""


def _comparable(made: Cells) -> Statement | None:
    if not (made[MNIST, "vae"] and made[MNIST, "gan"]):
        return None
    runs = distances(made, MNIST, ("vae", *GANS))
    gaps = [theirs / ours - 1 for theirs, ours in zip(runs["GAN"], runs["VAE"], strict=False)]
    _, low, high = over_runs(gaps)
    alike = low is not None and high is not None and low > -ALIKE and high < ALIKE
    unlike = low is not None and high is not None and (low > ALIKE or high < -ALIKE)
    # The source shows no GAN beside the VAE, and does not say which it means.
    return Statement(
        says="For MNIST both GANs and VAEs perform comparably well (section 4.8.6)",
        verdict=decided(alike, unlike),
        because=f"Wasserstein distances in the places of UMAP: {spoken(runs)}. The plain GAN decides: within {share(ALIKE)} of the "
        "VAE it is comparable",
    )


def umap_statements(back: Mapping[str, Sequence[Result]], titles: Mapping[str, str]) -> Statements:
    """What is lost where UMAP is inverted."""
    said = []
    surfaces = {name: runs for name, runs in back.items() if name != MNIST and runs}
    if surfaces:
        spread = {name: over_runs([one["drawn"]["spread"] for one in runs]) for name, runs in surfaces.items()}
        parts = []
        for name, (middle, low, high) in spread.items():
            straight, _, _ = over_runs([one["returned"]["spread"] for one in surfaces[name]])
            parts.append(f"{titles[name]} {share(middle)}{_ends(low, high)}, of real places {share(straight)}")
        narrow = all(high is not None and high < SPREAD for _, _, high in spread.values())
        wide = all(low is not None and low >= SPREAD for _, low, _ in spread.values())
        said.append(
            Statement(
                says="Led back by the inverse of UMAP, points cluster in the middle, with limited dispersion (figures 4.3d, 4.4d)",
                verdict=decided(narrow, wide),
                because=f"Spread of the points led back, beside that of real ones: {'; '.join(parts)}",
            )
        )
    if digits := back.get(MNIST, ()):
        hits, count = (sum(one[key] for one in digits) for key in ("agree", "images"))
        rate = clopper_pearson(hits, count)
        said.append(
            Statement(
                says="Images led back closely resemble the original ones (figure 4.8d)",
                verdict=decided(rate.low > 0.5, rate.high < 0.5),
                because=f"The nearest real image shows the digit of the place for {hits} of {count} "
                f"({interval(rate.low, rate.high, percent=True)}); of real images {share(digits[0]['agree_real'])} have one of "
                "their digit nearest",
            )
        )
    return Statements(title="What the source says of the way back", statements=tuple(said))


@dataclass(frozen=True)
class Pooled:
    """Injected points of all runs."""

    inside: Rate
    outside: Rate
    p: float
    """That so many come back of those injected, if nothing is memorized."""
    way: float | None
    other_way: float | None
    """How near a released row comes to half of them, as a share of the way to the nearest real row; None beyond it."""


def pooled(runs: Sequence[Result]) -> Pooled:
    """The counts of runs together."""
    hits, n, others, m = (sum(one[key] for one in runs) for key in ("hits", "attempts", "control_hits", "control_attempts"))
    ways = [_median(runs, "injected", n), _median(runs, "left_out", m)]
    return Pooled(clopper_pearson(hits, n), clopper_pearson(others, m), binomial_tail(hits, hits + others), *ways)


def _median(runs: Sequence[Result], key: str, points: int) -> float | None:
    counts = np.sum([one[key] for one in runs], axis=0)
    enough = np.flatnonzero(2 * counts >= points)
    return float(runs[0]["within"][enough[0]]) if points and len(enough) else None


def memory_statements(returned: Returned) -> Statements:
    """Of the VAE: the line comes back, a few points do not."""
    said = []
    if line := returned[LINE, "vae"]:
        sums = pooled(line)
        said.append(
            Statement(
                says="Where a tenth of the points lies on a line, the VAE regenerates them (figure 4.9b)",
                verdict=decided(sums.inside.low > 0.5, sums.inside.high < 0.5),
                because=f"{_counted(sums)}: a rule that was learnt, where both come back alike",
            )
        )
    if few := returned[FEW, "vae"]:
        sums = pooled(few)
        said.append(
            Statement(
                says="Of a few points that were added the VAE repeats none in its place (figure 4.9d)",
                verdict=decided(sums.inside.high < 0.5 and sums.p > 0.05, sums.p <= 0.05),
                because=_counted(sums),
            )
        )
    return Statements(title="What the source says of injected points", statements=tuple(said))


def _counted(sums: Pooled) -> str:
    ends = (f"{share(rate.value)} ({interval(rate.low, rate.high, percent=True)})" for rate in (sums.inside, sums.outside))
    return f"{next(ends)} of the injected points come back, and {next(ends)} of those left out (p {p_value(sums.p)})"
