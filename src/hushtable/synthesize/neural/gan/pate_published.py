"""PATE-GAN as published (Jordon, Yoon and van der Schaar 2019). The certified form is the step ``pate``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hushtable.encode.layout import require_drawable
from hushtable.errors import InputError
from hushtable.learn import network
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.gan import Adversarial
from hushtable.table.schema import Schema

NAME = "pate-published"
_WHY = "numbers are scaled by the least and largest value of the rows, and training stops by a price that depends on them"
ORDERS = 100
"""Moments that the accountant tries."""

GAPS = (
    "the epsilon that is reported, and the step at which training stops, depend on how far the teachers agree, which is private",
    "numbers are scaled by the least and the largest value that the rows hold, and the levels are those of the rows",
    "which teacher a row belongs to depends on its place among all rows: one row more may move the rows of others",
    "the description lets the generator learn from the votes; the proof needs the student between them, trained on generated rows",
    "the noise comes from a generator with a seed and is added in floating-point numbers; all six public implementations were "
    "found to leak more than they state (Ganev, Annamalai and De Cristofaro 2024)",
)


@dataclass(frozen=True, kw_only=True)
class PatePublished(Core):
    """Teachers on disjoint parts vote, with Laplace noise, on generated rows; a student learns the votes, a generator the student.

    Training goes on until the moments accountant of Papernot et al. 2017, which looks at the votes, has come to epsilon. That
    this is private as stated is not proven (the gaps are printed), so epsilon is infinite; ``pate`` is the form that is.
    """

    quick: ClassVar[Mapping[str, object]] = {"most": 1, "width": 4, "noise": 4, "teachers": 2}
    extra: ClassVar[str] = "neural"

    epsilon: float = 1.0
    """The epsilon that the publication says the release is protected with."""
    delta: float = 1e-5
    """The delta beside it."""
    teachers: int = 10
    """On parts of equal size."""
    scale: float = 1000.0
    """Of the Laplace noise, in votes: what the library uses that most figures come from. At 10 teachers the labels are then coin
    flips; with less noise hardly a row can be asked for."""
    batch: int = 64
    """Rows a step."""
    teacher_steps: int = 5
    """Of every teacher in a round."""
    student_steps: int = 5
    """Of the student in a round; each asks for the votes on a batch."""
    most: int = 1000
    """The most rounds, whatever is left of epsilon."""
    width: int = 128
    """Of each layer."""
    noise: int = 64
    """Random numbers from which a row is made."""
    rate: float = 1e-3
    """Learning rate of all networks."""

    def __post_init__(self) -> None:
        """Positive sizes."""
        names = ("teachers", "batch", "teacher_steps", "student_steps", "most", "width", "noise")
        check_knobs(
            self,
            **{name: (getattr(self, name) >= 1, "must be at least 1") for name in names},
            epsilon=(1e-3 <= self.epsilon <= 1e6, "must lie between 0.001 and 1e6"),
            delta=(0 < self.delta < 1, "must lie between 0 and 1"),
            scale=(0 < self.scale < math.inf, "must be positive and finite"),
            rate=(0 < self.rate < math.inf, "must be positive and finite"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns of free text; states the claim, and the gaps in its proof."""
        require_drawable(schema, NAME)
        claim = Claim(f"differential privacy with epsilon = {self.epsilon:g} at delta = {self.delta:g}", GAPS)
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, claims=(claim,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Adversarial:
        """Train round by round."""
        table = vault.open(Raw(_WHY), _WHY)
        if table.rows < self.teachers:
            raise InputError(f"{self.teachers} teachers need as many rows at least", where=NAME)
        networks = network("hushtable.synthesize.neural.gan.pate_published_net", "PATE-GAN")
        learnt = networks.train(self, table, int(rng.integers(2**31)), vault.report)
        return Adversarial(**learnt, constraints=(), rows=table.rows)
