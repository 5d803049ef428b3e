"""What later steps leave of a syntactic promise (k, l, t). There is no arithmetic here, only preservation.

*Syntactic* means true of the released table itself, and is re-measured on it. *Derived* means that the table is a
function of one for which it was true: whoever holds that table could do the same, so linking by quasi-identifiers
succeeds with probability at most 1/k, and nothing else is promised.

A promise counts *persons* where the table it was measured on knows them, and else rows. Of k rows, of which one person holds at
most g, at least ceil(k/g) are different people; of l and t nothing follows (all may hold one value beside l - 1 others).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from hushtable.privacy import criteria
from hushtable.privacy.criteria import Counted, Grouped
from hushtable.table.rows import Rows


class Syntactic(StrEnum):
    """Kinds of syntactic promise."""

    K_ANONYMITY = "k_anonymity"
    K_MAP = "k_map"
    L_DIVERSITY = "l_diversity"
    T_CLOSENESS = "t_closeness"


class Form(StrEnum):
    """Whether a promise is about the released table or about one it was made from."""

    SYNTACTIC = "syntactic"
    DERIVED = "derived"


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A syntactic promise over named columns."""

    kind: Syntactic
    value: float
    quasi: tuple[str, ...]
    secret: str | None = None
    variant: str = ""
    """distinct, entropy or recursive for l; ordered or equal for t."""
    form: Form = Form.SYNTACTIC
    c: float = 0.0
    """For recursive l: the most frequent secret is rarer than c times all but the l - 1 most frequent."""
    counted: Counted = Counted.ROWS
    """Whom it counts: persons only after it was measured on a table that knows them."""

    @property
    def empty(self) -> bool:
        """Whether every table keeps it: a group of one hides nobody."""
        if self.kind is Syntactic.T_CLOSENESS:
            return self.value >= 1
        # With c below 1 even l = 1 says something: no secret is more frequent than c in a class.
        return self.value <= 1 and (self.variant != "recursive" or self.c > 1)

    @property
    def letter(self) -> str:
        """The letter that its number is known by: k, l or t."""
        return self.kind[0]

    @property
    def what(self) -> str:
        """In words, but for the columns it is over."""
        name = str(self.kind).replace("_", "-")
        text = f"{name} with {self.letter} = {self.value:g}" + (f" and c = {self.c:g}" if self.c else "")
        if self.variant:
            text = f"{self.variant} {text}"
        return f"{text} for {self.secret}" if self.secret else text

    def __str__(self) -> str:
        """In words."""
        return f"{self.what} over {', '.join(self.quasi)}" + (" (derived)" if self.form is Form.DERIVED else "")


class Effect(StrEnum):
    """What a step does to the classes of a table."""

    NOTHING = "leaves the table as it is"
    MERGE = "merges classes, generalizes further, or drops a quasi-identifier"
    SUPPRESS_CLASSES = "suppresses whole classes"
    EDIT_ROWS = "suppresses or edits single rows"
    SAMPLE = "keeps each row with a probability"
    SAMPLE_CLASSES = "keeps a fixed share, rounded up, of each class"
    SAMPLE_AND_DROP = "samples, then drops the classes smaller than k"
    SINGLE_PUBLIC = "replaces a generalized value by a public function of it"
    SINGLE_RAW = "replaces a generalized value by a statistic of the raw rows"
    UNIFORM = "replaces a generalized value by a random value inside it"
    CONDITIONAL = "replaces a generalized value by raw values of its class"
    NOISE_PER_CLASS = "adds one draw of noise to all members of a class"
    NOISE_PER_ROW = "adds noise to each row on its own"
    GENERATE = "trains a generator on the table and releases what it generates"
    JOIN = "joins another release, adds a quasi-identifier, or releases the same people a second time"
    COLUMN_GROUPS = "treats groups of columns separately"
    READ_RAW = "reads the raw rows again"


_KEEPS_SYNTACTIC = {
    Effect.NOTHING,
    Effect.MERGE,
    Effect.SUPPRESS_CLASSES,
    Effect.SAMPLE_AND_DROP,
    Effect.SINGLE_PUBLIC,
    Effect.SINGLE_RAW,
    Effect.NOISE_PER_CLASS,
}
_LOSES_ALL = {Effect.CONDITIONAL, Effect.JOIN, Effect.COLUMN_GROUPS, Effect.READ_RAW}
_LOSES_DERIVED = _LOSES_ALL | {Effect.SINGLE_RAW}


def unmet(promise: Promise, rows: Rows | Grouped) -> str:
    """Why a promise about the rows of a table does not hold, measured on it; empty if it does."""
    grouped = rows if isinstance(rows, Grouped) else Grouped(rows)
    quasi, secret = promise.quasi, promise.secret
    if promise.kind is Syntactic.K_ANONYMITY:
        classes = grouped.classes(quasi)
        value: float = criteria.k_anonymity(classes)
        holds = value >= promise.value or not len(classes.sizes)
    elif promise.kind is Syntactic.L_DIVERSITY and secret and promise.variant in ("distinct", "entropy"):
        measure = criteria.distinct_l if promise.variant == "distinct" else criteria.entropy_l
        value = measure(grouped.classes(quasi, secret), secret)
        holds = value >= promise.value - 1e-9
    elif promise.kind is Syntactic.L_DIVERSITY and secret and promise.variant == "recursive" and promise.c > 0:
        value = criteria.recursive_l(grouped.classes(quasi, secret), secret, promise.c)
        holds = value >= promise.value
    elif promise.kind is Syntactic.T_CLOSENESS and secret:
        value = criteria.t_closeness(grouped.classes(quasi, secret), secret, ordered=promise.variant == "ordered")
        holds = value <= promise.value + 1e-9
    else:
        wants = "a secret column and, for l-diversity, the variant distinct, entropy or recursive (with its c)"
        return f"{promise} cannot be measured on the table: k-anonymity can, and with {wants} l-diversity and t-closeness"
    return "" if holds else f"{promise} was promised, but the table has {value:g}"


def uncovered(promises: Iterable[Promise], quasi: Iterable[str]) -> str:
    """Which quasi-identifiers no promise speaks of, in words; empty if there are none, or no promises."""
    covered = {name for promise in promises for name in promise.quasi}
    bare = [name for name in quasi if covered and name not in covered]
    return f"the promise does not cover the quasi-identifiers {', '.join(bare)}" if bare else ""


def measured(promise: Promise, grouped: Grouped) -> Promise:
    """The promise with what is counted when it is measured on these rows."""
    return replace(promise, counted=grouped.counted)


def of_people(promise: Promise, rows: int) -> Promise | None:
    """What a promise says of people who hold at most so many rows each; None if that is nothing."""
    if promise.counted is Counted.PERSONS or rows == 1:
        return promise
    if promise.kind in (Syntactic.L_DIVERSITY, Syntactic.T_CLOSENESS):
        return None
    weaker = replace(promise, value=math.ceil(promise.value / rows), counted=Counted.PERSONS)
    return None if weaker.empty else weaker


def preserve(promise: Promise, effect: Effect, beta: float = 1.0) -> Promise | None:
    """What is left of a promise after a step; None if nothing is, until it is measured again."""
    if effect in _LOSES_ALL:
        return None
    if promise.form is Form.DERIVED:
        return None if effect in _LOSES_DERIVED else promise
    if promise.kind in (Syntactic.L_DIVERSITY, Syntactic.T_CLOSENESS):
        if effect in (Effect.UNIFORM, Effect.GENERATE):
            return replace(promise, form=Form.DERIVED)
        return promise if _keeps_secret(promise, effect) else None
    if effect in _KEEPS_SYNTACTIC:
        return promise
    if effect is Effect.SAMPLE:
        # A class of n rows becomes Bin(n, beta): only the unsampled table still has k of them.
        return replace(promise, kind=Syntactic.K_MAP, form=Form.DERIVED) if beta < 1 else promise
    if effect is Effect.SAMPLE_CLASSES:
        return replace(promise, value=math.ceil(beta * promise.value - 1e-12))
    return replace(promise, form=Form.DERIVED)


def _keeps_secret(promise: Promise, effect: Effect) -> bool:
    """Whether l or t survive unmeasured: both on merging, l also when whole classes go (t's reference then changes).

    Merging classes that one person is in may give all of their people a value in common, so by persons it keeps neither.
    """
    if effect in (Effect.NOTHING, Effect.SINGLE_PUBLIC):
        return True
    if effect is Effect.MERGE:
        return promise.variant != "recursive" and promise.counted is Counted.ROWS
    return effect is Effect.SUPPRESS_CLASSES and promise.kind is Syntactic.L_DIVERSITY
