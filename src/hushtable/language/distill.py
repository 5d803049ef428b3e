"""TSKD: a private teacher, and a student of fewer layers that learns from it (after Garg 2025, algorithm 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.language.classifier import GENERAL, NET, OWN, PURPOSE
from hushtable.language.classify import ClassifyText, Learnt, Work, codes, descent, shares
from hushtable.language.prune import spread
from hushtable.learn import network
from hushtable.pipeline.step import check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import SampledGaussian
from hushtable.privacy.sampled import sampled_gaussian
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers

DISTILL_NET = "hushtable.language.distill_net"


@dataclass(frozen=True, kw_only=True)
class DistillText(ClassifyText):
    """A class for each text, by a student of fewer layers that a private teacher taught.

    The student is cut out of the public encoder and taught on public texts to give the encoder's vectors (at no cost). The teacher
    is trained on the rows as ``classify-text`` is. Then the student, with a head that says on public texts what the teacher says,
    is trained on the rows with ``alpha`` T^2 KL(teacher, student at temperature T) + (1 - ``alpha``) cross entropy, on clipped
    gradients with noise; all descents stand in one ledger, which costs less than the sum of their epsilons. With ``transfer`` the
    student learns from the teacher on public texts only: that is post-processing, and the teacher has the whole budget.
    """

    NAME: ClassVar[str] = "distill-text"
    quick: ClassVar[Mapping[str, object]] = {"steps": 2, "rank": 2, "length": 16, "student": 1, "general": 2, "student_steps": 2}

    student: int = 3
    """Layers of the student."""
    alpha: float = 0.5
    """The weight of the teacher's word, beside that of the labels."""
    temperature: float = 5.0
    """Both logits are divided by it where they are compared."""
    squared: bool = True
    """Whether the teacher's word is multiplied by the temperature squared, without which it weighs next to nothing."""
    transfer: bool = False
    """Whether the student learns from the teacher on public texts, at no cost, and not on the rows."""
    student_steps: int = 30
    """Steps of the student; with ``transfer`` passes over the pool."""
    student_part: float = 0.3
    """The part of the budget that the student's descent has."""
    general: int = 3
    """Passes over the pool in which the student learns the encoder's vectors, before any row is read."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            student=(self.student >= 1, "must be at least 1"),
            alpha=(0 <= self.alpha <= 1, "must be between 0 and 1"),
            temperature=(0 < self.temperature < math.inf, "must be positive"),
            student_steps=(self.student_steps >= 1, "must be at least 1"),
            student_part=(0 < self.student_part < 1, "must be above 0 and below 1"),
            general=(self.general >= 0, "must not be negative"),
        )
        super().__post_init__()

    def descents(self, budget: Allowance) -> dict[str, SampledGaussian]:
        """Those of the teacher, and the student's where it reads rows."""
        if self.transfer:
            return super().descents(budget)
        teacher, student = budget.split([1 - self.student_part, self.student_part])
        return super().descents(teacher) | {"student": sampled_gaussian(student, self.rate, self.student_steps)}

    def learn(self, vault: Vault, work: Work, counts: Integers, count: float) -> Learnt:
        """The general student in public, the teacher on the rows, then the student from the teacher."""
        whole = int(work.checkpoint.config["num_hidden_layers"])
        teacher = self.network(work, self.layers(vault, work, count), vault.schema)
        layers = spread(whole, self.student)
        student = self.network(work, layers, vault.schema)
        public = network(DISTILL_NET, PURPOSE)
        general = public.general(student, teacher, work.pool, self.general)
        self.train(teacher, vault, work, shares(counts, len(vault.schema[work.task.target].levels)), count)
        teacher.requires_grad_(False)
        public.begin(student, teacher, work.pool, self._how(1))
        parameters = student.adapt(self.rank, self.top, network(NET, PURPOSE).EVERYWHERE)
        if self.transfer:
            public.transfer(student, teacher, work.pool, self._how(self.student_steps))
        else:
            parameters = student.narrow()
            self._private(student, teacher, parameters, vault, work, count)
        arrays = {f"{GENERAL}{name}": array for name, array in general.items()}
        arrays |= {f"{OWN}{name}": array for name, array in student.arrays().items()}
        return Learnt(layers, arrays, sum(p.numel() for p in parameters), whole)

    def _how(self, passes: int) -> Any:
        times = self.temperature**2 if self.squared else 1.0
        return network(DISTILL_NET, PURPOSE).How(self.temperature, times, passes)

    def _private(self, student: Any, teacher: Any, parameters: list[Any], vault: Vault, work: Work, count: float) -> None:
        """On the rows: the teacher is a private release already, so what it says of a row is that row's own."""
        module = network(NET, PURPOSE)
        how = descent(work.spent.descents["student"], self.clip)
        run = how.start(vault, parameters, count, "trains the student on clipped gradients")
        tokens = student.tokens(run.table.strings(work.task.text))
        losses = network(DISTILL_NET, PURPOSE).mixed_losses(teacher, tokens, codes(run.table, work.task), self.alpha, self._how(1))
        gradients = module.text_gradients(student, tokens, losses)
        module.descend(run, parameters, gradients, module.Pace(self.speed, self.student_steps, report=vault.report))
