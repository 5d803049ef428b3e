"""The contracts of a method: a step is planned without data, fitted on a vault, and becomes a code or a model.

Every method of this field is *encode, core, decode*, so there are two kinds of step: a coder, which is invertible, and
a core, where private becomes releasable. A step is a frozen, keyword-only dataclass; its fields are its knobs, each
with a docstring under it.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Protocol, Self, get_type_hints, runtime_checkable

import numpy as np

from hushtable.display import meant
from hushtable.errors import Fault, InputError, PlanError
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.guarantee import Claim
from hushtable.privacy.preserve import Effect, Promise
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Scheme, Vault
from hushtable.table.arrays import Array
from hushtable.table.columns import Column
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema
from hushtable.table.table import Table

Arrays = dict[str, Array]
Given = Mapping[str, str]


class Reads(StrEnum):
    """How a step looks at the rows, and so where they may be (``table.rows``)."""

    COUNTS = "counts"
    """Additive and counted questions alone: wherever the rows are."""
    BATCHES = "batches"
    """Different tuples with their counts, and batches of rows: wherever the rows are."""
    COLUMNS = "columns"
    """All rows at once of the columns that it changes or protects, and batches of all others: wherever those columns fit."""
    MEMORY = "memory"
    """All rows at once."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a step intends, worked out without reading a row."""

    schema: Schema
    """Of the table that comes out."""
    events: tuple[Event, ...] = ()
    """The accesses to the rows that it will make, for an allowance as given."""
    adaptive: bool = False
    """Whether noisy answers decide how many queries there will be.

    The events then list all that there may be, each made at most once, if ``slots``; else they show one of each kind, and the whole
    price, within which the vault keeps whatever is asked for.
    """
    behind: bool = False
    """Whether its events are accesses to the rows behind the released table that it is given (``Vault.origin``): these are paid."""
    slots: bool = False
    """For an adaptive step: whether the events list every query that it may make."""
    effect: Effect = Effect.NOTHING
    """What it does to a syntactic promise that the table already carries."""
    beta: float = 1.0
    """Share of the rows it keeps, where the effect is a sampling."""
    strata: tuple[str, ...] = ()
    """The columns whose values make the classes that it samples, where it samples every class by itself."""
    stability: int | None = None
    """For a coder: how many encoded rows one row can change. It must be declared."""
    one_way: bool = False
    """For a coder: whether nothing leads back, so that what it made is what leaves, and coders before it are not undone."""
    lossy: bool = False
    """For a coder: whether it leads back only about to what it was given, as a way back that was learnt does."""
    spans: bool = False
    """For a coder: whether it, and the coders before it, are undone only after the last core, so that every core works on what it
    made. If it read raw rows, the release did: what a core on the way promised is then lost."""
    promises: tuple[Promise, ...] = ()
    """Syntactic promises it makes; each is re-measured on the table that comes out, or the release is refused.

    Where the table knows persons (``Table.persons``), by persons: a step must hand them on with the rows, or less is promised.
    """
    moves: tuple[str, ...] = ()
    """Columns whose values it disturbs or moves to other rows; whether others leave as they were is seen on the release."""
    reads: Reads = Reads.MEMORY
    """How it looks at the rows; a step that does not say so has them all in memory."""
    samples: Scheme = Scheme.NONE
    """How its output samples the rows; such a sample stays secret when another core follows."""
    public: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


@runtime_checkable
class Code(Protocol):
    """A fitted coder."""

    @property
    def schema(self) -> Schema:
        """Of the encoded table."""
        ...

    @property
    def stability(self) -> int:
        """How many encoded rows one row can change. There is no default: an undeclared one is refused."""
        ...

    def apply(self, table: Table) -> Table:
        """Encode."""
        ...

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Decode; has the schema that ``apply`` started from. It is not called where the plan says ``one_way``."""
        ...


@runtime_checkable
class Model(Protocol):
    """A fitted core. It keeps no rows unless it is the anonymized table itself."""

    @property
    def schema(self) -> Schema:
        """Of the tables it samples."""
        ...

    def sample(self, n: int | None, rng: np.random.Generator, given: Given | None = None) -> Table:
        """``n`` rows, or as many as the model itself holds fit to publish; ``given`` fixes columns to values."""
        ...

    def result(self) -> dict[str, Any]:
        """What the core chose, fit for the public card."""
        ...

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Everything needed to rebuild it: plain JSON values, and arrays."""
        ...

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        ...


@runtime_checkable
class HandsOn(Protocol):
    """A model that is rows out of memory, changed one by one: they leave as they are handed on, and are never one table."""

    @property
    def handed_on(self) -> Rows:
        """The rows, the same ones each time they are read."""
        ...


@runtime_checkable
class Storable(Protocol):
    """What can be written to a model file: every model, and those codes that are to be undone after one that was read back."""

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """Everything needed to rebuild it: plain JSON values, and arrays."""
        ...

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        ...


class Step(ABC):
    """A line of a recipe."""

    quick: ClassVar[Mapping[str, object]] = {}
    """Knobs under which it takes next to no time, whatever that makes of the result: what the contract is checked with."""
    extra: ClassVar[str] = ""
    """The extra of this package (``neural``) without which it can be planned, but neither fitted nor drawn from; empty if none."""

    reads_text: ClassVar[bool] = False
    """Whether it is shown the columns of free text; they are hidden from every other step."""
    common: ClassVar[frozenset[str]] = frozenset()
    """Knobs that mean the same in every step that has them (a public model), and are set for all of them at once."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Knobs that are a choice may be given as text, whoever makes the step; ``__post_init__`` sees the choice."""
        super().__init_subclass__(**more)
        # A subclass without checks of its own keeps its parent's.
        own = getattr(cls, "__post_init__", lambda self: None)

        def checked(self: Step) -> None:
            _choose(self)
            own(self)

        cls.__post_init__ = checked  # type: ignore[attr-defined]

    @property
    def spends(self) -> bool:
        """Whether it needs a part of the privacy budget."""
        return False

    @property
    def relation(self) -> Relation:
        """The neighbouring relation it is run under unless another is asked for; some steps are proven for one only."""
        return Relation.ADD_REMOVE

    @property
    def learns_domains(self) -> bool:
        """Whether it may be given domains that were read off the rows, because it pays to learn its own."""
        return False

    @abstractmethod
    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Without data: the schema that comes out and the events intended; refuses what it cannot do, by column name."""

    @classmethod
    def knobs(cls) -> dict[str, str]:
        """Each knob with the docstring that stands under it, here or in the class it is inherited from."""
        return documented_knobs(cls)


def documented_knobs(cls: type) -> dict[str, str]:
    """Each field of a dataclass with the docstring that stands under it."""
    texts: dict[str, str] = {}
    for kind in reversed([kind for kind in cls.__mro__ if is_dataclass(kind)]):
        texts |= _documented(kind)
    return {f.name: texts[f.name] for f in knob_fields(cls) if f.name in texts}


def knob_fields(cls: type) -> list[Field[Any]]:
    """The fields of a dataclass, its own before those that it inherits."""
    own = inspect.get_annotations(cls)
    return sorted(fields(cls), key=lambda f: f.name not in own)


def _choose(step: Step) -> None:
    """Text for a choice becomes the choice; InputError names what there is to choose from."""
    faults = []
    for name, kind in _choices(type(step)).items():
        value = getattr(step, name)
        try:
            object.__setattr__(step, name, kind(value))
        except ValueError:
            rule = f"must be one of {', '.join(kind)}, got {value!r}"
            faults.append(Fault(f"{type(step).__name__}.{name}", rule))
    if faults:
        raise InputError(faults)


@cache
def _choices(kind: type) -> dict[str, type[StrEnum]]:
    hints = get_type_hints(kind)
    types = {field.name: hints[field.name] for field in fields(kind)}
    return {name: hint for name, hint in types.items() if isinstance(hint, type) and issubclass(hint, StrEnum)}


@cache
def _documented(kind: type) -> dict[str, str]:
    """The annotated names of a class, each with the docstring under it."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    texts = {}
    for line, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            doc = following.value if isinstance(following, ast.Expr) else None
            text = doc.value if isinstance(doc, ast.Constant) and isinstance(doc.value, str) else ""
            texts[line.target.id] = " ".join(text.split())
    return texts


class Coder(Step):
    """A step that changes how rows are written, not what may be released; invertible, unless its plan says ``one_way``."""

    @abstractmethod
    def fit(self, vault: Vault, rng: np.random.Generator) -> Code:
        """Read the rows only through the vault."""


class Core(Step):
    """The step where private becomes releasable."""

    keeps_groups: ClassVar[bool] = False
    """Whether its model knows which pairs of values are impossible, so that a column of groups (an industry) is worth having beside
    the column of codes that determines it: with other columns, groups take far less noise than codes."""

    @abstractmethod
    def fit(self, vault: Vault, rng: np.random.Generator) -> Model:
        """Read the rows only through the vault."""


@dataclass(frozen=True, kw_only=True)
class PrivateCore(Core):
    """A core that is differentially private, and spends all of the allowance that its share of the budget gives it."""

    share: float = 1.0
    """Its part of the budget relative to the other steps'."""

    def __post_init__(self) -> None:
        """A positive share."""
        check_knobs(self)

    @property
    def spends(self) -> bool:
        """All of its allowance."""
        return True


def reads_places(budget: Allowance | None) -> Reads:
    """For a step that goes by the places of rows: in memory where a key says whose they are.

    There the places are drawn anew. As rows are found elsewhere, one person more may move the rows of all others.
    """
    return Reads.MEMORY if budget is not None and budget.unit.by is not None else Reads.BATCHES


def check_knobs(step: object, **checks: tuple[bool, str]) -> None:
    """Raise one InputError for all knobs that are out of range: ``k=(self.k >= 1, "must be at least 1")``.

    A share of the budget is checked whether it is named or not.
    """
    if (share := getattr(step, "share", None)) is not None:
        checks["share"] = (share > 0, "must be positive")
    faults = [
        Fault(f"{type(step).__name__}.{name}", f"{rule}, got {getattr(step, name)!r}")
        for name, (holds, rule) in checks.items()
        if not holds
    ]
    if faults:
        raise InputError(faults)


def numbered(step: Step, knob: str) -> dict[str, float]:
    """A knob that holds ``column=number`` items, none negative, as a mapping; one InputError for all that are something else."""
    numbers, faults = {}, []
    for item in getattr(step, knob):
        name, _, text = item.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if name.strip() and 0 <= number < math.inf:
            numbers[name.strip()] = number
        else:
            faults.append(Fault(f"{type(step).__name__}.{knob}", f"expected column=number with a number from 0 on, got {item!r}"))
    if faults:
        raise InputError(faults)
    return numbers


def given_arrays(schema: Schema, given: Given | None, rows: int) -> dict[str, Array]:
    """For each column that a condition fixes, so many rows of its value; InputError lists what is no value of its column."""
    arrays, faults = {}, []
    for name, text in (given or {}).items():
        if name not in schema:
            faults.append(
                Fault("given", f"there is no column {name!r}{meant(name, schema.names)}; the model has {', '.join(schema.names)}")
            )
            continue
        column = schema[name]
        try:
            value = column.number(text) if column.numeric else column.levels.index(text)
            array = np.full(rows, value, column.dtype)
            if column.outside(array).any():
                raise ValueError(text)
        except (ValueError, OverflowError):
            faults.append(Fault("given", f"{text!r} is no value of {name}"))
            continue
        arrays[name] = array
    if faults:
        raise InputError(faults)
    return arrays


def chosen(
    schema: Schema,
    columns: tuple[str, ...],
    default: tuple[str, ...],
    step: str,
    what: str,
    fits: Callable[[Column], bool] = lambda column: True,
    role: str = "quasi",
) -> tuple[str, ...]:
    """The columns a step works on: those named, or the default. Refuses by name what is unknown or does not fit, and nothing."""
    unknown = [name for name in columns if name not in schema]
    if unknown:
        near = meant(unknown, schema.names)
        raise PlanError(
            f"{step}: there is no column {', '.join(map(repr, unknown))}{near}; the table has {', '.join(schema.names)}"
        )
    picked = columns or default
    twice = sorted({name for name in picked if picked.count(name) > 1})
    if twice:
        raise PlanError(f"{step}: {', '.join(map(repr, twice))} is named twice")
    if not picked:
        raise PlanError(f"{step}: no column to work on. Give {what} the role {role!r} in the schema, or name columns")
    odd = [name for name in picked if not fits(schema[name])]
    if odd:
        raise PlanError(f"{step}: {', '.join(odd)} is not {what}")
    return picked
