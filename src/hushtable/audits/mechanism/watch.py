"""Observing a recipe while it runs: vaults that record what they were asked and what they answered. The recipe is unchanged.

Differential privacy composes: what a recipe promises holds for every noisy answer that its steps were given, not only for the
rows they made of them. So the strongest guesser reads the answers, and works out how much likelier each is in one world
than in the other; no other guesser does better (Neyman and Pearson 1933). It knows the noise that is stated, not
the noise that was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from scipy.special import log_softmax

from hushtable.errors import HushError
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Code, Coder, Core, Model, Plan
from hushtable.privacy.allowance import Allowance, Noise, score_change
from hushtable.privacy.query import Occupied, Query, Scores
from hushtable.privacy.taint import Taint
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Scheme, Vault
from hushtable.table.columns import Column
from hushtable.table.rows import Rows, answered
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class Asked:
    """A query that a vault was asked, and the rows it was asked of."""

    question: Query | Scores
    table: Table = field(repr=False)


@dataclass(eq=False)
class Transcript:
    """The transcript of one run: queries, noisy answers and fitted models."""

    rival: Table | None = None
    """The rows of the other world, encoded as far as those of this one."""
    sign: int = 1
    """1 if the canary is in, else -1: the ratio is always of the world with the canary to the one without."""
    asked: list[Asked] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    log_ratio: float = 0.0
    """How much likelier all answers so far are with the canary than without it."""
    answers: int = 0
    cells: dict[str, float] = field(default_factory=dict)

    def weigh(self, ratio: float) -> None:
        """Add the log-likelihood ratio of one answer."""
        self.log_ratio += self.sign * float(np.clip(ratio, -1e6, 1e6))
        self.answers += 1


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordingVault(Vault):
    """A vault that records what it was asked. Vaults made of it share its transcript."""

    transcript: Transcript = field(default_factory=Transcript, repr=False)
    rival: Table | None = field(default=None, repr=False)

    @classmethod
    def around(cls, vault: Vault, transcript: Transcript, rival: Table | None, first: Table | None) -> RecordingVault:
        """The same vault, recording; and so does the one of the raw rows behind it, whose rival was the first one."""
        held = {f.name: getattr(vault, f.name) for f in fields(Vault)}
        if vault.origin is not None:
            held["origin"] = cls.around(vault.origin, transcript, first, first)
        return cls(**held, transcript=transcript, rival=rival if vault.taint is Taint.RAW else None)

    def select(self, names: Any) -> RecordingVault:
        """The columns of both worlds."""
        names = tuple(names)
        return self._beside(super().select(names), None if self.rival is None else self.rival.select(names))

    def through(self, code: Any, *, learnt: bool = False) -> RecordingVault:
        """Both worlds, encoded."""
        return self._beside(super().through(code, learnt=learnt), _encoded(code, self.rival))

    def sampled(self, table: Rows, rate: float, scheme: Scheme) -> RecordingVault:
        """Nobody knows which rows of the other world would have been drawn."""
        return self._beside(super().sampled(table, rate, scheme), None)

    def measure(self, query: Query, scale: float, noise: Noise = Noise.GAUSSIAN) -> np.ndarray:
        """Measure, and weigh the answer."""
        noisy = super().measure(query, scale, noise)
        self.transcript.asked.append(Asked(query, self._table.whole("a listener")))
        if self.rival is not None:
            here, there = (np.abs(noisy - answered(query, table)).astype(np.float64) for table in (self._table, self.rival))
            if noise is Noise.GAUSSIAN:
                self.transcript.weigh(((there**2 - here**2) / (2 * scale**2)).sum())
            else:
                self.transcript.weigh(((there - here) / scale).sum())
        return noisy

    def choose(self, scores: Scores, allowance: Allowance) -> int:
        """Choose, and weigh the choice."""
        place = super().choose(scores, allowance)
        self._weigh_choice(scores, allowance, np.array([place]))
        return place

    def choose_each(self, scores: Scores, allowance: Allowance) -> np.ndarray:
        """Choose for every part, and weigh the choices."""
        places = super().choose_each(scores, allowance)
        self._weigh_choice(scores, allowance, places)
        return places

    def discover(self, cells: Occupied, allowance: Allowance, delta: float) -> tuple[np.ndarray, np.ndarray]:
        """Discover, and record the cells: a cell that only one of the worlds can release refutes any epsilon."""
        discovered, counts = super().discover(cells, allowance, delta)
        if self.taint is Taint.RAW:
            # By what they stand for: the code of a cell depends on which others there are.
            columns = [self.schema[name] for name in cells.columns]
            for codes, count in zip(discovered.tolist(), counts, strict=True):
                values = ", ".join(_value(column, code) for column, code in zip(columns, codes, strict=True))
                self.transcript.cells[f"cell ({values}) of {', '.join(cells.columns)}"] = float(count)
        return discovered, counts

    @staticmethod
    def _beside(vault: Vault, rival: Table | None) -> RecordingVault:
        """A vault made of this one, with the rows of the other world."""
        assert isinstance(vault, RecordingVault)
        return replace(vault, rival=rival)

    def _weigh_choice(self, scores: Scores, allowance: Allowance, places: np.ndarray) -> None:
        self.transcript.asked.append(Asked(scores, self._table.whole("a listener")))
        if self.rival is None:
            return
        rate = allowance.choice / (2 * score_change(scores, self.schema, self._rows()))
        parts = np.arange(len(places))
        here, there = (
            log_softmax(rate * np.atleast_2d(answered(scores, table)).astype(np.float64), axis=1)[parts, places]
            for table in (self._table, self.rival)
        )
        self.transcript.weigh(float((here - there).sum()))


def _encoded(code: Any, rival: Table | None) -> Table | None:
    """The other world encoded; none if the code, fitted on this one, cannot: it then has no likelihood."""
    try:
        return None if rival is None else code.apply(rival)
    except HushError:
        return None


def _value(column: Column, code: int) -> str:
    """What the code of a cell stands for."""
    if code < 0:
        return "missing"
    return column.levels[code] if column.coded else column.write(code + column.bounds.low)


class _Watched:
    """What both kinds of watched step have in common; everything else is the step's own."""

    step: Core | Coder
    transcript: Transcript
    first: Table | None

    def __init__(self, step: Core | Coder, transcript: Transcript) -> None:
        self.step, self.transcript, self.first = step, transcript, transcript.rival

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["step"], name)

    @property
    def spends(self) -> bool:
        """As the step."""
        return self.step.spends

    @property
    def relation(self) -> Relation:
        """As the step."""
        return self.step.relation

    @property
    def learns_domains(self) -> bool:
        """As the step."""
        return self.step.learns_domains

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """As the step."""
        return self.step.plan(schema, budget)

    def _vault(self, vault: Vault) -> Vault:
        return RecordingVault.around(vault, self.transcript, self.transcript.rival, self.first)


class WatchedCore(_Watched, Core):
    """A core whose fitted models are recorded."""

    step: Core

    def fit(self, vault: Vault, rng: np.random.Generator) -> Model:
        """Fit, and remember the model. What it made of the other world is not known."""
        model = self.step.fit(self._vault(vault), rng)
        self.transcript.models.append(model)
        self.transcript.rival = None
        return model


class WatchedCoder(_Watched, Coder):
    """A coder whose queries are recorded."""

    step: Coder

    def fit(self, vault: Vault, rng: np.random.Generator) -> Code:
        """Fit, and encode the other world as well."""
        code = self.step.fit(self._vault(vault), rng)
        self.transcript.rival = _encoded(code, self.transcript.rival)
        return code


def watched(recipe: Recipe, transcript: Transcript) -> Recipe:
    """The same recipe, observed while it runs."""
    steps = tuple(
        WatchedCore(step, transcript) if isinstance(step, Core) else WatchedCoder(cast(Coder, step), transcript)
        for step in recipe.steps
    )
    return replace(recipe, steps=steps)
