"""l-diversity and t-closeness of secret columns: the knobs that several anonymizers share, and the promises that follow."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from hushtable.errors import PlanError
from hushtable.pipeline.step import chosen
from hushtable.privacy.criteria import has_order
from hushtable.privacy.preserve import Promise, Syntactic
from hushtable.table.columns import FREE, Column
from hushtable.table.schema import Schema


class Diversity(StrEnum):
    """What counts as l different secrets in a class (Machanavajjhala et al. 2007)."""

    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


L_RULE = "must be more than 1 (a whole number unless by entropy), or 0 for none"


def fits(l: float, diversity: Diversity) -> bool:  # noqa: E741
    """Whether l asks for something that can be counted, or for nothing (0)."""
    return l == 0 or (l > 1 and (diversity == Diversity.ENTROPY or float(l).is_integer()))


def moves(column: Column) -> bool:
    """Whether t counts how far a value moves; else all changes count alike."""
    return has_order(column) and not column.generalized


def protected(step: str, schema: Schema, named: tuple[str, ...], columns: Iterable[str], *, asked: bool) -> tuple[str, ...]:
    """The secrets that l and t speak of, if anything is asked; refuses those that the step itself would change."""
    if not asked and not named:
        return ()
    what = "a column with values to compare (no text or key)"
    picked = chosen(schema, named, schema.secrets, step, what, lambda column: column.kind not in FREE, "secret")
    both = [name for name in picked if name in set(columns)]
    if both:
        raise PlanError(f"{step}: {', '.join(both)} cannot be changed as a quasi-identifier and be a secret that l and t protect")
    return picked if asked else ()


def promises(
    schema: Schema,
    secrets: Iterable[str],
    quasi: tuple[str, ...],
    *,
    l: float,  # noqa: E741
    diversity: Diversity,
    c: float,
    t: float,
) -> tuple[Promise, ...]:
    """l-diversity and t-closeness of each secret, as far as they are asked for; t by the order of its values where there is one."""
    promised = []
    for name in secrets:
        if l > 0:
            own = c if diversity == Diversity.RECURSIVE else 0.0
            promised.append(Promise(kind=Syntactic.L_DIVERSITY, value=l, quasi=quasi, secret=name, variant=str(diversity), c=own))
        if t < 1:
            variant = "ordered" if moves(schema[name]) else "equal"
            promised.append(Promise(kind=Syntactic.T_CLOSENESS, value=t, quasi=quasi, secret=name, variant=variant))
    return tuple(promised)
