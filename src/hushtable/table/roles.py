"""Which role the drafter proposes for each column, and why.

Which columns other people could know cannot be read off rows. Names say something (an age, a postcode), and so does what
follows from them. Beyond that the proposal errs to the safe side, by what the columns *do*: as long as a few everyday columns
outside the quasi-identifiers, or a few of both, single out a fifth of the people, these are proposed too, up to a number that
an anonymizer can still work with. A number that hardly recurs (an income, a weight, a laboratory value) singles out nearly
everybody by itself and is rarely known to the last digit: it is never proposed for that alone, nor is a column that is to be
kept private. Whatever is left out and still singles out a fifth of the people is named in a note.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hushtable.display import listed
from hushtable.table import naming
from hushtable.table.arrays import Integers
from hushtable.table.columns import CODED, NUMBERS, Kind, Role
from hushtable.table.profile import NEARLY, amount, decided
from hushtable.table.singling import Columns, SinglingSet, coded_values, smallest
from hushtable.table.table import Table

ANSWERS = frozenset({"yes", "no", "y", "n", "true", "false", "t", "f", "1", "0", "none", "unknown"})
"""Whether there is a phone or a remark, not which."""
MANY = 0.2
"""The share of the people that no columns may single out without being proposed, or named in a note."""
FEW = 4
"""Sets of up to so many columns are proposed for what they single out; who must know more knows much of the row."""
MOST = 10
"""No column is proposed for what it singles out beyond so many: k-anonymity over more leaves little of a table."""
LEAST_ROWS = 100
"""Among fewer rows anything singles people out, and anything follows from anything."""
SHOWN = 8
"""So many names stand in a note."""
BY_NAME = "its name"
NUMBERS_PEOPLE = "numbers people or records that hold several rows"
USUAL = 0.99
"""The share of people whose rows are all to be read."""


class Proposal(NamedTuple):
    """A role for one column, and the reason in a few words; without one nothing spoke for another role."""

    role: Role
    reason: str = ""


def propose(table: Table) -> dict[str, Proposal]:
    """A role for every column of a table whose kinds are drafted."""
    proposed = {column.name: _by_name(table, column.name) for column in table.schema}
    proposed |= _numbering(table, proposed)
    proposed |= _followers(table, proposed)
    while table.rows >= LEAST_ROWS and len(quasi := _having(proposed, Role.QUASI)) < MOST:
        everyday = _everyday(table, proposed)
        few = _few(table, everyday)
        if (few is None or len(few.columns) > FEW) and Columns(table, quasi).share(quasi) < MANY:
            # Who knows the one may know the other: few everyday columns may single people out beside those proposed already.
            few = _few(table, [*quasi, *everyday])
        new = [] if few is None else [name for name in few.columns if name not in quasi]
        if few is None or not new or len(few.columns) > FEW or len(quasi) + len(new) > MOST:
            break
        word = "singles" if len(few.columns) == 1 else "together single"
        reason = f"{listed(few.columns)} {word} out {few.share:.0%} of the rows"
        proposed |= {name: Proposal(Role.QUASI, reason) for name in new}
    if not _having(proposed, Role.QUASI):
        spread = _quasi_by_shape(table, proposed)
        proposed |= {
            name: Proposal(Role.QUASI, "they split the rows best, and nothing else says what others know") for name in spread
        }
    return proposed


def protecting(name: str, counts: Integers) -> str:
    """The options that protect whoever a column numbers: few of them lose rows, as one with very many would cost all much noise."""
    most = usual_rows(counts)
    more = int((counts > most).sum())
    cut = f" ({more:,} of {len(counts):,} have more rows, of which so many are read)" if more else ""
    return f"--person {shlex.quote(name)} --rows-per-person {most}{cut}"


def usual_rows(counts: Integers) -> int:
    """So many rows that nearly all people have no more, of the number of rows of each."""
    return int(np.quantile(counts, USUAL, method="higher"))


def notes(table: Table, proposed: Mapping[str, Proposal]) -> list[str]:
    """What a person should know before they accept the roles."""
    quasi = _having(proposed, Role.QUASI)
    numbering = [name for name in _having(proposed, Role.IDENTIFIER) if proposed[name].reason.startswith(NUMBERS_PEOPLE)]
    leaving = [c.name for c in table.schema if c.name in table.schema.released and proposed[c.name].role is not Role.IDENTIFIER]
    if not leaving or not table.rows:
        return []
    said = []
    for name in numbering:
        said.append(
            f"Column {name} {proposed[name].reason}: proposed as an identifier, which is dropped. To protect people and not rows, "
            f"name it with {protecting(name, coded_values(table[name])[1])}."
        )
    columns = Columns(table, leaving)
    whole = f"{columns.share(leaving):.1%} on all columns that would be released ({len(leaving)})"
    if quasi:
        alone = f"{columns.share(quasi):.1%} of the rows are unique on the likely quasi-identifiers"
        said.append(f"{alone}: {', '.join(quasi)}; {whole}.")
    else:
        said.append(f"No column looks like a quasi-identifier. Of the rows, {whole} are unique.")
    for reason, names in _reasons(proposed, Role.QUASI).items():
        if reason.startswith("follows from"):
            said += [f"Column {name} {reason}: who knows the one knows the other." for name in names]
        elif reason != BY_NAME:
            said.append(f"Proposed as quasi-identifier: {', '.join(names)}, because {reason}.")
    named = {role: _reasons(proposed, role).get(BY_NAME, []) for role in (Role.QUASI, Role.SECRET)}
    by_name = [f"{role} for {', '.join(names)}" for role, names in named.items() if names]
    if by_name:
        said.append(f"Roles proposed by name alone: {'; '.join(by_name)}.")
    few = _few(table, [name for name in leaving if not amount(table, table.schema[name])])
    if few is not None:
        said.append(f"The fewest columns of values that recur which single out {MANY:.0%} of the rows: {_shown(few)}.")
    return said + _outside(table, columns, [name for name in leaving if name not in quasi])


def unique_share(groups: Integers) -> float:
    """Share of rows whose group has no other row."""
    return float((np.bincount(groups)[groups] == 1).mean()) if len(groups) else 0.0


def _outside(table: Table, columns: Columns, rest: Sequence[str]) -> list[str]:
    """Sets of columns that nobody proposes to protect, and that single out a fifth of the people."""
    shares = {name: columns.share([name]) for name in rest}
    alone = [name for name in rest if shares[name] >= MANY]
    said = []
    advice = "if somebody could know it, make it quasi, round it or leave it out"
    if alone:
        each = listed([f"{name} ({shares[name]:.0%})" for name in alone], SHOWN)
        said.append(f"Each by itself singles out many of the rows, and is not proposed as a quasi-identifier: {each}; {advice}.")
    few = _few(table, [name for name in rest if name not in alone])
    if few is not None:
        said.append(
            f"Outside the quasi-identifiers, few columns still single out many of the rows: {_shown(few)}. A release that leaves "
            "them unchanged shows whose row is whose to anybody who knows them: make them quasi, leave them out, or synthesize."
        )
    return said


def _shown(few: SinglingSet) -> str:
    return f"{listed(few.columns, SHOWN)} ({few.share:.0%})"


def _few(table: Table, names: Sequence[str]) -> SinglingSet | None:
    """The smallest set of these columns that singles out many of the people, as far as it is found; None if none does."""
    sets = smallest(Columns(table, names), (MANY,))[0].sets if names and table.rows else ()
    return sets[0] if sets else None


def _everyday(table: Table, proposed: Mapping[str, Proposal]) -> list[str]:
    """Plain columns whose values recur, so that somebody may know them of somebody else."""
    return [
        name for name in _having(proposed, Role.PLAIN) if name in table.schema.released and not amount(table, table.schema[name])
    ]


def _having(proposed: Mapping[str, Proposal], role: Role) -> list[str]:
    return [name for name, proposal in proposed.items() if proposal.role is role]


def _reasons(proposed: Mapping[str, Proposal], role: Role) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for name in _having(proposed, role):
        reasons.setdefault(proposed[name].reason, []).append(name)
    return reasons


def _by_name(table: Table, name: str) -> Proposal:
    kind = table.schema[name].kind
    if kind is Kind.KEY:
        return Proposal(Role.IDENTIFIER, "a key says who")
    if naming.matches(name, naming.IDENTIFIER) and (kind is Kind.TEXT or _distinct_share(table, name) > 0.5):
        return Proposal(Role.IDENTIFIER, BY_NAME)
    if kind is not Kind.TEXT:
        if naming.matches(name, naming.SECRET):
            return Proposal(Role.SECRET, BY_NAME)
        if naming.matches(name, naming.QUASI):
            return Proposal(Role.QUASI, BY_NAME)
    return Proposal(Role.PLAIN)


def _distinct_share(table: Table, name: str) -> float:
    present = table[name][~table.missing(name)]
    return len(np.unique(present)) / max(1, len(present))


def _quasi_by_shape(table: Table, proposed: Mapping[str, Proposal]) -> list[str]:
    """Where nothing else says so, the five columns of moderate size that split the rows best."""
    spread = {}
    for column in table.schema:
        if proposed[column.name].role is not Role.PLAIN or column.kind not in CODED | NUMBERS:
            continue
        _, counts = np.unique(table[column.name][~table.missing(column.name)], return_counts=True)
        if 2 <= len(counts) <= 200:
            shares = counts / counts.sum()
            spread[column.name] = -float((shares * np.log(shares)).sum())
    return sorted(spread, key=lambda name: -spread[name])[:5]


def _numbering(table: Table, proposed: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Plain whole numbers that number people with several rows each: with a second column (a year, a visit) they are a key.

    The second column has hardly more values than a person has rows, and something about a person is the same in all their rows:
    two amounts that are a key together have neither.
    """
    found: dict[str, Proposal] = {}
    if table.rows < LEAST_ROWS:
        return found
    coded = {name: coded_values(table[name]) for name in table.schema.released}
    for name in _having(proposed, Role.PLAIN):
        if name not in coded or table.schema[name].kind is not Kind.INTEGER:
            continue
        codes, held = coded[name]
        if not 20 <= len(held) <= table.rows // 2:
            continue
        others = {other: seen for other, seen in coded.items() if other != name and 2 <= len(seen[1]) <= len(held)}
        most, rows = held.max(), codes == held.argmax()
        turns = [
            other for other, (turn, seen) in others.items()
            # Whoever has most rows needs as many different turns: that is seen before all rows are looked at.
            if most <= len(seen) <= 2 * most and len(np.unique(turn[rows])) == most
            and len(np.unique(codes * len(seen) + turn)) == table.rows
        ]  # fmt: skip
        if turns and any(decided(codes, value) == 1 and other not in turns for other, (value, _) in others.items()):
            reason = f"{NUMBERS_PEOPLE} ({table.rows / len(held):.1f} each, and no two of one with the same {turns[0]})"
            found[name] = Proposal(Role.IDENTIFIER, reason)
    return found


def _followers(table: Table, proposed: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Plain columns that a quasi-identifier decides for 99 rows in 100 (an age group beside an age)."""
    followers = {}
    quasi = {name: coded_values(table[name]) for name in _having(proposed, Role.QUASI)}
    for name in _having(proposed, Role.PLAIN):
        codes, counts = coded_values(table[name])
        if name not in table.schema.released or table.rows < LEAST_ROWS or not 2 <= len(counts) <= 200:
            continue
        if counts.max() > 0.9 * table.rows:
            continue
        for source, (above, values) in quasi.items():
            # With few rows to a value anything seems to follow from it.
            if len(values) <= table.rows // 10 and decided(above, codes) >= NEARLY:
                followers[name] = Proposal(Role.QUASI, f"follows from {source}")
                break
    return followers
