"""Certify the audits on a table: leaks of known size are planted, and each metric must rise with them.

A table is cut at random into training rows, control rows and fresh rows. Releases with a known leak are made from them and
audited; a metric that does not rise with the leak is marked. Each finished cell of the study is written to the folder at once
(aggregates only), so that a study that was stopped goes on where it stopped and ends with the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.api import covert_curves, generator_curves
from hushtable.api.audit import pick_audits
from hushtable.api.certificate import Certificate, Curve, Expect, curve
from hushtable.api.store import Result, Store
from hushtable.audits import planted
from hushtable.audits.planted import NOISES, Noise, Overfitted
from hushtable.display import Progress, announce, meant, silent
from hushtable.errors import HushError, InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Audit, Finding, Subject, uncomputed
from hushtable.evidence.persons import People
from hushtable.pipeline.recipe import Recipe
from hushtable.table.arguments import require_tables
from hushtable.table.arrays import Floats
from hushtable.table.table import Table

ROWS = 10_000
"""Rows of each of the three parts at most."""
LEAKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
KNOBS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "k-nearest": ("neighbours", ((2,), (3,), (5,), (10,), (20,))),
    "attribution": ("radius", (0.02, 0.05, 0.1, 0.2, 0.5)),
}
"""Knobs whose influence is shown: of which audit, and the values tried."""
BARE = ("properties", "control-seen", "coverage")
"""Audits that examine the release or the case alone, and need not answer to a leak: left out unless they are named."""
COLUMNS = ("audit", "name", "scope", "value", "low", "high", "baseline", "better", "risk", "p", "p_adjusted", "note")


def privacy_audits(only: Iterable[str] = ()) -> dict[str, Audit]:
    """Every registered audit of privacy that is not costly, or those named."""
    named = tuple(only)
    picked = pick_audits(named)
    if named:
        return picked
    return {name: audit for name, audit in picked.items() if name not in BARE and audit.subject is Subject.PRIVACY}


@dataclass(frozen=True, kw_only=True)
class CertifyOptions:
    """What is planted, and which audits are to notice it."""

    models: Sequence[str] = ()
    """Risk models by name; all of ``MODELS`` when there are none."""
    audits: Mapping[str, Audit] | Iterable[str] = ()
    """Names, or audits by name; all of privacy that are not costly when there are none."""
    rows: int | None = None
    """Of each of the three parts at most; ``ROWS`` when absent."""
    seed: int = 0
    quick: bool = False
    """Fewer levels and settings."""
    generator: str | None = None
    """The recipe that is overfitted: argn, or sequential where PyTorch is not installed, if none is named."""

    def __post_init__(self) -> None:
        """Every risk model exists."""
        odd = [model for model in self.models if model not in MODELS]
        if odd:
            raise InputError(
                f"there is no risk model {', '.join(odd)}{meant(odd, MODELS)}; there are {', '.join(MODELS)}", where="certify"
            )


def certify(
    table: Table,
    options: CertifyOptions | None = None,
    *,
    folder: str | Path | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Certificate:
    """Plant leaks of known size in a table and see which audits notice them.

    What is planted is in ``CertifyOptions``: give it whole, or its fields by name, as in ``certify(table, models=["leaky"])``. With
    a folder every finished cell is written there, and ``certificate.json``, ``.txt`` and ``.html`` at the end; a folder of another
    study is refused.
    """
    require_tables(table=table)
    asked = CertifyOptions(**settings) if options is None else options
    place = None if folder is None else Path(folder)
    chosen = dict(asked.audits) if isinstance(asked.audits, Mapping) else privacy_audits(asked.audits)
    overfitted = generator_curves.generator(asked.generator)
    named = asked.generator is not None
    study = Study(table, chosen, asked.rows or ROWS, asked.seed, place, asked.quick, progress, overfitted, named)
    return study.run(tuple(asked.models) or tuple(MODELS))


@dataclass
class _Place:
    """Where a study is: its risk model, and how many releases of that are done."""

    model: str = ""
    cells: int = 0


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
    generator: str | Recipe = generator_curves.TREES
    """The recipe of the generator that is overfitted; one that is not trained ever further is given by name."""
    named: bool = False
    """Whether that was asked for: then it is also the one that is asked for more rows, and that outliers are kept from."""
    place: _Place = field(default_factory=_Place)
    without: dict[float, list[Overfitted]] = field(default_factory=dict)
    """One training for each share of outliers removed, of a generator that is trained ever further."""
    notes: dict[str, str] = field(default_factory=dict)
    """What is to be said of a risk model, or why it was left out."""

    @cached_property
    def store(self) -> Store:
        """The results so far, of these rows with these audits."""
        settings = (self.most, self.seed, self.quick, self.generator, *(f"{name} {audit!r}" for name, audit in self.audits.items()))
        return Store.open(self.folder, settings, self.parts.values())

    @cached_property
    def parts(self) -> dict[str, Table]:
        """Training, control and fresh rows, disjoint, of one number of people, each with all of their rows."""
        table = self.table.select(self.table.schema.released)
        people = People.of(table)
        size = min(round(self.most * people.count / max(1, table.rows)), people.count // 3)
        if size < 2:
            raise InputError(f"three parts of at least two people are needed, the table has {people.count}", where="certify")
        order = np.random.default_rng([self.seed, 0]).permutation(people.count)
        parts = (people.rows_of(order[i * size : (i + 1) * size]) for i in range(3))
        return dict(zip(("train", "control", "fresh"), map(table.take, parts), strict=True))

    def run(self, models: Sequence[str]) -> Certificate:
        """All curves of these models."""
        curves = []
        announce(self.progress, {model: float(self._cells(model)) for model in models})
        for model in models:
            self.place.model, self.place.cells = model, 0
            self.progress(model, 0.0)
            curves += MODELS[model](self)
            self.progress(model, 1.0)
        cells = [cell for cell in self.store.results.values() if "findings" in cell]
        timed = {name: [c["seconds"][name] for c in cells if name in c["seconds"]] for name in self.audits}
        certificate = Certificate(
            rows={name: part.rows for name, part in self.parts.items()},
            table=self.table.rows,
            seed=self.seed,
            curves=curves,
            seconds={name: float(np.mean(s)) for name, s in timed.items() if s},
            refused=_refused(cells),
            notes=dict(self.notes),
        )
        self.store.write("certificate.json", json.dumps(certificate.to_json(), indent=1, ensure_ascii=False))
        self.store.write("certificate.txt", certificate.text())
        self.store.write("certificate.html", certificate.page())
        return certificate

    def _cells(self, model: str) -> int:
        """About how many releases a model makes; only what shows progress uses it."""
        settings = sum(len(values) for name, (_, values) in KNOBS.items() if name in self.audits)
        sizes = {"noisy": 1 if self.quick else len(NOISES), "knobs": settings, "outliers": 2}
        return max(1, sizes.get(model, 1)) * len(self.levels)

    # The risk models.

    def leaky(self) -> list[Curve]:
        """Training rows verbatim."""
        return [self._leaks("leaky", "leaky", Noise())]

    def noisy(self) -> list[Curve]:
        """Training rows disturbed, in each of the published settings."""
        return [self._leaks("noisy", str(noise), noise) for noise in (NOISES[-1:] if self.quick else NOISES)]

    def knobs(self) -> list[Curve]:
        """Audits with one knob turned, on verbatim leaks."""
        curves = []
        for name, (knob, values) in KNOBS.items():
            for place, value in enumerate(values if name in self.audits else ()):
                turned = {name: _turned(self.audits[name], {knob: value})}
                title = f"{knob} {value[0] if isinstance(value, tuple) else value}"
                curves.append(self._leaks(f"{name}, {knob}", title, Noise(), Expect.NOTHING, f"{name}-{place}-", turned))
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
        points = [(x, self.cell(prefix + _leak_name(noise, x), partial(self._leak, x, noise), audits)) for x in self.levels]
        return curve(model, name, "share of released rows leaked", expect, points)

    def _leak(self, share: float, noise: Noise) -> Case:
        # One seed for all levels: a larger leak holds every row of a smaller one.
        rng = np.random.default_rng([self.seed, 1])
        return self.case(planted.noisy(self.parts["train"], self.parts["fresh"], share, rng, noise))

    @cached_property
    def trees(self) -> list[Overfitted]:
        """Sequential trees from those that learn to those that memorize."""
        return generator_curves.ladder(self, generator_curves.TREES)

    @property
    def remembering(self) -> list[Overfitted]:
        """The generator of the other risk models: the one that was asked for, else trees, which are grown in seconds."""
        return self.overfitted if self.named else self.trees

    @cached_property
    def overfitted(self) -> list[Overfitted]:
        """The generator from where it has learnt most on."""
        return self.trees if self.generator == generator_curves.TREES else generator_curves.ladder(self, self.generator)

    @cached_property
    def outlying(self) -> Floats:
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

        def measured() -> Result:
            case = make()
            findings: list[Finding] = []
            seconds: dict[str, float] = {}
            for place, (audit, kind) in enumerate(audits.items()):
                done = (self.place.cells + place / len(audits)) / self._cells(self.place.model)
                self.progress(f"{self.place.model}: {name}, {audit}", min(done, 0.99))
                start = time.perf_counter()
                findings += _findings(case, audit, kind, self.seed)
                seconds[audit] = time.perf_counter() - start
            records = [finding.to_json() for finding in harness.corrected(findings)]
            return {"findings": [{key: record[key] for key in COLUMNS} for record in records], "seconds": seconds}

        cell: list[dict[str, Any]] = self.store.get_or_make(name, measured)["findings"]
        self.place.cells += 1
        return cell


MODELS: dict[str, Callable[[Study], list[Curve]]] = {
    "leaky": Study.leaky,
    "noisy": Study.noisy,
    **generator_curves.MODELS,
    "knobs": Study.knobs,
    **covert_curves.MODELS,
}


def _turned(audit: Audit, knobs: Mapping[str, Any]) -> Audit:
    """The audit with these knobs turned: every audit is a frozen dataclass, though its base class is none."""
    turned: Audit = replace(audit, **knobs)  # type: ignore[type-var] # an audit is a dataclass, its base class need not be one
    return turned


def _leak_name(noise: Noise, share: float) -> str:
    """Releases that are the same have one name: without a leak there is no noise."""
    noise = noise if share else Noise()
    return f"leak-{noise.sigma:g}-{noise.lam:g}-{noise.p:g}-{share:g}"


def _findings(case: Case, name: str, audit: Audit, seed: int) -> list[Finding]:
    try:
        findings = harness.run(case, {name: audit}, seed)
    except HushError as error:
        return [uncomputed(name, case.train.rows, str(error), audit=name)]
    return [finding for finding in findings if finding.subject is Subject.PRIVACY]


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
