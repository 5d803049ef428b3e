"""Options that several commands share, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.errors import InputError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
Data = Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.", show_default=False)]
Person = Annotated[
    str | None, typer.Option(help="The key column that tells persons apart, if they hold several rows.", show_default=False)
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Fixes everything but the noise of differential privacy and, with --epsilon, the hold-out."),
]

Trust = Annotated[
    bool, typer.Option("--trust", help="Run the code that a recipe inside a release names, not only the steps of hushtable.")
]


def settings_of(items: list[str]) -> dict[str, str]:
    """What ``--set knob=value`` was given."""
    wrong = [item for item in items if "=" not in item]
    if wrong:
        raise InputError(f"expected knob=value, got {', '.join(wrong)}", where="--set")
    return dict(item.split("=", 1) for item in items)


def numbers_of(text: str, option: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(item) for item in text.split(",")]
    except ValueError:
        raise InputError(f"expected numbers with commas between them, got {text!r}", where=option) from None


def whole_numbers_of(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them."""
    found = numbers_of(text, option)
    if not all(number.is_integer() for number in found):
        raise InputError(f"expected whole numbers with commas between them, got {text!r}", where=option)
    return [int(number) for number in found]


def formats_of(text: str, known: tuple[str, ...] = ("html", "md")) -> list[str]:
    """Formats with commas between them."""
    found = [item.strip() for item in text.split(",") if item.strip()]
    odd = [item for item in found if item not in known]
    if odd or not found:
        raise InputError(f"expected {' or '.join(known)}, got {', '.join(odd) or 'nothing'}", where="--format")
    return found
