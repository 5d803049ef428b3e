"""DP-LoRA and TSKD as they were published (Garg 2025, algorithms 12 to 14).

The certified forms are ``classify-text`` and ``distill-text``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hushtable.errors import InputError, PlanError
from hushtable.language.classifier import GENERAL, NET, OWN, PURPOSE, Shape, TextClassifier
from hushtable.language.models import HOW, READ_IN_PUBLIC, Sort, checkpoint
from hushtable.language.pool import HOW as POOL
from hushtable.language.pool import public_texts
from hushtable.language.prune import Rule, kept, spread
from hushtable.language.task import Task
from hushtable.learn import network
from hushtable.pipeline.step import Core, Plan, check_knobs
from hushtable.privacy import accountant
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw, SampledGaussian
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.schema import Schema

_NET, _DISTILL = "hushtable.language.published_net", "hushtable.language.distill_net"
WHY = "the mean gradient of a batch is clipped, not the gradient of each row, and batches are shuffled rows"
DELTA = 1e-5
"""At which the gap of the clipping is put into a number."""
GAPS = (
    "the noise is added to the clipped mean as if one row of b changed it by 1/b of the clip, which only holds where each row's "
    "gradient is clipped",
    "batches are parts of shuffled rows, and are accounted for as if each row were in a batch by a coin of its own",
    "the noise comes from a generator with a seed and is added in floating-point numbers",
    "delta is one over the number of rows, which allows a random record to be published",
)
PRUNED = "which layers are left out is read off the private texts as they are, and leaves with the shape of the network"
SUMMED = "the teacher and the student are each said to have a guarantee of their own, and neither of the two has it"


def swing(sigma: float) -> str:
    """What clipping the mean costs, in the words of a gap."""
    if sigma == 0:
        return "there is no noise at all"
    mu = 2 * math.sqrt(2) / sigma
    return (
        "the mean gradient of a batch is clipped, so that one row can reverse it: that of each factor of the adapters changes by "
        f"up to twice the clip. One pass over the rows is mu = 2 sqrt(2)/sigma = {mu:.3g} (Gaussian differential privacy, one row "
        f"replaced), which is epsilon {accountant.gdp_epsilon(mu, DELTA):.3g} at delta {DELTA:g}, and more passes add up"
    )


@dataclass(frozen=True, kw_only=True)
class PublishedLora(Core):
    """Adapters and a head on a public encoder, with noise on clipped mean gradients as in the publication.

    The publication clips the mean gradients of both factors of the adapters and states the epsilon of DP-SGD, which clips the
    gradient of each row. So epsilon is infinite here, and the gaps are printed. Rank, rate, batch, clip and noise, which it does
    not give, are our choice; both factors at random would start away from the encoder, so one starts at zero. With ``sigma`` 0 and
    a large ``clip`` this is ordinary training: what privacy is compared with.
    """

    NAME: ClassVar[str] = "classify-text-published"
    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "rank": 2, "length": 16}
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
    epochs: int = 3
    """Passes over the rows."""
    batch: int = 64
    """Rows of a step."""
    rank: int = 4
    """Of the adapters."""
    top: int = 3
    """How many of the last layers have adapters; 0 gives them to all."""
    length: int = 64
    """The most tokens of a text that are read."""
    clip: float = 1.0
    """The largest norm of the mean gradient of a batch, of each factor of the adapters."""
    sigma: float = 1.0
    """The noise beside the clip."""
    speed: float = 1e-3
    """Learning rate."""
    drop: int = 0
    """How many layers are left out, by the private texts."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            epochs=(self.epochs >= 1, "must be at least 1"),
            batch=(self.batch >= 1, "must be at least 1"),
            rank=(self.rank >= 1, "must be at least 1"),
            top=(self.top >= 0, "must not be negative"),
            length=(self.length >= 2, "must be at least 2"),
            clip=(self.clip > 0, "must be positive"),
            sigma=(0 <= self.sigma < math.inf, "must not be negative"),
            speed=(0 < self.speed < math.inf, "must be positive"),
            drop=(self.drop >= 0, "must not be negative"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """States the claim, and the gaps in its proof."""
        task = Task.of(schema, self.text, self.target, self.NAME)
        needs = [how for given, how in ((self.model, HOW), (self.pool, POOL)) if not given]
        if needs:
            raise PlanError(f"{self.NAME}: {'; '.join(needs)}")
        gaps = (swing(self.sigma), *GAPS, *((PRUNED,) if self.drop else ()), *self.more())
        return Plan(
            schema=schema.select(task.columns), events=(Raw(WHY),), effect=Effect.GENERATE, caveats=(READ_IN_PUBLIC,),
            public=(f"the texts of {task.text}, which are those of a file that was declared to be public",),
            claims=(Claim(self.claim(schema), gaps),),
        )  # fmt: skip

    def more(self) -> tuple[str, ...]:
        """Further gaps."""
        return ()

    def claim(self, schema: Schema) -> str:
        """The epsilon that an accountant of DP-SGD prints for this noise, where a number of rows is declared."""
        if schema.size is None or self.sigma == 0:
            return "differential privacy with the epsilon of DP-SGD"
        return f"differential privacy with epsilon = {self.printed(schema.size):.3g} at delta = 1/n"

    def printed(self, rows: int) -> float:
        """What an accountant of DP-SGD makes of this noise, batch and number of passes."""
        steps, delta = self.epochs * -(-rows // self.batch), 1 / max(rows, 2)
        event = SampledGaussian(self.sigma, min(1.0, self.batch / rows), steps)
        curve = event.cost().curve
        finite = np.isfinite(curve) & (accountant.ALPHAS > 1)
        return float(np.min(curve[finite] + math.log(1 / delta) / (accountant.ALPHAS[finite] - 1)))

    def fit(self, vault: Vault, rng: np.random.Generator) -> TextClassifier:
        """Open the rows, and train on shuffled batches."""
        task = Task.of(vault.schema, self.text, self.target, self.NAME)
        pool = public_texts(self.pool, task.text, self.NAME)
        found = checkpoint(self.model, Sort.ENCODER, self.NAME)
        table, seed = vault.open(Raw(WHY), WHY), int(rng.integers(2**31))
        if not table.rows:
            raise InputError("a network needs at least one row", where=self.NAME)
        texts, labels = list(table.strings(task.text)), table[task.target].astype(np.int64)
        with network("hushtable.learn.loop", PURPOSE).seeded(seed):
            layers = self._layers(found, texts)
            net = network(NET, PURPOSE).Classifier.of(found, layers, len(vault.schema[task.target].levels), self.length)
            net.centre = net.all_pooled(net.tokens(pool[:512])).mean(0)
            losses = network(NET, PURPOSE).classes_losses(labels)
            self.train(net, texts, losses, seed)
            net, layers, general = self.taught(net, layers, texts, labels, pool, seed)
        arrays = {f"{OWN}{name}": array for name, array in net.arrays().items()} | {GENERAL + n: a for n, a in general.items()}
        whole = int(found.config["num_hidden_layers"])
        chosen = {"layers": whole, "layers kept": list(layers or range(whole)), "model": found.name, "texts in the pool": len(pool)}
        return TextClassifier(
            schema=vault.schema.select(task.columns), task=task,
            shape=Shape.of(found, layers or tuple(range(whole)), self.length),
            arrays=arrays, pool=tuple(pool), chosen=chosen,
        )  # fmt: skip

    def _layers(self, found: Any, texts: list[str | None]) -> tuple[int, ...] | None:
        if not self.drop:
            return None
        language = network("hushtable.language.nets", PURPOSE).Language.load(found)
        scores = network("hushtable.language.layers", PURPOSE).cosines(language, [text or "" for text in texts], self.length)
        return kept(scores.mean(0), self.drop, Rule.PAIRWISE)

    def train(self, net: Any, texts: list[str | None], losses: Any, seed: int) -> None:
        """All passes over the rows."""
        module = network(NET, PURPOSE)
        parameters = net.adapt(self.rank, self.top)
        down = frozenset(id(own) for name, own in net.named_parameters() if name.endswith("down.weight"))
        run = network(_NET, PURPOSE).BatchClipped(
            parameters, down, len(texts), self.batch, self.epochs, self.clip, self.sigma, seed
        )  # fmt: skip
        gradients = module.text_gradients(net, net.tokens(texts), losses)
        module.descend(run, parameters, gradients, module.Pace(self.speed, run.steps))

    def taught(
        self, net: Any, layers: Any, texts: list[str | None], labels: Any, pool: list[str], seed: int
    ) -> tuple[Any, Any, Any]:
        """The network that leaves, its layers, and what public texts taught it: the trained one itself."""
        return net, layers, {}


@dataclass(frozen=True, kw_only=True)
class PublishedDistillation(PublishedLora):
    """TSKD as published: teacher and student are each trained on the rows with noise on clipped mean gradients."""

    NAME: ClassVar[str] = "distill-text-published"
    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "rank": 2, "length": 16, "student": 1, "general": 1}

    student: int = 3
    """Layers of the student."""
    alpha: float = 0.5
    """The weight of the teacher's word, beside that of the labels."""
    temperature: float = 5.0
    """Both logits are divided by it where they are compared."""
    general: int = 3
    """Passes over the pool in which the student learns the encoder's vectors."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(
            self,
            student=(self.student >= 1, "must be at least 1"),
            alpha=(0 <= self.alpha <= 1, "must be between 0 and 1"),
            temperature=(0 < self.temperature < math.inf, "must be positive"),
            general=(self.general >= 0, "must not be negative"),
        )
        super().__post_init__()

    def more(self) -> tuple[str, ...]:
        """That two guarantees are added that do not hold."""
        return (SUMMED,)

    def claim(self, schema: Schema) -> str:
        """The sum of both."""
        if schema.size is None or self.sigma == 0:
            return "differential privacy with the sum of the epsilons and deltas of two runs of DP-SGD"
        return f"differential privacy with epsilon = {2 * self.printed(schema.size):.3g} at delta = 2/n, as a sum of two runs"

    def taught(
        self, net: Any, layers: Any, texts: list[str | None], labels: Any, pool: list[str], seed: int
    ) -> tuple[Any, Any, Any]:
        """The student."""
        public, module = network(_DISTILL, PURPOSE), network(NET, PURPOSE)
        found, whole = net.language.checkpoint, int(net.language.checkpoint.config["num_hidden_layers"])
        own = spread(whole, self.student)
        student = module.Classifier.of(found, own, net.head.out_features, self.length)
        net.requires_grad_(False)
        general = public.general(student, module.Classifier.of(found, None, net.head.out_features, self.length), pool, self.general)
        how = public.How(self.temperature, self.temperature**2, 1)
        public.begin(student, net, pool, how)
        losses = public.mixed_losses(net, student.tokens(texts), labels, self.alpha, how)
        self.train(student, texts, losses, seed + 1)
        return student, own, general
