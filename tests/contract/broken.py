"""Plugins that are broken in ways a proof would not survive, or a reader would not notice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hushtable.anonymize.anonymized import Anonymized
from hushtable.anonymize.microaggregate.microaggregate import Microaggregate
from hushtable.encode.learn_domain import LearnDomain
from hushtable.evidence.finding import Audit, Better, Finding, Risk, Subject, Trace
from hushtable.pipeline.step import Coder, Core, Plan
from hushtable.privacy.event import Raw
from hushtable.privacy.preserve import Effect
from hushtable.privacy.query import Histogram
from hushtable.privacy.vault import Vault
from hushtable.synthesize.marginal.independent import Independent, Margins
from hushtable.table.columns import Bounds, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table


@dataclass(frozen=True, eq=False)
class _Code:
    schema: Schema
    original: Schema
    stability: int = 1
    rows: list[Table] = field(default_factory=list)

    def apply(self, table):
        return table

    def undo(self, table, rng):
        return table


class _Coder(Coder):
    code: type = _Code

    def plan(self, schema, budget):
        return Plan(schema=schema, stability=1)

    def fit(self, vault, rng):
        return self.code(vault.schema, vault.schema)


class _Thrice(_Code):
    def apply(self, table):
        return table.take(np.repeat(np.arange(table.rows), 3))

    def undo(self, table, rng):
        return table.take(np.arange(0, table.rows, 3))


class _Mean(_Code):
    def apply(self, table):
        column = self.schema["height"]
        return table.with_column(column, column.from_floats(np.full(table.rows, table["height"].mean())))


class _Anew(_Code):
    def apply(self, table):
        return Table(table.schema, dict(table.arrays))


class _Forgetful(_Code):
    def undo(self, table, rng):
        return table.take(np.zeros(table.rows, np.int64))


@dataclass(frozen=True, kw_only=True)
class SoundCoder(_Coder):
    """Leaves everything as it is."""


@dataclass(frozen=True, kw_only=True)
class Repeats(_Coder):
    """Writes each row three times and says one row changes one."""

    code = _Thrice


@dataclass(frozen=True, kw_only=True)
class Averages(_Coder):
    """Puts everybody's mean into every row."""

    code = _Mean


@dataclass(frozen=True, kw_only=True)
class Loses(_Coder):
    """Does not bring back what it encoded."""

    code = _Forgetful


@dataclass(frozen=True, kw_only=True)
class Estranges(_Coder):
    """Makes its table anew, without a word of whose rows they are."""

    code = _Anew


@dataclass(frozen=True, kw_only=True)
class PeeksSilently(_Coder):
    """Opens the rows without saying so in its plan."""

    def fit(self, vault, rng):
        vault.open(Raw("a look"), "a look")
        return super().fit(vault, rng)


class _Declared(_Code):
    def apply(self, table):
        return table.declared()


@dataclass(frozen=True, kw_only=True)
class Launders(_Coder):
    """Calls declared what was read off the rows."""

    code = _Declared

    def plan(self, schema, budget):
        return Plan(schema=schema.declared(), stability=1)


@dataclass(frozen=True, kw_only=True)
class Drops(_Coder):
    """Leaves out what was read off the rows, and hands its range on to the columns that stay."""

    def plan(self, schema, budget):
        return Plan(schema=self.without(schema), stability=1, one_way=True)

    def fit(self, vault, rng):
        return _Dropped(self.without(vault.schema), vault.schema)

    def without(self, schema):
        top = max((c.domain.high for c in schema if c.undeclared and isinstance(c.domain, Bounds)), default=0)
        left = [c for c in schema if not c.undeclared]
        wider = [replace(c, domain=Bounds(c.domain.low, max(c.domain.high, top))) if c.name == "age" else c for c in left]
        return replace(schema, columns=tuple(wider))


class _Dropped(_Code):
    def apply(self, table):
        return Table(self.schema, {name: table[name] for name in self.schema.names})


class _Constant(_Code):
    def apply(self, table):
        return table.select([name for name in table.schema.names if len(np.unique(table[name])) > 1])


@dataclass(frozen=True, kw_only=True)
class DropsConstants(_Coder):
    """Leaves out the columns in which all rows are the same."""

    code = _Constant


@dataclass(frozen=True, kw_only=True)
class LearnsUnpaid(Launders):
    """Says that it learns the domains, and takes those of the rows."""

    @property
    def learns_domains(self):
        return True

    @property
    def spends(self):
        return True


@dataclass(frozen=True, kw_only=True)
class KeepsDecimals(LearnDomain):
    """Pays for domains, and writes numbers with the most decimals of any row."""

    def fit(self, vault, rng):
        code = super().fit(vault, rng)
        if "amount" not in vault.schema or code.schema["amount"].kind is not Kind.REAL:
            return code
        digits = max(len(level.partition(".")[2]) for level in vault.schema["amount"].levels)
        return replace(code, schema=code.schema.with_columns(replace(code.schema["amount"], decimals=digits)))


class _Lie(Histogram):
    def sensitivity(self, schema, relation):
        return 0.001, 0.001, 1


class _Counting(Margins):
    """The parts that vary are broken one by one."""

    def fit(self, vault, rng):
        parts = vault.paid().split([1.0] * len(vault.schema))
        noisy = {c.name: self.count(vault, Histogram((c.name,)), p) for c, p in zip(vault.schema, parts, strict=True)}
        return Independent.of(vault.schema, noisy, dict.fromkeys(noisy, 1.0))

    def count(self, vault, query, part):
        return vault.spend(query, part)


@dataclass(frozen=True, kw_only=True)
class Lies(_Counting):
    """Asks a question that understates its own sensitivity."""

    def count(self, vault, query, part):
        return vault.spend(_Lie(query.columns), part)


@dataclass(frozen=True, kw_only=True)
class NoNoise(_Counting):
    """Pays for noise and adds none."""

    def count(self, vault, query, part):
        return vault.open(part.event(query, vault.schema), "noisy").counts(query.columns)


@dataclass(frozen=True, kw_only=True)
class BehindTheDoor(_Counting):
    """Pays, and then takes the exact counts."""

    def count(self, vault, query, part):
        vault.spend(query, part)
        return query.answer(vault._table)


@dataclass(frozen=True, kw_only=True)
class ConstantNoise(_Counting):
    """Adds the same noise whatever the budget."""

    def count(self, vault, query, part):
        return vault.measure(query, 30.0)


class _Core(Core):
    def plan(self, schema, budget):
        return Plan(schema=schema, events=(Raw("reads"),), effect=Effect.EDIT_ROWS)

    def fit(self, vault, rng):
        return Anonymized(self.make(vault.open(Raw("reads"), "reads")), self.tell(vault))

    def make(self, table):
        return table

    def tell(self, vault):
        return {}


@dataclass(frozen=True, kw_only=True)
class Relabels(_Core):
    """Calls quasi-identifiers plain."""

    def make(self, table):
        return table.with_columns(*((replace(c, role=Role.PLAIN), table[c.name]) for c in table.schema))


@dataclass(frozen=True, kw_only=True)
class ReadsDomain(_Core):
    """Publishes the extremes of the rows as if they were declared."""

    def make(self, table):
        age = table["age"]
        return table.with_column(replace(table.schema["age"], domain=Bounds(int(age.min()), int(age.max()))), age)


@dataclass(frozen=True, kw_only=True)
class Boasts(_Core):
    """Puts a row on the public card."""

    def tell(self, vault):
        return {"tallest": vault.open(Raw("reads"), "reads").floats("height").max()}

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), events=(Raw("reads"), Raw("reads")))


class _Alike(Microaggregate):
    """Puts k equal rows into a class, whoever holds them."""

    def fit(self, vault, rng):
        table = vault.open(Raw("reads"), "reads")
        output = super().fit(Vault.of(replace(table, persons=None)).named("x"), rng).table
        return Anonymized(self.hand_on(output, table))

    def plan(self, schema, budget):
        return replace(super().plan(schema, budget), events=(Raw("reads"),))


@dataclass(frozen=True, kw_only=True)
class CountsRows(_Alike):
    """Promises k of classes that may all be one person's."""

    def hand_on(self, output, table):
        return replace(output, persons=table.persons)


@dataclass(frozen=True, kw_only=True)
class LosesPersons(_Alike):
    """The same, in a table made anew, in which nobody can count persons."""

    def hand_on(self, output, table):
        return Table(output.schema, dict(output.arrays))


@dataclass(frozen=True, kw_only=True)
class InventsPersons(_Alike):
    """The same, and calls every row another person's."""

    def hand_on(self, output, table):
        return replace(output, persons=np.arange(output.rows))


class _Stubborn(Anonymized):
    def sample(self, n, rng, given=None):
        return self.table


@dataclass(frozen=True, kw_only=True)
class IgnoresRows(_Core):
    """Makes as many rows as it likes."""

    def fit(self, vault, rng):
        return _Stubborn(vault.open(Raw("reads"), "reads"))


@dataclass(frozen=True, kw_only=True)
class GlobalNumbers(_Core):
    """Draws from numpy's global generator, seeded to look reproducible."""

    def make(self, table):
        np.random.seed(1)  # noqa: NPY002
        return table.take(np.random.permutation(table.rows))  # noqa: NPY002


@dataclass(frozen=True, kw_only=True)
class ReturnsTable(_Core):
    """Forgets the model around the table."""

    def fit(self, vault, rng):
        return vault.open(Raw("reads"), "reads")


@dataclass(frozen=True, kw_only=True)
class NoPlan(_Core):
    """Plans nothing."""

    def plan(self, schema, budget):
        return None


@dataclass(frozen=True, kw_only=True)
class ForgetsToSpend(_Core):
    """Measures without saying that it spends."""

    def fit(self, vault, rng):
        vault.paid()


@dataclass(frozen=True, kw_only=True)
class ByHeart(_Core):
    """Knows the example's columns by heart."""

    def make(self, table):
        return table.take(np.argsort(table.arrays["height"]))


def _finding(**more):
    return Finding(
        **{"name": "x", "value": 0.5, "better": Better.LOWER, "subject": Subject.PRIVACY, "n": 1, "note": "a note"} | more
    )


class _Audit(Audit):
    def run(self, case, rng):
        return self.find(case)

    def find(self, case):
        return [_finding()]


@dataclass(frozen=True, kw_only=True)
class SoundAudit(_Audit):
    """Always one half."""


@dataclass(frozen=True, kw_only=True)
class WordyNumber(_Audit):
    """A number as a text."""

    def find(self, case):
        return [_finding(baseline="0.3")]


@dataclass(frozen=True, kw_only=True)
class NotANumber(_Audit):
    """NaN where there is nothing to say."""

    def find(self, case):
        return [_finding(value=float("nan"))]


@dataclass(frozen=True, kw_only=True)
class Nameless(_Audit):
    """No name."""

    def find(self, case):
        return [_finding(name="")]


@dataclass(frozen=True, kw_only=True)
class Twice(_Audit):
    """The same finding twice."""

    def find(self, case):
        return [_finding(), _finding()]


@dataclass(frozen=True, kw_only=True)
class WrongWay(_Audit):
    """A direction of its own."""

    def find(self, case):
        return [_finding(better="down")]


@dataclass(frozen=True, kw_only=True)
class SilentOnOthers(_Audit):
    """Finds something in the example only."""

    def find(self, case):
        return [_finding()] if "height" in case.columns else []


@dataclass(frozen=True, kw_only=True)
class Collapsed(_Audit):
    """A risk that is certain."""

    def find(self, case):
        return [_finding(risk=Risk.INFERENCE, value=0.0, low=0.0, high=0.0)]


@dataclass(frozen=True, kw_only=True)
class Likely(_Audit):
    """More than certain."""

    def find(self, case):
        return [_finding(p=1.5)]


@dataclass(frozen=True, kw_only=True)
class NamesNobody(_Audit):
    """Hits rows that are not there."""

    def find(self, case):
        hit = np.ones(1, bool)
        return [_finding(trace=Trace(hit, hit, np.array([case.train.rows]), np.array([0])))]


@dataclass(frozen=True, kw_only=True)
class AttacksTwice(_Audit):
    """Attacks who holds two rows twice."""

    def find(self, case):
        rows = case.train.rows, case.control.rows
        return [_finding(trace=Trace(*(np.zeros(n, bool) for n in rows), *map(np.arange, rows)))]


@dataclass(frozen=True, kw_only=True)
class Gossip(_Audit):
    """Saves a number for each person."""

    def find(self, case):
        return [_finding(detail={"distances": case.train.floats("age")})]


@dataclass(frozen=True, kw_only=True)
class Greedy(_Audit):
    """Keeps the whole error of an audit for itself."""

    def find(self, case):
        return [_finding(p=0.5, reserved=1.0)]


SOUND = (SoundCoder, SoundAudit)
BROKEN = [
    (Repeats, "stability", "changes 3 encoded rows"),
    (Averages, "stability", "encoded rows"),
    (Loses, "undoes", "does not come back"),
    (Estranges, "to the person who held it", "knows no more which rows"),
    (CountsRows, "by persons", "the table has 1"),
    (LosesPersons, "by persons", "knows no more which rows"),
    (InventsPersons, "by persons", "the table has 1"),
    (PeeksSilently, "declares in its plan", "a look"),
    (Launders, "read off the rows", "called declared after it: age, height"),
    (Drops, "read off the rows", "decides what becomes of others: age"),
    (DropsConstants, "read off the rows", "of equal rows than its schema says"),
    (LearnsUnpaid, "read off the rows", "one row shows"),
    (KeepsDecimals, "read off the rows", "amount is written"),
    (Lies, "as little as they say", "sensitivity says 0.001"),
    (NoNoise, "through the noise alone", "without any"),
    (BehindTheDoor, "through the noise alone", "without any"),
    (ConstantNoise, "large, small or pure", "budget"),
    (Relabels, "columns and domains", "planned as integer, quasi"),
    (ReadsDomain, "columns and domains", "read off the rows"),
    (Boasts, "public result", "published on the card"),
    (IgnoresRows, "as many rows", "asked for 37"),
    (GlobalNumbers, "same output for the same seed", "global"),
    (ReturnsTable, "becomes a model", "Table lacks"),
    (NoPlan, "plans without data", "must return a Plan"),
    (ForgetsToSpend, "becomes a model", "'spends' is False"),
    (ByHeart, "other column names", "KeyError"),
    (WordyNumber, "finds something", "no finite number"),
    (NotANumber, "finds something", "no finite number"),
    (Nameless, "finds something", "needs a name"),
    (Twice, "finds something", "stands twice"),
    (WrongWay, "finds something", "better a Better"),
    (Collapsed, "finds something", "no point"),
    (Likely, "finds something", "no probability"),
    (NamesNobody, "finds something", "not there"),
    (AttacksTwice, "once, however many rows", "for each row they hold"),
    (Gossip, "no trace", "describes nobody"),
    (Greedy, "finds something", "no part of the error"),
    (SilentOnOthers, "other column names", "at least one Finding"),
]
