"""Private classifiers of text: a public encoder with adapters that are trained with differential privacy (DP-LoRA)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.language.classifier import NET, OWN, PURPOSE, Shape, TextClassifier
from hushtable.language.models import HOW, READ_IN_PUBLIC, Checkpoint, Sort, checkpoint
from hushtable.language.pool import HOW as POOL
from hushtable.language.pool import public_texts
from hushtable.language.prune import LayerCosines, Rule, Texts, kept, means
from hushtable.language.task import Task
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Plan, PrivateCore, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, SampledGaussian
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.sampled import FLOAT_NOISE, sampled_gaussian
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

COUNTS, SCORES = 0.02, 0.02
"""The parts of the budget that go to the noisy counts of the classes, and to noisy scores of the layers."""
HEAD_STEPS, HEAD_SPEED, HEAD_NOISE = 40, 20.0, 0.05
"""Of the private head on the encoder as it is; every row is in every batch, as each costs next to nothing. Where the noise of a
step, beside the clip and over all weights, is above the last, the speed is lower by as much."""
PART = 256
"""Rows whose gradients are kept at a time: of memory only."""
SEEN = 512
"""Texts of the pool that layers are compared on and that the centre is the mean of."""


@dataclass(frozen=True)
class Spent:
    """What each access to the rows may cost. Nothing of it depends on rows."""

    counts: Allowance
    scores: Allowance | None
    descents: dict[str, SampledGaussian]
    """By what they train, in order."""


@dataclass(frozen=True, eq=False)
class Work:
    """What a training has at hand before it reads a row."""

    task: Task
    checkpoint: Checkpoint
    pool: list[str]
    spent: Spent
    seed: int


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a training leads to."""

    kept: tuple[int, ...]
    arrays: Arrays
    parameters: int
    layers: int


@dataclass(frozen=True, kw_only=True)
class ClassifyText(PrivateCore):
    """A class for each text: adapters (LoRA) and a head on a public encoder, trained on clipped gradients with noise (DP-SGD).

    Paid for in this order: noisy counts of the classes (a row changes one by one), which also give the number of rows; scores of
    layers, where they are asked of private texts; the head, on the means of all layers of the encoder as it is; adapters, under
    that head. In each step of a descent every person is in the batch by a coin of its own, and changes the sum of clipped gradients
    by at most ``clip``, beside which the noise is planned (Abadi et al. 2016, Yu et al. 2022). Rates, steps and layers to leave out
    are fixed beforehand. What is released are *public* texts with the classes that the model gives them. Needs a delta, and one
    record or person more or less (add-remove).
    """

    NAME: ClassVar[str] = "classify-text"
    quick: ClassVar[Mapping[str, object]] = {"steps": 2, "rank": 2, "length": 16}
    extra: ClassVar[str] = "language"
    reads_text: ClassVar[bool] = True

    model: str = ""
    """The folder of an encoder, or the name that it was installed under."""
    pool: str = ""
    """A file of public texts, which are labelled and released: one a line, or a CSV or TSV file with a column of them."""
    text: str = ""
    """The column of free text; may be left out where there is one."""
    target: str = ""
    """The column to predict; by default that of role target, or the only one with levels."""
    rate: float = 0.1
    """The chance of each person to be in the batch of a step."""
    steps: int = 30
    """Steps in which adapters are trained; 0 leaves the encoder as it is, under a private head."""
    rank: int = 4
    """Of the adapters."""
    top: int = 3
    """How many of the last layers have adapters; 0 gives them to all. Fewer take less time and less noise."""
    length: int = 64
    """The most tokens of a text that are read."""
    clip: float = 1.0
    """The largest norm of one person's part in the gradient of a step."""
    speed: float = 5e-4
    """Learning rate of adapters."""
    head: float = 0.7
    """The part of the budget that the head has on the encoder as it is."""
    drop: int = 0
    """How many layers are left out: those whose outputs are most like their neighbours'."""
    rule: Rule = Rule.PAIRWISE
    """How alike layers are: by both neighbours (pairwise) or the next one (cosine)."""
    scores: Texts = Texts.PUBLIC
    """Whose texts layers are compared on: those of the pool at no cost, or private ones with noise that is paid for."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            rate=(0 < self.rate <= 1, "must be above 0 and at most 1"),
            steps=(self.steps >= 0, "must not be negative"),
            rank=(self.rank >= 1, "must be at least 1"),
            top=(self.top >= 0, "must not be negative"),
            length=(self.length >= 2, "must be at least 2"),
            clip=(0 < self.clip < math.inf, "must be positive"),
            speed=(0 < self.speed < math.inf, "must be positive"),
            head=(0 < self.head < 1, "must be above 0 and below 1"),
            drop=(self.drop >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that do not fit, a missing model or pool, and a budget without delta."""
        task = Task.of(schema, self.text, self.target, self.NAME)
        needs = [how for given, how in ((self.model, HOW), (self.pool, POOL)) if not given]
        if needs:
            raise PlanError(f"{self.NAME}: {'; '.join(needs)}")
        events: tuple[Event, ...] = ()
        if budget is not None:
            refuse_large_delta(schema, budget, self.NAME)
            spent = self.spent(budget)
            scored = [] if spent.scores is None else [spent.scores.event(LayerCosines(task.text), schema)]
            events = (spent.counts.event(Histogram((task.target,)), schema), *scored, *spent.descents.values())
        return Plan(
            schema=schema.select(task.columns), events=events, effect=Effect.GENERATE, caveats=(FLOAT_NOISE, READ_IN_PUBLIC),
            public=(f"the texts of {task.text}, which are those of a file that was declared to be public",),
        )  # fmt: skip

    def spent(self, budget: Allowance) -> Spent:
        """How the budget is shared out."""
        scored = SCORES if self.drop and self.scores is Texts.PRIVATE else 0.0
        first, second, rest = budget.split([COUNTS, scored, 1 - COUNTS - scored])
        return Spent(first, second if scored else None, self.descents(rest))

    def descents(self, budget: Allowance) -> dict[str, SampledGaussian]:
        """The head, then adapters."""
        if not self.steps:
            return {"head": sampled_gaussian(budget, 1.0, HEAD_STEPS)}
        head, rest = budget.split([self.head, 1 - self.head])
        return {"head": sampled_gaussian(head, 1.0, HEAD_STEPS), "adapters": sampled_gaussian(rest, self.rate, self.steps)}

    def fit(self, vault: Vault, rng: np.random.Generator) -> TextClassifier:
        """Load the public parts, pay for counts, and train."""
        task = Task.of(vault.schema, self.text, self.target, self.NAME)
        pool = public_texts(self.pool, task.text, self.NAME)
        found = checkpoint(self.model, Sort.ENCODER, self.NAME)
        work = Work(task, found, pool, self.spent(vault.paid()), int(rng.integers(2**31)))
        counts = vault.spend(Histogram((task.target,)), work.spent.counts)
        noise = work.spent.counts.deviation(Histogram((task.target,)), vault.schema)
        # A count below its own noise is as good as none, and a mean over no rows would be all noise.
        count = max(float(counts.sum()), noise * math.sqrt(len(counts)), 1.0)
        with network("hushtable.learn.loop", PURPOSE).seeded(work.seed):
            learnt = self.learn(vault, work, counts, count)
        levels = vault.schema[task.target].levels
        multipliers = {name: round(happened.multiplier, 4) for name, happened in work.spent.descents.items()}
        chosen = {
            "layers": learnt.layers, "layers kept": list(learnt.kept), "trained parameters": learnt.parameters,
            "noise multipliers": multipliers, "steps": {name: own.steps for name, own in work.spent.descents.items()},
            "noisy counts": {level: int(number) for level, number in zip(levels, counts, strict=False)},
            "model": found.name, "texts in the pool": len(pool),
        }  # fmt: skip
        return TextClassifier(
            schema=vault.schema.select(task.columns), task=task,
            shape=Shape.of(found, learnt.kept, self.length),
            arrays=learnt.arrays, pool=tuple(pool), chosen=chosen,
        )  # fmt: skip

    def learn(self, vault: Vault, work: Work, counts: Integers, count: float) -> Learnt:
        """Leave out layers, and train the network that is left."""
        layers = self.layers(vault, work, count)
        net, whole = self.network(work, layers, vault.schema), int(work.checkpoint.config["num_hidden_layers"])
        trained = self.train(net, vault, work, shares(counts, len(vault.schema[work.task.target].levels)), count)
        arrays = {f"{OWN}{name}": array for name, array in net.arrays().items()}
        return Learnt(layers or tuple(range(whole)), arrays, trained, whole)

    def layers(self, vault: Vault, work: Work, count: float) -> tuple[int, ...] | None:
        """The layers to keep; None for all."""
        if not self.drop:
            return None
        language = network("hushtable.language.nets", PURPOSE).Language.load(work.checkpoint)
        cosines = partial(network("hushtable.language.layers", PURPOSE).cosines, language, most=self.length)
        if work.spent.scores is None:
            return kept(cosines(work.pool[:SEEN]).mean(0), self.drop, self.rule)
        sums = vault.spend(LayerCosines(work.task.text, cosines), work.spent.scores)
        return kept(means(sums, count), self.drop, self.rule)

    def network(self, work: Work, layers: tuple[int, ...] | None, schema: Schema) -> Any:
        """A network of these layers, its vectors centred by public texts."""
        net = network(NET, PURPOSE).Classifier.of(work.checkpoint, layers, len(schema[work.task.target].levels), self.length)
        net.centre = net.all_pooled(net.tokens(work.pool[:SEEN])).mean(0)
        return net

    def train(self, net: Any, vault: Vault, work: Work, chances: Floats, count: float) -> int:
        """The head on the encoder as it is; then adapters under it. How many numbers were trained."""
        module = network(NET, PURPOSE)
        torch = network("torch", PURPOSE)
        net.head.bias.copy_(torch.from_numpy(np.log(chances)))
        head = [*net.head.requires_grad_(True).parameters()]
        happened = work.spent.descents["head"]
        run = descent(happened, self.clip).start(vault, head, count, "trains the head on clipped gradients")
        tokens, losses = net.tokens(run.table.strings(work.task.text)), module.classes_losses(codes(run.table, work.task))
        gradients = module.head_gradients(net, net.all_pooled(tokens), losses)
        trained = int(sum(own.numel() for own in head))
        noise = happened.multiplier * math.sqrt(trained) / count
        module.descend(run, head, gradients, module.Pace(HEAD_SPEED * min(1, HEAD_NOISE / noise), HEAD_STEPS, adam=False))
        if "adapters" not in work.spent.descents:
            return trained
        net.soften(net.all_pooled(net.tokens(work.pool[:SEEN])))
        net.adapt(self.rank, self.top, module.EVERYWHERE)
        parameters = net.narrow()
        run = descent(work.spent.descents["adapters"], self.clip).start(vault, parameters, count, "trains on clipped gradients")
        gradients = module.text_gradients(net, tokens, losses)
        module.descend(run, parameters, gradients, module.Pace(self.speed, self.steps, report=vault.report))
        return trained + int(sum(own.numel() for own in parameters))


def refuse_large_delta(schema: Schema, budget: Allowance, step: str) -> None:
    """GuaranteeRefused for a delta of one over the *declared* number of rows, or more: the true number is private."""
    if schema.size is not None and budget.whole is not None and budget.whole.delta * schema.size >= 1:
        raise GuaranteeRefused(
            f"step {step!r}: delta = {budget.whole.delta:g} is not below one over the declared number of rows ({schema.size:,}), "
            "so it would allow a random record to be published: take a smaller one"
        )


def descent(happened: SampledGaussian, clip: float) -> Any:
    """The private descent that an event pays for, with gradients of few rows in memory."""
    return replace(network("hushtable.learn.private", PURPOSE).PrivateDescent.of(happened, clip), part=PART)


def codes(table: Table, task: Task) -> Integers:
    """The class of each row, -1 for a missing one."""
    return table[task.target].astype(np.int64)


def shares(counts: Integers, classes: int) -> Floats:
    """Of the classes, by noisy counts: none is as good as impossible."""
    usable = np.maximum(counts[:classes].astype(np.float32), 1.0)
    found: Floats = usable / usable.sum()
    return found
