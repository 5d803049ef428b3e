"""Full-domain generalization over hierarchies to k-anonymity, l-diversity and t-closeness, with the least loss of information."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hushtable.anonymize.anonymized import Anonymized, AnonymizedRows, anonymized
from hushtable.anonymize.lattice import losses
from hushtable.anonymize.lattice.choices import Choices
from hushtable.anonymize.lattice.demands import Demand, Judge
from hushtable.anonymize.lattice.losses import Loss, LossName, Priced
from hushtable.anonymize.lattice.nodes import Lattice
from hushtable.anonymize.lattice.recode import Recoding, locally
from hushtable.anonymize.lattice.search import Goal, Search, Solution
from hushtable.anonymize.lattice.summary import summary
from hushtable.anonymize.people import require_people
from hushtable.anonymize.secrets import L_RULE, Diversity, fits, moves, protected
from hushtable.errors import Fault, InputError, PlanError
from hushtable.pipeline.step import Core, Plan, Reads, check_knobs, chosen, numbered
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect, Promise, Syntactic
from hushtable.privacy.vault import Vault
from hushtable.table.cell import ANYTHING
from hushtable.table.columns import FREE
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.trees import build

_WHY = "the search for the best generalization reads the rows"
_OPEN = (
    "the generalization was chosen by looking at the rows; who knows how it was chosen may learn more than the classes say "
    "(minimality, downcoding)"
)


class Suppressed(StrEnum):
    """What becomes of rows in classes that do not satisfy k, l and t."""

    DROP = "drop"
    STAR = "star"


@dataclass(frozen=True, kw_only=True)
class Generalize(Core):
    """Full-domain generalization: one level of its hierarchy for each quasi-identifier; classes without k, l or t are suppressed.

    Promises k-anonymity over the quasi-identifiers and what is demanded of the secrets, re-measured on the release. The levels
    are the *proven optimum* of the loss among all nodes of the lattice that suppress no more than the limit, or, if time ran
    out, the best so far with the gap to the bound. No monotonicity is assumed of l and t. Where people hold several rows, k, l and
    t count persons. One row can change the levels of everybody, so there is no differential privacy. Sweeney 2002;
    Machanavajjhala et al. 2006; Li, Li and Venkatasubramanian 2007.
    """

    k: int = 5
    """The least number of rows in a class; of persons, where people hold several rows."""
    l: float = 0.0  # noqa: E741 - its name in the field
    """The least diversity of every secret in a class; 0 for none."""
    diversity: Diversity = Diversity.DISTINCT
    """What l counts: distinct values, exp of their entropy, or recursive (c, l)."""
    c: float = 2.0
    """For recursive diversity: the most frequent secret is rarer than c times all but the l - 1 most frequent."""
    t: float = 1.0
    """The largest distance of a class's secrets from the table's (ordered where they have one, else equal); 1 asks for none."""
    demands: tuple[str, ...] = ()
    """Further demands, each secret:variant:value with variant distinct, entropy, recursive (:c), equal or ordered."""
    limit: float = 0.05
    """The largest share of rows that may be suppressed."""
    loss: LossName = LossName.GEOMETRIC
    """geometric or arithmetic mean of the columns' losses, entropy (non-uniform), discernibility, or class-size."""
    weights: tuple[str, ...] = ()
    """How much columns matter, each column=weight; 1 where absent. For the first three losses."""
    columns: tuple[str, ...] = ()
    """The columns to generalize; all quasi-identifiers when empty."""
    secrets: tuple[str, ...] = ()
    """The columns that l and t speak of; all secrets of the schema when empty."""
    levels: tuple[str, ...] = ()
    """Levels fixed beforehand, each column=level (0 is the value itself); the others are searched."""
    suppressed: Suppressed = Suppressed.DROP
    """drop: suppressed rows are left out; star: they stay with * in every quasi-identifier, where they are a class that holds."""
    local: bool = False
    """Local recoding on top of the optimum: suppressed rows get levels of their own, and classes are refined where they can be."""
    seconds: float = 300.0
    """Stop the search after so long, with the gap stated. A search that is stopped depends on the machine."""

    def __post_init__(self) -> None:
        """K at least 2, shares in [0, 1], demands and levels that can be read."""
        for text in self.demands:
            Demand.parse(text)
        for knob in ("weights", "levels"):
            numbered(self, knob)
        check_knobs(
            self,
            k=(self.k >= 2, "must be at least 2"),
            l=(fits(self.l, self.diversity), L_RULE),
            c=(self.c > 0, "must be positive"),
            t=(0 <= self.t <= 1, "must lie in [0, 1]"),
            limit=(0 <= self.limit <= 1, "must lie in [0, 1]"),
            seconds=(self.seconds > 0, "must be positive"),
            local=(not (self.local and self.levels), "cannot go with fixed levels"),
        )

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without a hierarchy, secrets among the quasi-identifiers, and levels that do not exist."""
        columns, demands = self._columns(schema), self._demands(schema)
        self._fixed(schema, columns)
        promises = [Promise(kind=Syntactic.K_ANONYMITY, value=self.k, quasi=columns), *(d.promise(columns) for d in demands)]
        caveats = [_OPEN]
        if not demands:
            caveats.append("k-anonymity says nothing about what the rows of a group have in common: look at l and t")
        rest = [name for name in schema.names if name not in columns]
        if rest:
            caveats.append(f"left as they were by the generalization: {', '.join(rest)}")
        # Which cells remain is not known before the rows are read.
        stars = [schema[name].generalize((ANYTHING,)) for name in columns]
        return Plan(
            schema=schema.with_columns(*stars), events=(Raw(_WHY),), effect=Effect.EDIT_ROWS, promises=tuple(promises),
            caveats=tuple(caveats), reads=Reads.BATCHES,
        )  # fmt: skip

    def fit(self, vault: Vault, rng: np.random.Generator) -> Anonymized | AnonymizedRows:
        """Search, then generalize and suppress; ``rng`` is not needed."""
        rows = vault.open_rows(Raw(_WHY), _WHY)
        require_people(rows, self.k, "generalize.k")
        # What the first levels of a local recoding suppress gets levels of its own: it must be enough for a class.
        goal = Goal(self.k, 1.0, rest=self.k) if self.local else Goal(self.k, self.limit)
        search = self._search(rows, [goal])
        # A local recoding has half of the time for the levels it begins with, and half for those of the groups.
        seconds = self.seconds / 2 if self.local else self.seconds
        solution = search.run(seconds=seconds, report=vault.report)[0]
        recoding = self._recoded(search, solution, seconds, vault)
        if recoding.suppressed == rows.rows or recoding.suppressed > self.limit * rows.rows + 1e-9:
            raise InputError(_unreachable(self, search.lattice, recoding.suppressed), where="generalize")
        fixed = tuple(numbered(self, "levels"))
        return anonymized(recoding.released(rows), summary(solution, recoding, self.loss, local=self.local, fixed=fixed))

    def sheet(
        self, rows: Rows, ks: Sequence[int], limits: Sequence[float], report: Callable[[float], None] = lambda share: None
    ) -> tuple[Lattice, list[Solution]]:
        """The best levels for every k and every suppression limit, from one search: the classes of a node answer them all."""
        search = self._search(rows, [Goal(k, limit) for k in ks for limit in limits])
        return search.lattice, search.run(seconds=self.seconds, report=report)

    def choices(self, rows: Rows) -> Choices:
        """All choices of levels, to be judged one by one without a search."""
        require_people(rows, self.k, "generalize.k")
        lattice, judge, loss = self._judging(rows)
        shares = Priced.of(lattice, LossName.ARITHMETIC)
        return Choices(lattice=lattice, judge=judge, cost=loss, shares=shares, loss_name=self.loss, k=self.k, limit=self.limit)

    def _search(self, rows: Rows, goals: Sequence[Goal]) -> Search:
        lattice, judge, loss = self._judging(rows)
        return Search(lattice, judge, loss, goals, self._fixed(rows.schema, self._columns(rows.schema)))

    def _judging(self, rows: Rows) -> tuple[Lattice, Judge, Loss]:
        """The lattice of some rows, the judge of its classes, and the loss of its nodes."""
        columns, demands = self._columns(rows.schema), self._demands(rows.schema)
        lattice = Lattice.of(rows, columns, sorted({d.secret for d in demands}))
        diverse = {demand.secret for demand in demands if not demand.close}
        if empty := sorted(name for name in diverse if lattice.tuples.missing(name).all()):
            reason = "all values are missing, so no group can have several: leave it out of the secrets that l protects"
            raise InputError([Fault(f"secret {name}", reason) for name in empty])
        judge = Judge.of(lattice, demands, star=self.suppressed is Suppressed.STAR)
        return lattice, judge, losses.make(self.loss, lattice, self._weights(columns))

    def _recoded(self, search: Search, solution: Solution, seconds: float, vault: Vault) -> Recoding:
        """The levels of the solution, or finer ones for each group, with the classes that do not hold suppressed."""
        lattice, judge = search.lattice, search.judge
        if solution.node is None:
            fewest = min((rows for tried in search.tried for _, rows in tried), default=lattice.rows)
            raise InputError(_unreachable(self, lattice, fewest), where="generalize")
        recoding = Recoding.everywhere(lattice, solution.node)
        if self.local:
            weights = self._weights(tuple(ladder.column.name for ladder in lattice.ladders))
            patient = replace(Judge.of(lattice, judge.demands, star=True), patient=True)
            recoding = locally(
                lattice, patient, self.loss, weights, solution.node, self.k, seconds=seconds, report=vault.report
            )  # fmt: skip
        return recoding.settled(judge, self.k, star=self.suppressed is Suppressed.STAR)

    def _weights(self, columns: tuple[str, ...]) -> tuple[float, ...]:
        given = numbered(self, "weights")
        return tuple(given.get(name, 1.0) for name in columns)

    def _columns(self, schema: Schema) -> tuple[str, ...]:
        what = "a column with a domain (no text, key or generalized one)"
        named = chosen(schema, self.columns, schema.quasi, "generalize", what, lambda c: c.kind not in FREE and not c.generalized)
        unknown = [name for name in numbered(self, "weights") if name not in named]
        if unknown:
            raise PlanError(f"generalize: weights name {', '.join(map(repr, unknown))}, which is not among {', '.join(named)}")
        return named

    def _demands(self, schema: Schema) -> tuple[Demand, ...]:
        """What is asked of the secrets; a demand that every class meets is none."""
        asked = [Demand.parse(text) for text in self.demands]
        columns = set(self._columns(schema))
        named = protected("generalize", schema, self.secrets, columns, asked=self.l > 0 or self.t < 1)
        for name in named:
            if self.l > 0:
                asked.append(Demand(name, str(self.diversity), self.l, self.c))
            if self.t < 1:
                asked.append(Demand(name, "ordered" if moves(schema[name]) else "equal", self.t))
        for demand in asked:
            if demand.secret not in schema:
                raise PlanError(
                    f"generalize: there is no column {demand.secret!r} to protect; the table has {', '.join(schema.names)}"
                )
            if demand.secret in columns:
                raise PlanError(f"generalize: {demand.secret} is a quasi-identifier and cannot be a secret too")
            if demand.variant == "ordered" and not moves(schema[demand.secret]):
                raise PlanError(f"generalize: the values of {demand.secret} have no order; use equal")
        return tuple(d for d in dict.fromkeys(asked) if not d.promise(("any",)).empty)

    def _fixed(self, schema: Schema, columns: tuple[str, ...]) -> dict[int, int]:
        """Attribute to level, for the levels that are fixed; refuses those that do not exist."""
        fixed = {}
        for name, level in numbered(self, "levels").items():
            if name not in columns:
                raise PlanError(f"generalize: levels name {name!r}, which is not among {', '.join(columns)}")
            top = len(build(schema[name])) if schema[name].domain is not None else math.inf
            if level != int(level) or not 0 <= level <= top:
                raise PlanError(f"generalize: {name} has the levels 0 to {top}, not {level:g}")
            fixed[columns.index(name)] = int(level)
        return fixed


def _unreachable(step: Generalize, lattice: Lattice, fewest: int) -> str:
    asked = f"no generalization keeps what is demanded and suppresses at most {100 * step.limit:.4g} % of the rows"
    if fewest == lattice.rows:
        return (
            f"{asked}: every one that was tried suppresses them all. Lower k or l, raise t, or check whether a secret varies at all"
        )
    return (
        f"{asked}; the best of them suppresses {100 * fewest / lattice.rows:.4g} %. Raise the limit, lower k or l, raise t, "
        "or add levels to the hierarchies"
    )
