"""Post-randomization: categories changed by chance, with known probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushtable.anonymize.anonymized import Anonymized
from hushtable.pipeline.step import Core, Plan, check_knobs, chosen
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Integers
from hushtable.table.schema import Schema
from hushtable.table.table import Table

_WHY = "post-randomization reads the rows"


@dataclass(frozen=True, kw_only=True)
class Pram(Core):
    """Categories and ordinals pass through a Markov chain: most stay, some become another level.

    Promises nothing. A value stays with probability ``keep``, else every other level of the domain is as likely; the
    chain is then a function of the knobs alone, and counts can be corrected for it. With ``invariant`` a second chain,
    the Bayes inverse of the first under the counts of the rows, follows: the expected counts are then those of the rows
    (in each group of ``within``), and no level appears that no row has. Missing values stay missing. Each cell alone is
    randomized response, but the other columns and the number of rows leave as they are, so there is no differential
    privacy. Gouweleeuw, Kooiman, Willenborg and de Wolf 1998.
    """

    keep: float = 0.8
    """The probability that the first chain leaves a value as it is; an invariant chain then changes some more."""
    invariant: bool = True
    """Whether the expected counts are those of the rows; the chain then depends on them."""
    within: tuple[str, ...] = ()
    """Columns in whose groups the expected counts stay the same; for the invariant chain only."""
    columns: tuple[str, ...] = ()
    """The columns to randomize, each by itself; all categories and ordinals among the quasi-identifiers when empty."""

    def __post_init__(self) -> None:
        """A probability below one."""
        check_knobs(
            self,
            keep=(0 <= self.keep < 1, "must lie in [0, 1)"),
            within=(not self.within or self.invariant, "is for the invariant chain only"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without levels, and groups that do not exist."""
        columns = self._columns(schema)
        caveats = ["a value that was not changed is a true one, and most are"] if self.keep > 0.5 else []
        if self.invariant:
            caveats.append("the probabilities of change were computed from the rows: they are not published")
        return Plan(schema=schema, events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, moves=columns, caveats=tuple(caveats))

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized:
        """Randomize one column after the other."""
        table = vault.open(Raw(_WHY), _WHY)
        columns = self._columns(table.schema)
        groups, _ = table.groups(self.within)
        changed = [(table.schema[name], self._changed(table, name, groups, rng)) for name in columns]
        return Anonymized(table.with_columns(*changed), self._result(table.schema, columns))

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        chosen(schema, self.within, schema.names, "pram", "a column")
        default = tuple(name for name in schema.quasi if schema[name].coded and name not in self.within)
        return chosen(schema, self.columns, default, "pram", "a category or an ordinal", lambda column: column.coded)

    def _changed(self, table: Table, name: str, groups: Integers, rng: np.random.Generator) -> NDArray[np.int32]:
        array, levels = table[name].astype(np.int32), len(table.schema[name].levels)
        present = np.flatnonzero(array >= 0)
        if levels > 1 and len(present):
            before = array[present].astype(np.int64)
            after = _spread(before, levels, self.keep, rng)
            if self.invariant:
                after = _returned(before, after, groups[present], levels, self.keep, rng)
            array[present] = after
        return array

    def _result(self, schema: Schema, columns: tuple[str, ...]) -> dict[str, Any]:
        """The chain, where it is a function of the knobs and the domain; never one that was computed from the rows."""
        result: dict[str, Any] = {"keep": self.keep, "invariant": self.invariant, "columns": list(columns)}
        if not self.invariant:
            sizes = {name: len(schema[name].levels) for name in columns if not schema[name].observed}
            result["each_other_level"] = {name: (1 - self.keep) / (size - 1) for name, size in sizes.items() if size > 1}
        return result


def _spread(codes: Integers, levels: int, keep: float, rng: np.random.Generator) -> Integers:
    """Each code as it is with probability ``keep``, else one of the others, each as likely."""
    leaves = rng.random(len(codes)) >= keep
    other = (codes + rng.integers(1, levels, len(codes))) % levels
    return np.where(leaves, other, codes)


def _returned(before: Integers, after: Integers, groups: Integers, levels: int, keep: float, rng: np.random.Generator) -> Integers:
    """The second chain: for a code l that ``_spread`` left, a code k with probability P(k was before | l is after).

    With shares s of the codes before and o = (1 - keep) / (levels - 1), l stays with probability keep s_l / (keep s_l +
    o (1 - s_l)); else k is drawn from the shares of the others. Drawing from the shares is drawing a row of the group.
    """
    order = np.lexsort((before, groups))
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    keys = (groups * levels + before)[order]
    wanted = groups * levels + after
    low, high = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
    same, whole = high - low, sizes[groups]
    stays, goes = keep * same, (1 - keep) / (levels - 1) * (whole - same)
    redrawn = rng.random(len(after)) * (stays + goes) >= stays
    # A place among the rows of the group that hold another code: those behind the run of the code count from its end.
    place = starts[groups] + (rng.random(len(after)) * (whole - same)).astype(np.int64)
    place = np.where(place >= low, place + same, place)
    redrawn &= whole > same
    return np.where(redrawn, before[order][np.minimum(place, len(order) - 1)], after)
