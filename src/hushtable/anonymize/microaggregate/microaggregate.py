"""Microaggregation: records in groups of at least k, each replaced by the centre of its group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from hushtable.anonymize.anonymized import Anonymized, AnonymizedRows, anonymized
from hushtable.anonymize.microaggregate import diverse, mdav, univariate, vmdav
from hushtable.anonymize.microaggregate.blocks import in_blocks
from hushtable.anonymize.microaggregate.diverse import Demand
from hushtable.anonymize.microaggregate.space import Centre, Scale, Space, representatives
from hushtable.anonymize.people import records, require_people
from hushtable.anonymize.secrets import L_RULE, Diversity, fits, promises, protected
from hushtable.engine.compute import compute_of
from hushtable.engine.replaced import with_columns
from hushtable.errors import PlanError
from hushtable.pipeline.publish import private_domain
from hushtable.pipeline.step import Core, Plan, Reads, check_knobs, chosen, numbered
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Integers
from hushtable.table.columns import Column
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "microaggregation reads the rows"
GAMMAS = (0.0, 0.2, 0.5, 1.1)
"""What V-MDAV tries where no gamma is given: its authors recommend 0.2 for scattered and 1.1 for clustered records."""


class Method(StrEnum):
    """How groups are formed."""

    MDAV = "mdav"
    V_MDAV = "v-mdav"
    UNIVARIATE = "univariate"


@dataclass(frozen=True, kw_only=True)
class Microaggregate(Core):
    """Microaggregation of mixed tables: k-anonymity on the columns it replaces.

    Promises that every combination of the replaced columns is shared by at least k rows (one column at a time: every value of
    each of them), where asked for with l-diversity and t-closeness of the secrets, and re-measures all of it on the table. Where
    people hold several rows, by k persons: rows of a person that are alike are one record, and groups of fewer persons are merged.
    More than 300,000 records are grouped in blocks of neighbours, each by itself.
    One row can change every group, so there is no differential privacy. All other columns leave as they are.
    Domingo-Ferrer and Torra 2005; Solanas and Martinez-Balleste 2006; Hansen and Mukherjee 2003; Soria-Comas et al. 2015.
    """

    k: int = 5
    """The least number of records, and of persons, in a group."""
    columns: tuple[str, ...] = ()
    """The columns to replace; all quasi-identifiers when empty."""
    method: Method = Method.MDAV
    """mdav: groups of k whole records; v-mdav: of k to 2k - 1 and a few left over; univariate: the best groups for each column,
    which then is k-anonymous by itself only."""
    gamma: float | None = None
    """For v-mdav: how readily groups grow. When empty 0, 0.2, 0.5, 1.1 and mdav are tried, and the one that loses least is taken
    (before groups are merged for l and t)."""
    centre: Centre = Centre.MEAN
    """mean or median for numbers and dates (ordinals take the median and categories the mode in any case), or medoid: a record of
    the group, the one nearest to the others, as it is."""
    scale: Scale = Scale.STANDARD
    """standard: differences over the standard deviation; range: over the width of the domain (Gower)."""
    weights: tuple[str, ...] = ()
    """How many times a column counts in the squared distance, as column=weight; 1 where not said."""
    l: float = 0.0  # noqa: E741
    """The least diversity of each secret in a group; 0 for none. Groups that lack it are merged with the nearest ones."""
    diversity: Diversity = Diversity.DISTINCT
    """How l counts: distinct values, exp of the entropy, or recursive with c."""
    c: float = 2.0
    """For recursive diversity: the most frequent secret is rarer than c times all but the l - 1 most frequent."""
    t: float = 1.0
    """The greatest distance of a secret in a group from the whole table: earth mover's, ordered for numbers, dates and ordinals; 1
    for any. Groups that are farther are merged with the nearest ones."""
    secrets: tuple[str, ...] = ()
    """The columns that l and t protect; all secrets of the schema when empty."""

    def __post_init__(self) -> None:
        """K is at least 2: with 1 nothing is hidden."""
        alone = self.method is Method.UNIVARIATE
        numbered(self, "weights")
        check_knobs(
            self,
            k=(self.k >= 2, "must be at least 2"),
            gamma=(
                self.gamma is None or (self.method is Method.V_MDAV and 0 <= self.gamma < np.inf),
                "is not negative, and for v-mdav only",
            ),
            weights=(not (alone and self.weights), "are for whole records, not for univariate"),
            l=(
                fits(self.l, self.diversity) and not (alone and self.l),
                "is for whole records, not for univariate" if alone else L_RULE,
            ),
            c=(self.c > 0, "must be positive"),
            t=(
                self.t == 1 or (not alone and 0 <= self.t < 1),
                "is for whole records, not for univariate" if alone else "must lie between 0 and 1 (1 for none)",
            ),
            secrets=(not self.secrets or self.l > 0 or self.t < 1, "are for l and t only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns that have no average (text, keys, cells), and secrets that would be replaced."""
        columns, secrets = self._columns(schema), self._secrets(schema)
        self._weights(columns)
        apart = self.method is Method.UNIVARIATE and len(columns) > 1
        known = [(name,) for name in columns] if apart else [columns]
        promised = [Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=quasi) for quasi in known]
        promised += promises(schema, secrets, columns, l=self.l, diversity=self.diversity, c=self.c, t=self.t)
        return Plan(
            schema=schema,
            events=(Raw(_WHY),),
            effect=Effect.COLUMN_GROUPS if apart else Effect.EDIT_ROWS,
            promises=tuple(promised),
            caveats=self._caveats(schema, columns, apart=apart),
            reads=Reads.COLUMNS,
        )

    def _caveats(self, schema: Schema, columns: tuple[str, ...], *, apart: bool) -> tuple[str, ...]:
        caveats = []
        if apart:
            caveats.append(
                "each column was grouped by itself: k holds for each of them alone, and not for two of them together, "
                "so whoever knows two values of a person may find the row"
            )
        if self.centre is Centre.MEDOID:
            what = "a value of a real person" if apart else "a real person's record in these columns"
            caveats.append(f"verbatim: what stands for a group is {what}, published for all of its members")
        if self.l == 0 and self.t == 1:
            caveats.append("k-anonymity says nothing about what the rows of a group have in common: look at l and t")
        rest = [name for name in schema.names if name not in columns]
        if rest:
            caveats.append(f"left as they were by the grouping: {', '.join(rest)}")
        return tuple(caveats)

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized | AnonymizedRows:
        """Partition the rows and replace each group's values; ``rng`` is not needed."""
        rows = vault.open_rows(Raw(_WHY), _WHY)
        require_people(rows, self.k, "microaggregate.k")
        columns = self._columns(rows.schema)
        needed = dict.fromkeys((*columns, *self._secrets(rows.schema)))
        table = rows.select(needed).whole(f"microaggregation of {', '.join(needed)}")
        if self.method is Method.UNIVARIATE:
            replaced, result = self._apart(table, columns)
        else:
            replaced, result = self._together(table, columns, vault, compute_of(rows).threads)
        chosen = {"k": self.k, "method": str(self.method), "columns": list(columns), **result}
        return anonymized(with_columns(rows, replaced), chosen)

    def _apart(self, table: Table, columns: tuple[str, ...]) -> tuple[list[tuple[Column, Array]], dict[str, Any]]:
        """Each column by itself."""
        replaced, sizes, losses = [], [], []
        for name in columns:
            first, place = records(table, (name,))
            space = Space.of(table, (name,), self.scale)
            groups = univariate.partition(table.schema[name], table[name][first], self.k)[place]
            groups = diverse.merge(space, table, groups, (), Demand(k=self.k))
            replaced += self._replaced(space, table, (name,), groups)
            sizes.append(np.bincount(groups))
            losses.append(space.errors(groups))
        errors = reduce(add, losses).summary(absolute=self._absolute(table.schema))
        return replaced, {**_sizes(np.concatenate(sizes)), **errors}

    def _together(
        self, table: Table, columns: tuple[str, ...], vault: Vault, workers: int
    ) -> tuple[list[tuple[Column, Array]], dict[str, Any]]:
        """Whole records."""
        space = Space.of(table, columns, self.scale, self._weights(columns))
        first, place = records(table, columns)
        formed, result = self._partition(space.take(first), vault, workers)
        secrets = self._secrets(table.schema)
        demand = Demand(k=self.k, l=self.l, diversity=self.diversity, c=self.c, t=self.t)
        groups = diverse.merge(space, table, formed[place], secrets, demand, _part(vault, 0.7, 0.2))
        if secrets or table.persons is not None:
            result["merged"] = int(formed.max()) - int(groups.max())
        vault.report(0.9)
        return self._replaced(space, table, columns, groups), {
            **result,
            **_sizes(np.bincount(groups)),
            **space.errors(groups).summary(absolute=self._absolute(table.schema)),
        }

    def _partition(self, space: Space, vault: Vault, workers: int = 1) -> tuple[Integers, dict[str, Any]]:
        """The groups, for V-MDAV the gamma they were formed with, and whether that was done in blocks."""
        if self.method is Method.MDAV:
            groups, blocks = self._formed(space, None, _part(vault, 0.0, 0.7), workers)
            return groups, _in_many(blocks)
        if self.gamma is not None:
            groups, blocks = self._formed(space, self.gamma, _part(vault, 0.0, 0.7), workers)
            return groups, {"gamma": self.gamma, **_in_many(blocks)}
        each = 0.7 / (len(GAMMAS) + 1)
        tried = [self._formed(space, gamma, _part(vault, i * each, each), workers) for i, gamma in enumerate((None, *GAMMAS))]
        best = int(np.argmin([space.errors(groups).all_within for groups, _ in tried]))
        groups, blocks = tried[best]
        return groups, {"gamma": GAMMAS[best - 1] if best else "none: mdav lost least", **_in_many(blocks)}

    def _formed(self, space: Space, gamma: float | None, report: Callable[[float], None], workers: int) -> tuple[Integers, int]:
        """The groups of MDAV, or with a gamma those of V-MDAV; and in how many blocks they were formed."""

        def partition(block: Space, report: Callable[[float], None]) -> Integers:
            if gamma is not None:
                return vmdav.partition(block, self.k, gamma, report)
            return mdav.partition(block.numbers, block.codes, block.weights, self.k, report)

        return in_blocks(space, self.k, partition, report, workers)

    def _replaced(self, space: Space, table: Table, columns: tuple[str, ...], groups: Integers) -> list[tuple[Column, Array]]:
        """The columns with what stands for each row's group."""
        if self.centre is Centre.MEDOID:
            rows = space.medoids(groups)[groups]
            return [(table.schema[name], table[name][rows]) for name in columns]
        return [(table.schema[name], representatives(table.schema[name], table[name], groups, self.centre)) for name in columns]

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column that can be averaged (no text, key or generalized one)"
        return chosen(schema, self.columns, schema.quasi, "microaggregate", what, lambda column: column.valued)

    def _absolute(self, schema: Schema) -> bool:
        """Whether errors may be published: measured in ranges that were read off the rows, they and the release give these away."""
        return self.scale is Scale.STANDARD or not any(private_domain(schema[name]) for name in self._columns(schema))

    def _secrets(self, schema: Schema) -> tuple[str, ...]:
        return protected("microaggregate", schema, self.secrets, self._columns(schema), asked=self.l > 0 or self.t < 1)

    def _weights(self, columns: tuple[str, ...]) -> dict[str, float]:
        weights = numbered(self, "weights")
        unknown = [name for name in weights if name not in columns]
        if unknown:
            raise PlanError(f"microaggregate: {', '.join(unknown)} has a weight, but is not replaced: {', '.join(columns)} are")
        return weights


def _part(vault: Vault, begun: float, part: float) -> Callable[[float], None]:
    """A progress report for a part of the work."""
    return lambda share: vault.report(begun + part * share)


def _in_many(blocks: int) -> dict[str, Any]:
    """What is said of several blocks; nothing of one."""
    return {"blocks": blocks, "note": f"groups were formed in {blocks} blocks of neighbours, each by itself"} if blocks > 1 else {}


def _sizes(sizes: Integers) -> dict[str, Any]:
    return {"groups": len(sizes), "smallest_group": int(sizes.min()), "largest_group": int(sizes.max())}
