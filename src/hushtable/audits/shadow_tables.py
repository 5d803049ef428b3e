"""Shadow tables: what a generator releases when it is run on tables with and without certain records.

The same tables serve all records that are asked about: in each table chance decides for every person alone whether and how it is
in (as in Carlini et al. 2022), so that a few dozen runs of the generator are enough for all of them together.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hushtable.audits.regenerate import regenerate
from hushtable.audits.shadow_features import RecordFeatures
from hushtable.errors import InputError
from hushtable.evidence.finding import Audit
from hushtable.numerics.fitting import fit
from hushtable.pipeline.step import check_knobs
from hushtable.table.arrays import Floats, Integers, Mask
from hushtable.table.disk import read_text, whole_file
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.evidence.case import Case

FEWEST = 4
"""With fewer shadow tables nothing can be learnt."""


@dataclass(frozen=True, eq=False)
class Game:
    """What is asked: records that may or may not be in a shadow table, and the rows that fill the rest of it."""

    records: Table
    pool: Table
    rows: int
    """Of every shadow table."""
    choose: Callable[[np.random.Generator], Integers]
    """Which records one shadow table holds."""

    def inside(self, key: int, shadow: int) -> Integers:
        """The records that a shadow table holds."""
        return self.choose(np.random.default_rng([key, shadow, 0]))

    def table(self, key: int, shadow: int) -> Table:
        """The rows that a shadow generator is trained on: always as many as the real one, in random order."""
        rng = np.random.default_rng([key, shadow, 1])
        held = self.inside(key, shadow)
        filling = rng.choice(self.pool.rows, min(self.rows - len(held), self.pool.rows), replace=False)
        table = Table.concat([self.pool.take(filling), self.records.take(held)])
        return table.take(rng.permutation(table.rows))

    def seed(self, key: int, shadow: int) -> int:
        """The generator's."""
        return int(np.random.default_rng([key, shadow, 2]).integers(2**31))


@dataclass(frozen=True, kw_only=True)
class Shadowing(Audit):
    """What membership and inference by shadow tables share: making the tables, in parallel, for a limited time, resumably."""

    costly: ClassVar[bool] = True

    shadows: int = 32
    """How many times the generator is run."""
    seconds: float = 600.0
    """No new table is begun after this time; what is there is evaluated, and the note says how many there were."""
    workers: int = 2
    """Tables made at the same time, in threads; the findings do not depend on it."""
    queries: int = 24
    """Random sets of columns on which agreeing rows are counted."""
    folder: str = ""
    """Where features of finished tables are stored (never rows), so that an interrupted run goes on; nowhere when empty."""

    def __post_init__(self) -> None:
        """Enough tables to learn from."""
        check_knobs(
            self,
            shadows=(self.shadows >= FEWEST, f"must be at least {FEWEST}"),
            seconds=(self.seconds > 0, "must be positive"),
            workers=(self.workers >= 1, "must be at least 1"),
            queries=(self.queries >= 0, "must not be negative"),
        )

    def features(self, case: Case, game: Game, key: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Records x features of the release; shadows x records x features, of as many shadows as there was time for."""
        around = RecordFeatures.of(game.records, case.train, case.columns, self.queries, rng)
        release = around.features(case.release)
        mark, deadline = _fingerprint(case, game, key, self.queries), time.monotonic() + self.seconds
        workers, done = _safe_threads(self.workers), list[Floats]()

        def make(shadow: int) -> Floats:
            return self._stored(
                mark, shadow, lambda: around.features(regenerate(case, game.table(key, shadow), game.seed(key, shadow)))
            )

        with ThreadPoolExecutor(workers) as pool:
            # Waves of consecutive tables: which ones are there depends on the clock only by their number.
            for start in range(0, self.shadows, workers):
                if time.monotonic() > deadline:
                    break
                done += pool.map(make, range(start, min(start + workers, self.shadows)))
        if len(done) < FEWEST:
            raise InputError(f"only {len(done)} of {self.shadows} shadow tables were made in {self.seconds:g} s", where="shadows")
        return release, np.stack(done)

    def _stored(self, mark: str, shadow: int, make: Callable[[], Floats]) -> Floats:
        if not self.folder:
            return make()
        path = Path(self.folder) / f"shadow-{shadow:05d}.json"
        if path.exists():
            stored = json.loads(read_text(path, path.name))
            if stored["mark"] != mark:
                raise InputError("holds shadow tables of other rows, settings or seeds; name another folder", where=self.folder)
            return np.array(stored["features"])
        features = make()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path) as partial:
            partial.write_text(json.dumps({"mark": mark, "features": features.tolist()}), encoding="utf-8")
        return features

    def note(self, count: int) -> str:
        """How many tables there were, to end a note with."""
        ending = " before time ran out" if count < self.shadows else ""
        return f"; {count} of {self.shadows} shadow tables were made{ending}"


def standard(features: Floats) -> Floats:
    """Each feature of each record, over the tables, with mean 0 and variance 1: labels play no part in it."""
    spread = features.std(axis=0)
    return np.asarray((features - features.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0), np.float64)


def inside_of(game: Game, key: int, features: Floats) -> Mask:
    """Shadows x records: who was in."""
    inside = np.zeros(features.shape[:2], dtype=bool)
    for shadow in range(len(features)):
        inside[shadow, game.inside(key, shadow)] = True
    return inside


def fitted(features: Floats, inside: Mask) -> Callable[[Floats], Floats]:
    """Logistic regression over all records at once."""
    from sklearn.linear_model import LogisticRegression

    labels = inside.ravel()
    if labels.all() or not labels.any():
        return lambda rows: np.full(len(rows), 1.0 if labels.all() else -1.0)
    model = LogisticRegression(C=0.1, max_iter=1000)
    fit(model, features.reshape(len(labels), -1), labels)
    return lambda rows: np.asarray(model.decision_function(rows))


def _fingerprint(case: Case, game: Game, key: int, queries: int) -> str:
    """Of everything that features depend on."""
    digest = hashlib.sha256(repr((key, queries, game.rows, case.columns)).encode())
    for table in (game.records, game.pool, case.release):
        for name in table.schema.names:
            digest.update(name.encode() + table[name].tobytes())
    return digest.hexdigest()


def _safe_threads(workers: int) -> int:
    """One, where compiled loops may not be entered by two threads at once."""
    import numba

    layer = numba.threading_layer()  # type: ignore[attr-defined] # numba has it, but does not list it
    return 1 if layer == "workqueue" else workers
