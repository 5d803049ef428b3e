"""PrivBayes as published: a network chosen by the exponential mechanism, and Laplace noise on its joint tables."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.accountant import zcdp_rho
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event, Exponential
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Total
from hushtable.privacy.rows import public_rows
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import noise_note, require_counted, sizes_of
from hushtable.synthesize.network import structure
from hushtable.synthesize.network.scores import Decision, Departure, Information, Pair
from hushtable.synthesize.network.tables import Network, Node, clipped
from hushtable.table.arrays import Floats
from hushtable.table.schema import Schema
from hushtable.table.table import CELL_LIMIT, histogram_sizes


class Score(StrEnum):
    """What parents are chosen by."""

    I = "I"  # noqa: E741 - the paper's name
    R = "R"
    F = "F"


SCORES = {Score.I: Information, Score.R: Departure, Score.F: Decision}


@dataclass(frozen=True, kw_only=True)
class PrivBayesPublished(PrivateCore):
    """PrivBayes: a Bayesian network chosen privately, its joint tables with Laplace noise, rows drawn column by column.

    A first column is drawn by public coins. Then, d - 1 times, the exponential mechanism with epsilon1/(d - 1) picks a column
    and its parents among those already there, by I, R or F (``scores.py`` says how much one record changes each). With a
    fixed degree k, the d - k largest joint tables get Laplace noise of scale 2 (d - k)/epsilon2 on their counts, and the first k
    columns come from the first of them; by theta-usefulness, parents are the largest sets whose table has at most
    n epsilon2/(2 d theta) cells, and d tables get noise of scale 2 d/epsilon2. Negative counts become zero. Pure epsilon =
    epsilon1 + epsilon2 for one record replaced by another, the number of rows being public; a delta is not used.
    Zhang, Cormode, Procopiuc, Srivastava and Xiao, ACM TODS 2017. Its taxonomies of values are left out.
    """

    degree: int = 0
    """The number of parents of a column; 0: as many as theta allows."""
    theta: float = 4.0
    """How much larger than the noise the average count of a table must be, where the degree is 0."""
    score: Score = Score.R
    """I (mutual information), R (distance to independence), or F (for tables in which every column has two cells)."""
    beta: float = 0.3
    """The part of epsilon that the choice of the network gets."""

    def __post_init__(self) -> None:
        """Ranges."""
        check_knobs(
            self,
            degree=(0 <= self.degree <= 5, "must lie between 1 and 5, or be 0 to follow from theta"),
            theta=(0 < self.theta < math.inf, "must be positive"),
            beta=(0 < self.beta < 1, "must lie in (0, 1)"),
        )

    @property
    def relation(self) -> Relation:
        """The relation it is proven for."""
        return Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, tables too large to be, and F where a column has more than two cells."""
        require_counted(schema, "privbayes-published")
        sizes = sizes_of(schema)
        many = [name for name, size in sizes.items() if size > 2]
        if self.score is Score.F and many:
            raise PlanError(
                f"privbayes-published: the score F is for columns of two cells (missing is a cell unless the column is required), "
                f"and {', '.join(many)} has more; use R or I"
            )
        largest = sorted(sizes, key=lambda name: -sizes[name])[: self.degree + 1]
        if math.prod(float(sizes[name]) for name in largest) > CELL_LIMIT:
            raise PlanError(
                f"privbayes-published: a joint table of {', '.join(largest)} is too large; put a 'bins' step with fewer bins "
                "before it, or ask for a smaller degree"
            )
        events: tuple[Event, ...] = ()
        if budget is not None:
            _require_public_rows(budget)
            choosing, counting = self._parts(budget, len(schema))
            one = Histogram(schema.names[:1])
            events = (pure(budget).event(Total(), schema), *(Exponential(part.choice) for part in choosing))
            events += tuple(part.event(one, schema) for part in counting)
        caveats = ["pure epsilon is spent: it holds with delta = 0, and a delta in the budget buys nothing"]
        if len(schema) > structure.FEW:
            caveats.append(f"parents are chosen among at most {structure.LIMIT} candidates at a time, drawn at random")
        return Plan(schema=schema, events=events, effect=Effect.GENERATE, reads=Reads.COUNTS, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Network:
        """Choose the network, measure its tables."""
        schema, allowance = vault.schema, vault.paid()
        _require_public_rows(allowance)
        rows = public_rows(vault, pure(allowance))
        if rows < 1:
            raise InputError("a network needs at least one row", where="privbayes-published")
        choosing, counting = self._parts(allowance, len(schema))
        sizes = sizes_of(schema)
        # The most cells of a table that is theta-useful: n epsilon2 / (2 d theta).
        room = rows * float(counting[0].epsilon or 0.0) / (2 * self.theta)
        inside = [schema.names[int(rng.integers(len(schema)))]]
        pairs: list[Pair] = [(inside[0], ())]
        for number, part in enumerate(choosing, 1):
            outside = [name for name in schema.names if name not in inside]
            if self.degree:
                candidates = structure.of_degree(inside, outside, self.degree, rng)
            else:
                candidates = structure.within(sizes, inside, outside, room, rng)
            pair = candidates[vault.choose(SCORES[self.score](candidates, rows), part)]
            pairs.append(pair)
            inside.append(pair[0])
            vault.report(0.8 * number / len(choosing))
        nodes = self._nodes(vault, pairs, counting)
        return Network(schema, nodes, rows, self._summary(vault, rows, room, counting[0]))

    def _nodes(self, vault: Vault, pairs: list[Pair], counting: list[Allowance]) -> tuple[Node, ...]:
        """A noisy table for each pair but the first k, which are margins of the table after them."""
        derived = len(pairs) - len(counting)
        tables: list[Floats] = []
        for (child, parents), part in zip(pairs[derived:], counting, strict=True):
            columns = (*parents, child)
            counts = vault.spend(Histogram(columns), part).astype(np.float64)
            tables.append(np.maximum(counts, 0.0).reshape(histogram_sizes(vault.schema, columns)))
        # The first k columns are the parents of the next one, which has all of them: in the order of the schema of its table.
        whole, axes = tables[0], pairs[derived][1]
        for child, parents in reversed(pairs[:derived]):
            keep = [axes.index(name) for name in (*parents, child)]
            gone = tuple(i for i in range(whole.ndim) if i not in keep)
            margin = whole.sum(axis=gone)
            tables.insert(0, np.transpose(margin, np.argsort(np.argsort(keep))))
        return tuple(
            Node(child, parents, table.shape[:-1], clipped(table.reshape(-1, table.shape[-1])))
            for (child, parents), table in zip(pairs, tables, strict=True)
        )

    def _parts(self, allowance: Allowance, columns: int) -> tuple[list[Allowance], list[Allowance]]:
        """What each choice and each table may spend."""
        tables = columns - min(self.degree, columns - 1)
        if columns == 1:
            return [], pure(allowance).split([1.0])
        choosing, counting = pure(allowance).split([self.beta, 1 - self.beta])
        return choosing.split([1.0] * (columns - 1)), counting.split([1.0] * tables)

    def _summary(self, vault: Vault, rows: int, room: float, part: Allowance) -> dict[str, Any]:
        noise = part.scale(Histogram(vault.schema.names[:1]), vault.schema)
        summary: dict[str, Any] = {"score": str(self.score), "noise_scale": round(noise, 3)}
        if not self.degree:
            summary["cells"] = max(1, math.floor(room))
        return summary | noise_note(sizes_of(vault.schema), math.sqrt(2) * noise, rows)


def pure(allowance: Allowance) -> Allowance:
    """The allowance as a pure epsilon.

    One that is the whole budget may spend its epsilon outright. A part of one that others share was cut in rho, and a
    pure epsilon costs rho = epsilon^2/2.
    """
    if allowance.rho is None:
        return allowance
    budget = allowance.budget
    whole = budget is not None and allowance.rho <= zcdp_rho(budget.epsilon, budget.delta) * (1 + 1e-6)
    epsilon = budget.epsilon if budget is not None and whole else math.sqrt(2 * allowance.rho)
    return replace(allowance, rho=None, epsilon=epsilon, budget=None)


def _require_public_rows(allowance: Allowance) -> None:
    if not allowance.unit.fixes_rows:
        raise GuaranteeRefused(
            "privbayes-published: its scores are proven for a public number of rows; ask for it with --relation replace_one and "
            "one row per person, or take 'privbayes'"
        )
