"""What people give by mistake, and what we take for what they meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from hushtable.display import meant
from hushtable.errors import Fault, InputError
from hushtable.table.rows import Rows
from hushtable.table.table import Table


def require_tables(**given: object) -> None:
    """InputError names every argument that is no table, and says how a frame becomes one."""
    odd = {name: type(value).__name__ for name, value in given.items() if not isinstance(value, Table)}
    if odd:
        reason = "expected a Table, got a {}; hushtable.read makes a table of a frame or a file"
        raise InputError([Fault(name, reason.format(kind)) for name, kind in odd.items()])


def require_rows(**given: object) -> None:
    """The same for rows wherever they are."""
    require_tables(**{name: value for name, value in given.items() if not isinstance(value, Rows)})


def require_seed(seed: object) -> None:
    """A whole number that is not negative, or None."""
    if seed is not None and not (isinstance(seed, Integral) and int(seed) >= 0):
        raise InputError(f"a seed is a whole number and not negative, got {seed!r}", where="seed")


def require_options(kind: type[Any], given: Iterable[str], but: Iterable[str] = ()) -> None:
    """InputError where a name is no field of a dataclass of options, or one that no file may hold."""
    known = {one.name for one in fields(kind)}.difference(but)
    if odd := sorted(set(given) - known):
        raise InputError(
            f"there is no option {', '.join(odd)}{meant(odd, known)}; there are {', '.join(sorted(known))}", where="options"
        )


def several(given: str | Real | Iterable[Any]) -> tuple[Any, ...]:
    """The items of a list; one text or number is a list of one."""
    return (given,) if isinstance(given, (str, Real)) else tuple(given)
