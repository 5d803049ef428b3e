"""A generative adversarial network: a generator learns to draw rows that a critic cannot distinguish from real ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from hushtable.encode.layout import Layout, require_drawable
from hushtable.errors import InputError
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Core, Given, Plan, check_knobs, given_arrays, numbered
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.gan.constraints import Constraint, kept, read_constraints
from hushtable.synthesize.refined import Refined, refined
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "both networks are trained on the rows"
_PURPOSE = "a GAN"
_TRAINING = "hushtable.synthesize.neural.gan.training"
MOST = 200_000
"""Rows drawn at a time where rows are to be found that have what is given."""
EXCESS = 200
"""Rows drawn for each that is wanted, at most, where a condition is met by trying again."""


class Loss(StrEnum):
    """What the critic maximizes."""

    WGAN_GP = "wgan-gp"
    WGAN_CLIP = "wgan-clip"
    BCE = "bce"


class Condition(StrEnum):
    """What both networks are given."""

    NONE = "none"
    LEVEL = "level"
    NETWORK = "network"


class Net(StrEnum):
    """The shape of both networks."""

    CONCATENATING = "concatenating"
    DENSE = "dense"
    CONVOLUTION = "convolution"


PENALTIES = ("constraints", "correlation", "identifiability")


@dataclass(frozen=True, kw_only=True)
class Gan(Core):
    """A generator and a critic that take turns; the draws of the generator are then refined. Promises nothing.

    Numbers are scaled into [-1, 1], levels drawn by Gumbel softmax. Goodfellow et al. 2014; Arjovsky et al. 2017 (Wasserstein);
    Xu et al. 2019 (CTGAN: the level condition). The networks learn from every row as it is: what they reveal is measured, not
    bounded. Training stops when drawn rows come no nearer to rows that were held out, and keeps the weights that were best.
    Beyond the publications, the generator starts from the margins of the rows, its weights are averaged over its steps, and a
    number that is missing, or in a mode without width, is not left to it. Draws are judged by margins of one and two columns.
    """

    quick: ClassVar[Mapping[str, object]] = {"epochs": 1, "width": 4, "noise": 4, "layers": 1, "batch": 64, "refine": 0}
    extra: ClassVar[str] = "neural"

    loss: Loss = Loss.WGAN_GP
    """wgan-gp: Wasserstein distance with a penalty on the critic's slope; wgan-clip: with small weights; bce: cross-entropy."""
    condition: Condition = Condition.NONE
    """What both networks are given beside noise and rows: none; or a level of one category, drawn by log-frequency, so that
    rare ones are learnt too, while draws follow the true frequencies; or network, the columns that others depend on in a Bayesian
    network found by hill climbing (BIC), which in drawing come from its own tables."""
    penalties: tuple[str, ...] = ()
    """What the generator pays for, each with its weight: ``constraints=10``, that rows break what ``constraints`` say;
    ``correlation=10``, the difference of the correlation matrices; ``identifiability=0.1``, that real rows have a drawn row nearer
    than any other real one."""
    constraints: tuple[str, ...] = ()
    """Public knowledge about rows, such as ``age in 0..120``, ``months >= 0`` or ``cigarettes = 0 if smoke = NO``. Drawn numbers
    that break one are moved to the nearest value that does not, other rows are drawn again."""
    net: Net = Net.CONCATENATING
    """concatenating: layers pass on their inputs; dense: leaky layers; convolution: along the row, as for images."""
    layers: int = 2
    """Of each network."""
    width: int = 256
    """Of each layer; the channels of convolutions."""
    noise: int = 128
    """Random numbers from which a row is made."""
    pac: int = 1
    """Rows that the critic sees at once: a generator that repeats itself is found out."""
    dropout: float = 0.0
    """Part of each layer of the critic that is left out at a step; published networks have 0.5, and learn more slowly by it."""
    rate: float = 2e-4
    """Learning rate of both networks."""
    beta1: float = 0.5
    """How much of the last steps' direction is kept (Adam)."""
    beta2: float = 0.9
    """How much of the last steps' squared gradients is kept (Adam)."""
    decay: float = 1e-6
    """Of the generator's weights."""
    epochs: int = 60
    """Times that the rows are gone through, at most."""
    batch: int = 500
    """Rows a step, at most; of a small table a twentieth, but at least 32."""
    critic_steps: int = 1
    """Steps of the critic for one of the generator."""
    clip: float = 0.01
    """The largest weight of a critic under wgan-clip."""
    every: int = 5
    """Epochs from one judgement on held-out rows to the next."""
    patience: int = 8
    """Judgements without a better one before training stops."""
    refine: int = 3
    """Rounds of refinement: boosted trees learn where rows are more common than draws, which are weighted by it, raked to the
    columns' counts and thinned; 0 leaves them as drawn."""

    def __post_init__(self) -> None:
        """Positive sizes, known penalties."""
        checks = {
            name: (getattr(self, name) >= 1, "must be at least 1")
            for name in ("layers", "width", "noise", "pac", "epochs", "batch", "critic_steps", "every", "patience")
        }
        odd = [item for item in self.penalties if item.partition("=")[0].strip() not in PENALTIES]
        check_knobs(
            self,
            **checks,
            penalties=(not odd, f"must read name=weight with name one of {', '.join(PENALTIES)}"),
            dropout=(0 <= self.dropout < 1, "must be from 0 on and below 1"),
            rate=(0 < self.rate < math.inf, "must be positive and finite"),
            beta1=(0 <= self.beta1 < 1, "must be from 0 on and below 1"),
            beta2=(0 <= self.beta2 < 1, "must be from 0 on and below 1"),
            decay=(0 <= self.decay < math.inf, "must be finite and not negative"),
            clip=(0 < self.clip < math.inf, "must be positive and finite"),
            refine=(self.refine >= 0, "must not be negative"),
        )
        numbered(self, "penalties")

    @property
    def vector_epsilon(self) -> float | None:
        """What a network's vectors have noise for; None: they have none."""
        return None

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns of free text, and constraints that cannot be read or kept."""
        require_drawable(schema, "gan")
        public = tuple(f"that for every record {one.text}" for one in read_constraints(self.constraints, schema, "gan"))
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.GENERATE, public=public)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Adversarial | Refined:
        """Train both networks, then learn to weigh what the generator draws."""
        table = vault.open(Raw(_WHY), _WHY)
        if not table.rows:
            raise InputError("a network needs at least one row", where="gan")
        constraints = read_constraints(self.constraints, table.schema, "gan")
        training = 0.8 if self.refine else 1.0
        learnt = network(_TRAINING, _PURPOSE).train(
            self, table, constraints, int(rng.integers(2**31)), lambda share: vault.report(training * share), work=vault.work
        )
        model = Adversarial(**learnt, constraints=constraints, rows=table.rows)
        if not self.refine:
            return model
        return refined(model, table, self.refine, rng, lambda share: vault.report(training + (1 - training) * share))


@dataclass(frozen=True, eq=False)
class Adversarial:
    """A trained generator."""

    layout: Layout
    shape: dict[str, Any]
    """The sizes of the networks."""
    closed: tuple[int, ...]
    """Levels under which the number beside them does not vary, as places of the wires."""
    condition: str
    arrays: Arrays = field(repr=False)
    """Of the condition."""
    weights: Arrays = field(repr=False)
    curve: dict[str, Any]
    """The critic's loss by epoch, and how far drawn rows were from held-out ones."""
    constraints: tuple[Constraint, ...]
    rows: int

    @property
    def schema(self) -> Schema:
        """Of the tables that it draws."""
        return self.layout.schema

    @cached_property
    def _drawing(self) -> Any:
        """What draws rows; PyTorch is needed from here on."""
        training = network(_TRAINING, _PURPOSE)
        return training.Drawing(self.layout, self.closed, self.shape, self.condition, self.arrays, self.weights)

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, by default as many as it was trained on.

        A given level of a category is the condition, if the network takes one; rows that have not what is given are drawn again.
        """
        rows = self.rows if n is None else n
        wanted = {name: array[0] for name, array in given_arrays(self.schema, given, 1).items()}
        table = self._constrained(rows, rng, wanted)
        if not wanted or not rows:
            return table
        parts, drawn, found = [], 0, 0
        while found < rows and drawn < EXCESS * rows:
            if drawn:
                # As many as are likely to be enough, by what was found so far.
                likely = math.ceil(1.2 * (rows - found) * drawn / max(found, 1)) + 10
                table = self._constrained(min(likely, EXCESS * rows - drawn, MOST), rng, wanted)
            drawn += table.rows
            parts.append(table.take(np.logical_and.reduce([table[name] == value for name, value in wanted.items()])))
            found += parts[-1].rows
        if found < rows:
            what = ", ".join(f"{name} {text}" for name, text in (given or {}).items())
            reason = f"of {drawn:,} drawn rows {found:,} ({found / drawn:.2%}) have {what}, where {rows:,} are wanted"
            raise InputError(f"{reason}: give fewer columns, or filter a larger sample", where="given")
        return Table.concat(parts).take(np.arange(rows))

    def _constrained(self, rows: int, rng: np.random.Generator, wanted: Mapping[str, Any]) -> Table:
        """Rows that keep the constraints."""
        table = self._drawn(rows, rng, wanted)
        if not self.constraints:
            return table
        table, redrawn = kept(table, self.constraints, lambda more: self._drawn(more, rng, wanted))
        if table.rows < rows:
            found = f"of {redrawn['drawn']:,} drawn rows only {table.rows:,} keep the constraints, where {rows:,} are wanted"
            raise InputError(found, where="constraints")
        return table

    def _drawn(self, rows: int, rng: np.random.Generator, wanted: Mapping[str, Any]) -> Table:
        spans = enumerate(self.layout.spans)
        levels = {at: int(wanted[one.column.name]) for at, one in spans if one.column.name in wanted and not one.column.numeric}
        seed = int(rng.integers(2**31))
        table: Table = self.layout.decode(self._drawing.rows(rows, seed, levels))
        return table

    def result(self) -> dict[str, Any]:
        """The training curve, and the network that conditions are from.

        Held-out rows are judged by how far drawn ones are from them, the others by the critic.
        """
        training = {**self.curve, "judged": "distance of drawn rows from held-out ones"}
        if "edges" not in self.arrays:
            return {"training": training}
        names, parents = self.schema.names, dict[str, list[str]]()
        for parent, child in self.arrays["edges"].tolist():
            parents.setdefault(names[child], []).append(names[parent])
        return {"training": training, "parents": parents}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Weights, and counts of levels where they are the condition; no row."""
        arrays = {f"weight/{name}": array for name, array in self.weights.items()}
        arrays |= {f"condition/{name}": array for name, array in self.arrays.items()}
        texts = [constraint.text for constraint in self.constraints]
        values = {"layout": self.layout.parts(), "shape": self.shape, "closed": self.closed}
        return values | {"condition": self.condition, "curve": self.curve, "constraints": texts, "rows": self.rows}, arrays

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""

        def under(prefix: str) -> Arrays:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        layout = Layout.from_parts(values["layout"])
        constraints = read_constraints(values["constraints"], layout.schema, "gan")
        own = values["shape"], tuple(values["closed"]), str(values["condition"]), under("condition/"), under("weight/")
        return cls(layout, *own, values["curve"], constraints, int(values["rows"]))
