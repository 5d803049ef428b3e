"""Which role the drafter proposes for each column, and why.

Which columns other people could know cannot be read off rows: names say something, and what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hushtable.table import naming
from hushtable.table.arrays import Integers
from hushtable.table.columns import CODED, FREE, NUMBERS, Kind, Role
from hushtable.table.table import Table

ANSWERS = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "1", "0", "none", "unknown"})
"""Whether there is a phone or a remark, not which."""


class Proposal(NamedTuple):
    """A role for one column, and the reason in a few words; without one nothing spoke for another role."""

    role: Role
    reason: str = ""


def propose(table: Table) -> dict[str, Proposal]:
    """A role for every column of a table whose kinds are drafted."""
    proposed = {column.name: _by_name(table, column.name) for column in table.schema}
    if not _having(proposed, Role.QUASI):
        spread = _quasi_by_shape(table, proposed)
        proposed |= {name: Proposal(Role.QUASI, "splits the rows well, and no name says what others know") for name in spread}
    followers = _followers(table, proposed)
    return proposed | {name: Proposal(Role.QUASI, f"follows from {quasi}") for name, quasi in followers.items()}


def notes(table: Table, proposed: Mapping[str, Proposal]) -> list[str]:
    """What a person should know before they accept the roles."""
    quasi = _having(proposed, Role.QUASI)
    said = []
    if quasi:
        alone = unique_share(table.groups(quasi)[0])
        said.append(f"{alone:.1%} of the rows are unique on the likely quasi-identifiers: {', '.join(quasi)}.")
    for name, proposal in proposed.items():
        if proposal.reason.startswith("follows from"):
            said.append(f"Column {name} {proposal.reason}: who knows the one knows the other.")
    return said


def unique_share(groups: Integers) -> float:
    """Share of rows whose group has no other row."""
    return float((np.bincount(groups)[groups] == 1).mean()) if len(groups) else 0.0


def _having(proposed: Mapping[str, Proposal], role: Role) -> list[str]:
    return [name for name, proposal in proposed.items() if proposal.role is role]


def _by_name(table: Table, name: str) -> Proposal:
    kind = table.schema[name].kind
    if kind is Kind.KEY:
        return Proposal(Role.IDENTIFIER, "almost every row has a value of its own")
    if naming.matches(name, naming.IDENTIFIER) and (kind is Kind.TEXT or _distinct_share(table, name) > 0.5):
        return Proposal(Role.IDENTIFIER, "its name")
    if kind is not Kind.TEXT:
        if naming.matches(name, naming.SECRET):
            return Proposal(Role.SECRET, "its name")
        if naming.matches(name, naming.QUASI):
            return Proposal(Role.QUASI, "its name")
    return Proposal(Role.PLAIN)


def _distinct_share(table: Table, name: str) -> float:
    present = table[name][~table.missing(name)]
    return len(np.unique(present)) / max(1, len(present))


def _quasi_by_shape(table: Table, proposed: Mapping[str, Proposal]) -> list[str]:
    """Where no name says so, the five columns of moderate size that split the rows best."""
    spread = {}
    for column in table.schema:
        if proposed[column.name].role is not Role.PLAIN or column.kind not in CODED | NUMBERS:
            continue
        _, counts = np.unique(table[column.name][~table.missing(column.name)], return_counts=True)
        if 2 <= len(counts) <= 200:
            shares = counts / counts.sum()
            spread[column.name] = -float((shares * np.log(shares)).sum())
    return sorted(spread, key=lambda name: -spread[name])[:5]


def _followers(table: Table, proposed: Mapping[str, Proposal]) -> dict[str, str]:
    """Plain columns that a quasi-identifier determines for 99 rows in 100 (an age group beside an age), by name."""
    groups = {
        c.name: table.groups([c.name])
        for c in table.schema
        if c.kind not in FREE and proposed[c.name].role in (Role.QUASI, Role.PLAIN)
    }
    followers = {}
    for name in _having(proposed, Role.PLAIN):
        if name not in groups or table.rows < 100 or not 2 <= groups[name][1] <= 200:
            continue
        codes, levels = groups[name]
        if np.bincount(codes).max() > 0.9 * table.rows:
            continue
        for quasi in _having(proposed, Role.QUASI):
            above, values = groups[quasi]
            # With few rows to a value anything seems to follow from it.
            if values <= table.rows // 10 and values * levels <= 1_000_000:
                pairs = np.bincount(above * levels + codes, minlength=values * levels).reshape(values, levels)
                if pairs.max(axis=1).sum() >= 0.99 * table.rows:
                    followers[name] = quasi
                    break
    return followers
