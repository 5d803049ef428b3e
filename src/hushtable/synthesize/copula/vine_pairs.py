"""One edge of the tree of a vine: from a noisy table of its two columns, or from their noisy tau."""

from __future__ import annotations

import math

import numpy as np

from hushtable.privacy.allowance import Allowance
from hushtable.privacy.vault import Vault
from hushtable.synthesize.copula.vine_families import Family, family_table, fitted_strength
from hushtable.synthesize.copula.vine_tables import PairCounts, checkerboard, group_shares, groups, proportional
from hushtable.synthesize.copula.vine_tree import Edge
from hushtable.table.arrays import Floats, Integers
from hushtable.table.schema import Schema

FINE = 64
"""The most groups of a column in a table of a pair."""
DROWNED = 0.25
"""What the noise of a table may add up to, as a share of the rows, before its groups are made larger."""
NONE: tuple[Integers, Integers] = (np.zeros(1, np.int64), np.zeros(1, np.int64))
"""Groups for a price, which is the same for all groups."""


def measured_edge(
    vault: Vault, allowance: Allowance, parent: int, child: int, shares: list[Floats], total: float
) -> tuple[Edge, float]:
    """An edge from a noisy table, with groups as large as the noise asks for; and how much of the table was not noise."""
    schema = vault.schema
    names = (schema.names[parent], schema.names[child])
    noise = allowance.deviation(PairCounts(names, NONE), schema)
    most = sides(len(shares[parent]), len(shares[child]), max(DROWNED * total / (0.8 * noise), 4.0))
    above, below = (groups(schema[name], shares[i], m) for name, i, m in zip(names, (parent, child), most, strict=True))
    query = PairCounts(names, (above, below))
    noisy = vault.spend(query, allowance).reshape(query.shape).astype(np.float64)
    one, two = group_shares(above, shares[parent]), group_shares(below, shares[child])
    joint, factor = checkerboard(noisy, one, two, total, noise)
    return Edge(parent, child, above, below, joint), factor


def sides(one: int, two: int, cells: float) -> tuple[int, int]:
    """How many groups each of two columns may have, for so many cells together."""
    side = math.sqrt(cells)
    if one > side < two:
        one = two = int(side)
    elif one * two > cells:
        one, two = (one, int(cells / one)) if one <= side else (int(cells / two), two)
    return min(one, FINE), min(two, FINE)


def inverted_edge(schema: Schema, family: Family, parent: int, child: int, shares: list[Floats], tau: float) -> tuple[Edge, float]:
    """An edge from a noisy tau; and that tau, drawn to zero where noise explains it."""
    strength, above, below = strength_of(schema, family, parent, child, shares, tau)
    one, two = group_shares(above, shares[parent]), group_shares(below, shares[child])
    joint = proportional(family_table(family, one, two, strength) + 1e-6 * np.outer(one, two), one, two)
    return Edge(parent, child, above, below, joint), float(tau)


def strength_of(
    schema: Schema, family: Family, one: int, two: int, shares: list[Floats], tau: float
) -> tuple[float, Integers, Integers]:
    """The strength of a family at which two columns have this tau, and the groups of their cells that it was fitted on."""
    grouped = [_in_order(len(shares[i])) for i in (one, two)]
    margins = [group_shares(g, shares[i]) for g, i in zip(grouped, (one, two), strict=True)]
    valued = [len(m) - (not schema[schema.names[i]].required) for m, i in zip(margins, (one, two), strict=True)]
    return fitted_strength(family, margins[0], margins[1], (valued[0], valued[1]), tau), grouped[0], grouped[1]


def _in_order(cells: int) -> Integers:
    """Neighbouring cells together where there are too many, the last one (missing) alone."""
    if cells <= FINE:
        return np.arange(cells)
    return np.append(np.arange(cells - 1) * (FINE - 1) // (cells - 1), FINE - 1)
