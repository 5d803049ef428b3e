"""A vine copula with a complete proof: noisy margins, a noisy choice of the tree, pair copulas from noisy tables or noisy tau."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr

from hushtable.numerics.concordance import pairs_fit
from hushtable.numerics.simplex import present
from hushtable.pipeline.step import Model, Plan, PrivateCore, Reads, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.concordance import Concordance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram, Query
from hushtable.privacy.rows import public_rows, require_fixed_rows, rows_event
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.correlation import from_pairs
from hushtable.synthesize.copula.margins import Margin, nominal, total_of
from hushtable.synthesize.copula.part_margins import calm, class_column, class_counts
from hushtable.synthesize.copula.vine import Steps, VineModel
from hushtable.synthesize.copula.vine_classes import Classes, fit_classes
from hushtable.synthesize.copula.vine_families import Family
from hushtable.synthesize.copula.vine_fit import fit_vine
from hushtable.synthesize.copula.vine_pairs import NONE, inverted_edge, measured_edge, strength_of
from hushtable.synthesize.copula.vine_tables import (
    Dependences,
    PairCounts,
    chance,
    group_shares,
    groups,
    independent,
    spanning_tree,
)
from hushtable.synthesize.copula.vine_tree import TreeModel, raised
from hushtable.synthesize.histogram_cells import noise_note, require_counted, sizes_of, usable_total, values_of, with_notes
from hushtable.table.arrays import Floats
from hushtable.table.columns import Role
from hushtable.table.schema import Schema

COARSE = 10
"""Groups of a column when the tree is chosen: enough to see a dependence, few enough that chance adds little."""
LOST = 0.02
"""A pair with a weaker dependence than this, once the noise is taken off, is practically independent."""
WRONG = 0.05
"""There are two trees where the noise puts at most this share of the rows into wrong cells of a margin."""
DRAWN = 10_000
"""Rows drawn from a private Gaussian copula to fit further trees to."""


class Structure(StrEnum):
    """What the tree is chosen by."""

    DEPENDENCE = "dependence"
    TAU = "tau"


class Pairs(StrEnum):
    """What pair copulas are estimated from."""

    TABLES = "tables"
    TAU = "tau"


@dataclass(frozen=True, kw_only=True)
class Vine(PrivateCore):
    """A vine copula from noisy answers alone: differential privacy, every query paid for.

    First a noisy histogram of each column. Then one noisy vector with a number for each pair of columns: how far the pair is
    from independence (``Dependences``) or Kendall's tau-a (``Concordance``, for one record replaced by another); the maximum
    spanning tree of it is free. Then for each of its d - 1 edges a noisy table of the two columns, in groups chosen by the noisy
    margins, made into a checkerboard copula with exactly these margins; or a family of one parameter at which the noisy tau is
    what is expected. Costs add up: rho = rho(margins) + rho(tree) + rho(tables). All else is post-processing.
    Where the budget allows it the vine has two trees: the first joins the target with every other column, the second joins pairs of
    these in each class, by their dependence given the class. Margins, distances and tables are then those of the classes; a record
    lies in one class, so the queries cost no more, and the plan does not depend on the choice. Otherwise the vine is cut after
    the first tree: each column depends directly on its neighbours on it. (Further trees cannot be fitted to rows drawn from such
    a model, where the columns are independent given the tree; the noisy tau of all pairs can.)
    Gambs, Ladouceur, Laurent and Roy-Gaumond 2021 for the model, Chow and Liu 1968 for the tree.
    """

    structure: Structure = Structure.DEPENDENCE
    """dependence: the distance of a pair's counts from those of independent columns; tau: the size of Kendall's tau-a."""
    pairs: Pairs = Pairs.TABLES
    """tables: a noisy table for each edge; tau: a family with one parameter, from the tau that the tree was chosen by."""
    family: Family = Family.FRANK
    """The pair copula where pairs are estimated from tau: frank or gaussian."""
    trees: int = 1
    """How many trees; more than one where pairs are tau and gaussian, and then partial correlations of the same noisy tau."""
    classes: str = ""
    """The column that all others are joined with in a first tree, so that a second tree joins pairs of them in each class; when
    empty, the target if it has at most 8 cells and the noise is small beside the rows of a class; "-": one tree."""
    focus: float = 2.0
    """How much more a pair counts in the choice of the tree if a target of the schema is in it; 1 treats all alike.
    It applies to one tree only, and does not depend on the rows."""
    margins: float = 0.25
    """The share of its budget for the histograms."""
    tree: float = 0.15
    """The share for the choice of the tree; what is left is for the tables, and where there are none for the tree too."""

    def __post_init__(self) -> None:
        """Shares that leave something; tau that was measured."""
        by_tau = self.pairs is Pairs.TAU
        check_knobs(
            self,
            structure=(not by_tau or self.structure is Structure.TAU, "must be tau where pairs are tau"),
            trees=(
                self.trees == 1 or (self.trees > 1 and by_tau and self.family is Family.GAUSSIAN),
                "must be 1, or more where pairs are tau and the family is gaussian",
            ),
            focus=(0 < self.focus < math.inf, "must be positive"),
            margins=(0 < self.margins < 1, "must lie between 0 and 1"),
            tree=(self.tree > 0 and self.margins + self.tree < 1, "must be positive, and below 1 together with margins"),
        )

    @property
    def relation(self) -> Relation:
        """Tau-a is proven for one record replaced by another only."""
        return Relation.REPLACE_ONE if self.structure is Structure.TAU else Relation.ADD_REMOVE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that cannot be counted, and for tau any other relation than one record replaced by another."""
        require_counted(schema, "vine")
        given = self._class_column(schema)
        caveats = ["columns depend on one another along a tree: each depends directly on few others"]
        unordered = [c.name for c in schema if nominal(c)] if self.structure is Structure.TAU else []
        if unordered:
            caveats.append(f"tau reads the levels in their declared order, which means nothing for {', '.join(unordered)}")
        # With classes one table fewer is needed.
        return Plan(
            schema=schema,
            events=self._events(schema, budget),
            adaptive=bool(given),
            slots=bool(given),
            effect=Effect.GENERATE,
            caveats=tuple(caveats),
            reads=Reads.MEMORY if self.structure is Structure.TAU and not pairs_fit(schema) else Reads.COUNTS,
        )

    def _events(self, schema: Schema, budget: Allowance | None) -> tuple[Event, ...]:
        if budget is None:
            return ()
        if self.structure is Structure.TAU:
            require_fixed_rows("vine", budget)
        of_margins, of_tree, of_tables = self._parts(budget, len(schema))
        events = list(rows_event(budget, schema))
        events += [part.event(Histogram((c.name,)), schema) for c, part in zip(schema, of_margins, strict=True)]
        if of_tree is not None:
            # The price does not depend on how coarse the groups are, nor on the number of rows.
            one = np.zeros(1, np.int64)
            count = len(schema)
            query: Query = Dependences(schema.names, (one,) * count, (one,) * (count * (count - 1) // 2))
            if self.structure is Structure.TAU:
                query = Concordance(schema.names, 2)
            events.append(of_tree.event(query, schema))
            events += [part.event(PairCounts(schema.names[:2], NONE), schema) for part in of_tables]
        return tuple(events)

    def _parts(self, allowance: Allowance, columns: int) -> tuple[list[Allowance], Allowance | None, list[Allowance]]:
        """For the margins, the tree and the tables."""
        if columns == 1:
            return [allowance], None, []
        left = 1 - self.margins - self.tree
        if self.pairs is Pairs.TAU:
            *first, tree = allowance.split([self.margins / columns] * columns + [1 - self.margins])
            return first, tree, []
        edges = columns - 1
        split = allowance.split([self.margins / columns] * columns + [self.tree] + [left / edges] * edges)
        return split[:columns], split[columns], split[columns + 1 :]

    def fit(self, vault: Vault, rng: np.random.Generator) -> Model:
        """Margins, tree, pairs; ``rng`` draws only from what is private already."""
        schema, allowance = vault.schema, vault.paid()
        if self.structure is Structure.TAU:
            require_fixed_rows("vine", allowance)
        rows = public_rows(vault, allowance) if allowance.unit.fixes_rows else None
        of_margins, of_tree, of_tables = self._parts(allowance, len(schema))
        given, known = self._class_column(schema), {}
        if given:
            query, place = Histogram((given,)), schema.names.index(given)
            known[given], sigma = vault.spend(query, of_margins[place]), of_margins[place].deviation(query, schema)
            counts = class_counts(schema[given], known[given], sigma, rows)
            if of_tree is not None and (self.classes or calm(schema, given, counts, sigma, WRONG)):
                others = {n: part for n, part in zip(schema.names, of_margins, strict=True) if n != given}
                return self._by_class(vault, Classes(given, counts, COARSE), others, of_tree, of_tables)
        noisy = [
            known[c.name] if c.name in known else vault.spend(Histogram((c.name,)), part)
            for c, part in zip(schema, of_margins, strict=True)
        ]
        scales = [part.scale(Histogram((c.name,)), schema) for c, part in zip(schema, of_margins, strict=True)]
        noise = [part.deviation(Histogram((c.name,)), schema) for c, part in zip(schema, of_margins, strict=True)]
        if rows is None:
            apart = sum(1 / (len(c) * s**2) for c, s in zip(noisy, noise, strict=True)) ** -0.5
            total = usable_total(total_of(noisy, scales), apart)
        else:
            total = max(float(rows), 2.0)
        settled = [present(*each) for each in zip(schema, noisy, noise, strict=True)]
        shares = [raised(Margin.of(counts, total).shares) for counts in settled]
        vault.report(0.3)
        summary: dict[str, Any] = {"noise_scale": round(float(np.mean(scales)), 3)}
        if of_tree is None:
            return TreeModel(schema, tuple(shares), (), round(total), summary | _note(schema, noise, total, []))
        weights, taus = self._weights(vault, of_tree, shares, total, rows or 0)
        vault.report(0.6)
        if self.trees > 1:
            return self._further(schema, shares, taus, round(total), summary | _note(schema, noise, total, []), rng)
        edges, strengths = [], []
        targets = np.array([c.role is Role.TARGET for c in schema])
        weights = weights + np.maximum(weights, 0.0) * (self.focus - 1) * (targets[:, None] | targets)
        for number, (parent, child) in enumerate(spanning_tree(weights)):
            if self.pairs is Pairs.TABLES:
                edge, strength = measured_edge(vault, of_tables[number], parent, child, shares, total)
            else:
                edge, strength = inverted_edge(schema, self.family, parent, child, shares, taus[parent, child])
            edges.append(edge)
            strengths.append(strength)
        names = [f"{schema.names[e.parent]} - {schema.names[e.child]}" for e in edges]
        summary["tree"] = {name: round(strength, 3) for name, strength in zip(names, strengths, strict=True)}
        if of_tables:
            summary["noise_scale_of_a_pair"] = round(of_tables[0].scale(PairCounts(schema.names[:2], NONE), schema), 3)
        summary |= _note(schema, noise, total, strengths)
        return TreeModel(schema, tuple(shares), tuple(edges), round(total), summary)

    def _class_column(self, schema: Schema) -> str:
        if self.pairs is Pairs.TAU or self.structure is Structure.TAU:
            return ""
        return class_column(schema, self.classes, "vine")

    def _by_class(
        self,
        vault: Vault,
        classes: Classes,
        of_margins: Mapping[str, Allowance],
        of_tree: Allowance,
        of_tables: list[Allowance],
    ) -> Model:
        model = fit_classes(vault, classes, of_margins, of_tree, of_tables)
        noise = [part.deviation(Histogram((name,)), vault.schema) for name, part in of_margins.items()]
        strengths = list(model.summary["tree"].values())
        return replace(model, summary=model.summary | _note(vault.schema, noise, float(classes.counts.sum()), strengths))

    def _weights(self, vault: Vault, allowance: Allowance, shares: list[Floats], total: float, rows: int) -> tuple[Floats, Floats]:
        """The weight of each pair of columns, as a matrix; and tau, where it was measured."""
        schema = vault.schema
        count = len(schema)
        pairs = list(combinations(range(count), 2))
        weights, taus = np.zeros((count, count)), np.zeros((count, count))
        if self.structure is Structure.TAU:
            query = Concordance(schema.names, rows)
            most = max(rows * (rows - 1) / 2, 1.0)
            answer, noise = vault.spend(query, allowance) / most, allowance.deviation(query, schema) / most
            for (i, j), tau in zip(pairs, np.clip(answer, -1.0, 1.0), strict=True):
                weights[i, j] = weights[j, i] = abs(tau)
                taus[i, j] = taus[j, i] = tau * max(0.0, 1 - noise**2 / max(tau**2, noise**2, 1e-300))
            return weights, taus
        grouped = [groups(column, share, COARSE) for column, share in zip(schema, shares, strict=True)]
        coarse = [group_shares(g, share) for g, share in zip(grouped, shares, strict=True)]
        expected = [independent(coarse[i], coarse[j], total) for i, j in pairs]
        distances = vault.spend(Dependences(schema.names, tuple(grouped), tuple(expected)), allowance)
        for (i, j), distance, by_chance in zip(pairs, distances, map(chance, expected), strict=True):
            weights[i, j] = weights[j, i] = distance - by_chance
        return weights, taus

    def _further(
        self, schema: Schema, shares: list[Floats], taus: Floats, total: int, summary: dict[str, Any], rng: np.random.Generator
    ) -> VineModel:
        """Several trees: a vine fitted to rows drawn from the Gaussian copula that the noisy tau describes."""
        pairs = list(combinations(range(len(schema)), 2))
        strengths = [strength_of(schema, self.family, i, j, shares, taus[i, j])[0] for i, j in pairs]
        correlation = from_pairs(np.array(strengths), len(schema))
        normal = rng.standard_normal((DRAWN, len(schema))) @ np.linalg.cholesky(correlation).T
        vine = fit_vine(ndtr(normal), ("gaussian",), self.trees)
        columns = {c.name: Steps.of(values_of(c, np.arange(len(s))), s) for c, s in zip(schema, shares, strict=True)}
        return VineModel(schema, columns, schema.names, vine, total, summary | {"trees": min(self.trees, len(schema) - 1)})


def _note(schema: Schema, noise: list[float], total: float, strengths: list[float]) -> dict[str, Any]:
    """For the card, where the noise is large beside the counts, or beside the dependence of pairs."""
    note = noise_note(sizes_of(schema), float(np.mean(noise)), total)
    lost = sum(abs(strength) < LOST for strength in strengths)
    if not lost:
        return with_notes(note)
    return with_notes(
        note,
        f"{lost} of the {len(strengths)} pairs of the tree can hardly be distinguished from noise: "
        "they were drawn almost independently",
    )
