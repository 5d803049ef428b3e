"""What is asked of a step that spends privacy budget, and of what every proof rests on: sensitivity and stability.

They find slips, not malice: a query states its own sensitivity, and rows that are opened with any event but ``Raw`` are
taken at its word. Both are for reviewed code.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace

import numpy as np

from hushtable.checks.fitting import BUDGET, allowance, fit, locked, plain, suited, unit
from hushtable.checks.tables import observed
from hushtable.checks.verdict import Checks
from hushtable.encode.bins import Bins
from hushtable.errors import GuaranteeRefused, PlanError
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.step import Coder, Core, Model, Step
from hushtable.privacy.allowance import Allowance, Noise
from hushtable.privacy.event import private
from hushtable.privacy.query import Query, Scores
from hushtable.privacy.unit import Budget, Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Margins
from hushtable.table.arrays import Integers
from hushtable.table.table import Table

BUDGETS = (BUDGET, Budget(0.1, 1e-9), Budget(1.0, 0.0))
"""Ordinary, small, and pure."""


def checks(step: Step) -> Checks:
    """The checks for a step that spends."""
    asked: Checks = [
        ("never reads raw rows, and stays within its budget, large, small or pure", lambda: _pays(step)),
        ("refuses a domain that was read off the rows", lambda: _refuses_observed(step)),
        ("asks only questions whose answer one row changes as little as they say", lambda: _sensitivity(step)),
    ]
    if isinstance(step, Core):
        asked.append(("its model depends on the rows through the noise alone", lambda: _noisy(step)))
    return asked


def stability(step: Coder) -> str:
    """Leave out some rows, one at a time, and count the encoded rows that change."""
    table = plain(step)
    planned = step.plan(table.schema, allowance(step)).stability
    code, _ = fit(step, table)
    declared = getattr(code, "stability", None)
    if not isinstance(declared, int) or declared < 1:
        return "the code has no stability: how many encoded rows can one row change?"
    if planned != declared:
        return f"the plan says {planned}, the code {declared}"
    whole = _multiset(code.apply(table))  # type: ignore[union-attr]
    worst = 0
    for without in _one_less(table):
        less = _multiset(code.apply(without))  # type: ignore[union-attr]
        worst = max(worst, (whole - less).total(), (less - whole).total())
    return f"one row less changes {worst} encoded rows, its stability says {declared}" if worst > declared else ""


def _multiset(table: Table) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(table.strings(name).tolist() for name in table.schema.names), strict=True))


def _one_less(table: Table) -> list[Table]:
    return [table.take(np.delete(np.arange(table.rows), row)) for row in range(0, table.rows, 10)]


def _one_other(table: Table) -> list[Table]:
    places = np.arange(table.rows)
    return [table.take(np.where(places == row, (row + table.rows // 2) % table.rows, places)) for row in range(0, table.rows, 10)]


def _pays(step: Step) -> str:
    for budget in BUDGETS:
        vault = locked(step, suited(step), budget=budget)
        assert isinstance(step, (Coder, Core))
        try:
            step.fit(vault, np.random.default_rng(1))
        except GuaranteeRefused:
            if budget.delta:
                raise
            continue  # without a delta there are promises that nobody can keep: to say so is right
        if vault.ledger.culprits:
            return f"opened raw rows: {vault.ledger.culprits[0].why}"
        if not any(private(e.event) for e in vault.ledger.entries):
            return "spends nothing"
        if not vault.ledger.within(budget):
            return f"spent epsilon {vault.ledger.epsilon(budget.delta):.3g} of {budget.epsilon:g}"
    return ""


def _refuses_observed(step: Step) -> str:
    seen = observed(plain(step).schema)
    if step.learns_domains:
        code, _ = fit(step, suited(step))
        return "" if not code.schema.undeclared else "what it learnt is still marked as read off the rows"
    for steps in ((step,), (Bins(), step), (Bins(), Margins(), step)):
        try:
            plan(Recipe(recipe="checked", steps=steps), seen, budget=BUDGET, unit=unit(step))
        except GuaranteeRefused:
            return ""
        except PlanError:
            continue
    return "an observed domain is accepted"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Listening(Vault):
    """A vault that remembers what it was asked. Vaults made of it share its memory."""

    asked: list[tuple[Query, Table]] = field(default_factory=list)
    judged: list[tuple[Scores, Table]] = field(default_factory=list)

    def measure(self, query: Query, scale: float, noise: Noise = Noise.GAUSSIAN) -> Integers:
        """Remember, then measure."""
        self.asked.append((query, self._table.whole("a listener")))
        return super().measure(query, scale, noise)

    def choose(self, scores: Scores, allowance: Allowance) -> int:
        """Remember, then choose."""
        self.judged.append((scores, self._table.whole("a listener")))
        return super().choose(scores, allowance)

    def choose_each(self, scores: Scores, allowance: Allowance) -> Integers:
        """Remember, then choose."""
        self.judged.append((scores, self._table.whole("a listener")))
        return super().choose_each(scores, allowance)


def _sensitivity(step: Step) -> str:
    table = suited(step)
    vault = locked(step, table)
    listening = _Listening(**{f.name: getattr(vault, f.name) for f in fields(vault)})
    if vault.origin is not None:
        behind = {f.name: getattr(vault.origin, f.name) for f in fields(vault.origin)}
        listening = replace(listening, origin=_Listening(**behind, asked=listening.asked, judged=listening.judged))
    assert isinstance(step, (Coder, Core))
    step.fit(listening, np.random.default_rng(1))
    relation = unit(step).relation
    everything: list[tuple[Query | Scores, Table]] = [*listening.asked, *listening.judged]
    for question, asked in everything:
        table, _ = _small(asked, relation)
        size = float(np.abs(question.answer(table).astype(np.float64)).max(initial=0.0))
        largest = question.largest(table.schema, table.rows)
        if size > largest:
            name = type(question).__name__
            return f"{name}: its answer has {size:g}, and it says that {largest:g} is the largest for such a table"
    for query, asked in listening.asked:
        table, neighbours = _small(asked, relation)
        # The difference of two integers that wrapped around would be right again.
        whole = query.answer(table).astype(np.float64)
        most = max(float(np.abs(whole - query.answer(neighbour)).sum()) for neighbour in neighbours)
        stated = float(query.sensitivity(table.schema, relation)[0])
        if most > stated:
            return f"{type(query).__name__}: one row changes the answer by {most:g}, its sensitivity says {stated:g}"
    for scores, asked in listening.judged:
        table, neighbours = _small(asked, relation)
        scored = scores.answer(table)
        # Parts by candidates, or candidates alone: what counts is the largest change of each part, added up.
        change = max(
            int(np.atleast_2d(np.abs(scored - scores.answer(neighbour))).max(axis=-1, initial=0).sum()) for neighbour in neighbours
        )
        if change > scores.change(table.schema, relation):
            stated = scores.change(table.schema, relation)
            return f"{type(scores).__name__}: one row changes a score by {change}, it says {stated}"
    return ""


def _small(table: Table, relation: Relation) -> tuple[Table, list[Table]]:
    """Some of the rows, and their neighbours: a sensitivity holds for every table, so for a small one."""
    table = table.take(np.arange(min(table.rows, 120)))
    return table, _one_less(table) if relation is Relation.ADD_REMOVE else _one_other(table)


def _noisy(step: Core) -> str:
    table = suited(step)
    models = []
    for seed in (1, 2):
        model = step.fit(locked(step, table, seed), np.random.default_rng(1))
        assert isinstance(model, Model)
        values, arrays = model.parts()
        models.append((values, {name: np.asarray(array).tolist() for name, array in arrays.items()}))
    return "with other noise the model is the same: the rows reached it without any" if models[0] == models[1] else ""
