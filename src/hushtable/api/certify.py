"""Certifying the audits on a table: every risk model, every audit, every level, and what the numbers did (E1, E2).

A table is cut at random into training rows, control rows and fresh rows. Releases with a known leak are made from them and
audited; a metric that does not rise with the leak is marked. Each finished cell of the study is written to the folder at once
(aggregates only), so that a study that was stopped goes on where it stopped and ends with the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.api import covert_curves
from hushtable.api.audit import pick_audits
from hushtable.api.certificate import Certificate, Curve, Expect, curve
from hushtable.api.store import Cells
from hushtable.audits import planted
from hushtable.audits.planted import NOISES, Noise, Overfitted
from hushtable.display import Progress, silent
from hushtable.errors import HushError, InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding, Subject, uncomputed
from hushtable.evidence.persons import People
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.run import release as run_recipe
from hushtable.table.table import Table

ROWS = 10_000
"""Rows of each of the three parts at most."""
LEAKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SIZES = (1, 2, 3, 4)
OUTLIERS = (0.0, 0.01, 0.02, 0.05, 0.1)
KNOBS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "k-nearest": ("neighbours", ((2,), (3,), (5,), (10,), (20,))),
    "attribution": ("radius", (0.02, 0.05, 0.1, 0.2, 0.5)),
}
"""Knobs whose influence is shown: of which audit, and the values tried."""
BARE = ("properties", "control-seen", "coverage")
"""Audits that look at the release or at the case alone, and need not answer to a leak: left out unless they are named."""
GENERATOR = "sequential"
KEPT = ("audit", "name", "scope", "value", "low", "high", "baseline", "better", "risk", "p", "p_adjusted", "note")


def privacy_audits(only: Iterable[str] = ()) -> dict[str, Audit]:
    """Every registered audit of privacy that is not costly, or those named."""
    named = tuple(only)
    picked = pick_audits(named)
    if named:
        return picked
    return {name: audit for name, audit in picked.items() if name not in BARE and audit.subject is Subject.PRIVACY}


def certify(
    table: Table,
    *,
    models: Sequence[str] = (),
    audits: Mapping[str, Audit] | None = None,
    rows: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
    quick: bool = False,
    progress: Progress = silent,
) -> Certificate:
    """Run the risk models (all of ``MODELS`` unless some are named) over the audits (all that are not costly by default).

    ``rows`` bounds each of the three parts; ``quick`` takes fewer levels and settings. With a folder every finished cell is
    kept there, and ``certificate.json``, ``.txt`` and ``.html`` at the end; a folder of another study is refused.
    """
    odd = [model for model in models if model not in MODELS]
    if odd:
        raise InputError(f"there is no risk model {', '.join(odd)}; there are {', '.join(MODELS)}", where="certify")
    study = Study(table, dict(privacy_audits() if audits is None else audits), rows or ROWS, seed, folder, quick, progress)
    return study.run(tuple(models) or tuple(MODELS))


@dataclass(frozen=True, eq=False)
class Study:
    """One table, its three parts, and the cells that are done."""

    table: Table
    audits: dict[str, Audit]
    most: int
    seed: int
    folder: Path | None
    quick: bool
    progress: Progress

    @cached_property
    def cells(self) -> Cells:
        """What is done, of these rows with these audits."""
        knobs = (self.most, self.seed, self.quick, *(f"{name} {audit!r}" for name, audit in self.audits.items()))
        return Cells.of(self.folder, knobs, self.parts.values())

    @cached_property
    def parts(self) -> dict[str, Table]:
        """Training, control and fresh rows, disjoint, of one number of people, each with all of their rows."""
        kept = self.table.select(self.table.schema.released)
        people = People.of(kept)
        size = min(round(self.most * people.count / max(1, kept.rows)), people.count // 3)
        if size < 2:
            raise InputError(f"three parts of at least two people are needed, the table has {people.count}", where="certify")
        order = np.random.default_rng([self.seed, 0]).permutation(people.count)
        parts = (people.rows_of(order[i * size : (i + 1) * size]) for i in range(3))
        return dict(zip(("train", "control", "fresh"), map(kept.take, parts), strict=True))

    def run(self, models: Sequence[str]) -> Certificate:
        """All curves of these models."""
        curves = []
        for place, model in enumerate(models):
            self.progress(model, place / len(models))
            curves += MODELS[model](self)
        cells = [cell for cell in self.cells.done.values() if "findings" in cell]
        timed = {name: [c["seconds"][name] for c in cells if name in c["seconds"]] for name in self.audits}
        made = Certificate(
            rows={name: part.rows for name, part in self.parts.items()},
            table=self.table.rows,
            seed=self.seed,
            curves=curves,
            seconds={name: float(np.mean(s)) for name, s in timed.items() if s},
            refused=_refused(cells),
        )
        self._save(made)
        self.progress("done", 1.0)
        return made

    # The risk models.

    def leaky(self) -> list[Curve]:
        """Training rows verbatim."""
        return [self._leaks("leaky", "leaky", Noise())]

    def noisy(self) -> list[Curve]:
        """Training rows disturbed, in each of the published settings."""
        return [self._leaks("noisy", str(noise), noise) for noise in (NOISES[-1:] if self.quick else NOISES)]

    def overfit(self) -> list[Curve]:
        """A generator trained until it memorizes."""
        ratios = self.cells.kept("overfit", lambda: {"ratios": [one.ratio for one in self._ladder]})["ratios"]

        def case(at: int) -> Case:
            return self.case(self._ladder[at].sample(self.parts["train"].rows))

        points = [(ratio, self.cell(f"overfit-{at}", lambda at=at: case(at))) for at, ratio in enumerate(ratios)]
        return [curve("overfit", "overfit", "validation loss over the least", Expect.RISE, points)]

    def size(self) -> list[Curve]:
        """A generator that is not trained too far, asked for more rows."""
        rows = self.parts["train"].rows

        def case(factor: int) -> Case:
            return self.case(self._ladder[0].sample(factor * rows))

        points = [(float(f), self.cell(f"size-{f}", lambda f=f: case(f))) for f in (SIZES[::3] if self.quick else SIZES)]
        return [curve("size", "size", "released rows over training rows", Expect.STAY, points)]

    def outliers(self) -> list[Curve]:
        """The loneliest rows removed from all three parts before anything is made, at two overfit ratios."""
        settings = self.cells.kept(
            "outliers", lambda: {"settings": [dict(one.settings) for one in (self._ladder[0], self._near(1.6))]}
        )
        curves = []
        for place, (ratio, knobs) in enumerate(zip((1.0, 1.6), settings["settings"], strict=True)):
            shares = OUTLIERS[::3] if self.quick else OUTLIERS
            points = [(s, self.cell(f"outliers-{place}-{s:g}", lambda s=s, k=knobs: self._without(s, k))) for s in shares]
            curves.append(curve("outliers", f"at overfit {ratio:g}", "share removed", Expect.NOTHING, points))
        return curves

    def knobs(self) -> list[Curve]:
        """Audits with one knob turned, on verbatim leaks."""
        curves = []
        for name, (knob, values) in KNOBS.items():
            for place, value in enumerate(values if name in self.audits else ()):
                turned = {name: replace(self.audits[name], **{knob: value})}
                told = f"{knob} {value[0] if isinstance(value, tuple) else value}"
                curves.append(self._leaks(f"{name}, {knob}", told, Noise(), Expect.NOTHING, f"{name}-{place}-", turned))
        return curves

    # How cells are made.

    @property
    def levels(self) -> tuple[float, ...]:
        """Shares of the released rows that leak."""
        return (0.0, 0.5, 1.0) if self.quick else LEAKS

    def _leaks(
        self, model: str, name: str, noise: Noise, expect: Expect = Expect.RISE, prefix: str = "",
        audits: Mapping[str, Audit] | None = None,
    ) -> Curve:  # fmt: skip
        points = [(x, self.cell(prefix + _leak_name(noise, x), lambda x=x: self._leak(x, noise), audits)) for x in self.levels]
        return curve(model, name, "share of released rows leaked", expect, points)

    def _leak(self, share: float, noise: Noise) -> Case:
        # One seed for all levels: a larger leak holds every row of a smaller one.
        rng = np.random.default_rng([self.seed, 1])
        return self.case(planted.noisy(self.parts["train"], self.parts["fresh"], share, rng, noise))

    @cached_property
    def _ladder(self) -> list[Overfitted]:
        # Beyond all ratios lies the last rung: the generator that memorizes most.
        ratios = (*(planted.RATIOS[::3] if self.quick else planted.RATIOS), np.inf)
        rng = np.random.default_rng([self.seed, 2])
        return planted.overfit(self.parts["train"], self.parts["fresh"], rng, ratios=ratios, recipe=GENERATOR)

    def _near(self, ratio: float) -> Overfitted:
        return min(self._ladder, key=lambda one: abs(one.ratio - ratio))

    def _made(self, train: Table, settings: Mapping[str, str], rows: int) -> Table:
        return run_recipe(train, recipes.load(GENERATOR).set(settings), rows=rows, seed=self.seed).table

    def _without(self, share: float, settings: Mapping[str, str]) -> Case:
        cut = np.sort(self.outlying)[::-1][round(share * len(self.outlying)) - 1] if share else np.inf
        inside = np.split(self.outlying < cut, [self.parts["train"].rows])
        train, control = (self.parts[n].take(some) for n, some in zip(("train", "control"), inside, strict=True))
        return Case(train, self._made(train, settings, train.rows), control)

    @cached_property
    def outlying(self) -> np.ndarray:
        """How lonely each training and then each control row is."""
        train, control = self.parts["train"], self.parts["control"]
        both = Table.concat([train, control])
        if train.persons is not None and control.persons is not None:
            # Numbers are those of one table, of whose people each stands on one side.
            both = replace(both, persons=np.concatenate([train.persons, control.persons]))
        return planted.outlying(both)

    def case(self, release: Table) -> Case:
        """A release of the training rows."""
        return Case(self.parts["train"], release, self.parts["control"])

    def cell(self, name: str, make: Callable[[], Case], audits: Mapping[str, Audit] | None = None) -> list[dict[str, Any]]:
        """The findings of one release; read from the folder if they are there."""
        audits = self.audits if audits is None else audits

        def measured() -> dict[str, Any]:
            case, found, seconds = make(), [], {}
            for place, (audit, kind) in enumerate(audits.items()):
                self.progress(f"{name}: {audit}", place / len(audits))
                start = time.perf_counter()
                found += _findings(case, audit, kind, self.seed)
                seconds[audit] = time.perf_counter() - start
            told = [finding.to_json() for finding in harness.corrected(found)]
            return {"findings": [{key: one[key] for key in KEPT} for one in told], "seconds": seconds}

        return self.cells.kept(name, measured)["findings"]

    def _save(self, made: Certificate) -> None:
        self.cells.write("certificate.json", json.dumps(made.to_json(), indent=1, ensure_ascii=False))
        self.cells.write("certificate.txt", made.text())
        self.cells.write("certificate.html", made.page())


MODELS: dict[str, Callable[[Study], list[Curve]]] = {
    "leaky": Study.leaky,
    "noisy": Study.noisy,
    "overfit": Study.overfit,
    "size": Study.size,
    "outliers": Study.outliers,
    "knobs": Study.knobs,
    **covert_curves.MODELS,
}


def _leak_name(noise: Noise, share: float) -> str:
    """Releases that are the same have one name: without a leak there is no noise."""
    noise = noise if share else Noise()
    return f"leak-{noise.sigma:g}-{noise.lam:g}-{noise.p:g}-{share:g}"


def _findings(case: Case, name: str, audit: Audit, seed: int) -> list[Finding]:
    try:
        found = harness.run(case, {name: audit}, seed)
    except HushError as error:
        return [uncomputed(name, case.train.rows, str(error), audit=name)]
    return [finding for finding in found if finding.subject is Subject.PRIVACY]


def _refused(cells: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Findings that never had a value, each with its first reason."""
    reasons: dict[str, str] = {}
    valued = set()
    for record in (record for cell in cells for record in cell["findings"]):
        label = f"{record['name']}, {record['scope']}" if record["scope"] else record["name"]
        if record["value"] is None:
            reasons.setdefault(label, record["note"])
        else:
            valued.add(label)
    return {label: why for label, why in reasons.items() if label not in valued}
