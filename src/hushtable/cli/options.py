"""Options that several commands share, each declared once, and how their texts are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from hushtable.engine.compute import Compute, bytes_of
from hushtable.errors import InputError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
Data = Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.", show_default=False)]
SchemaFile = Annotated[
    Path, typer.Option("--schema", help="The schema of the table; 'hush schema' drafts one.", show_default=False)
]
Released = Annotated[
    Path, typer.Option("--release", help="A release folder, a data file, or a pattern of several.", show_default=False)
]
Person = Annotated[
    str | None, typer.Option(help="The key column that identifies persons, if they hold several rows.", show_default=False)
]
RowsPerPerson = Annotated[int, typer.Option(help="The most rows one person may hold.")]
RowsRead = Annotated[
    int | None,
    typer.Option("--rows-per-person", min=1, help="The most rows of one person that are read; all of them when absent."),
]
RowsSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Fixes which rows of a person are read, where only some are, as that of a release does."),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file holds the column names; without them they are column_1, column_2, ...",
        show_default="judged by the lines below",
    ),
]
Names = Annotated[
    Path | None,
    typer.Option(
        "--names",
        help="A file of names for the columns of a file without a header: one on each line, or a CSV or JSON list.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="That of a text file that is not UTF-8: cp1252, latin-1, utf-16.", show_default=False),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="What stands between two cells of a text file: ';' or tab.", show_default="told by its lines"),
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="The decimal mark of all numbers: '.' or ','.", show_default="told by the values")
]
Index = Annotated[
    bool, typer.Option("--index", help="The first column has no name because it numbers the rows; it is called row_id.")
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Fixes everything but the noise of differential privacy and, with --epsilon, the hold-out."),
]
AuditSeed = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Run the code that a recipe inside a release names, not only the steps of hushtable.")
]
StepSettings = Annotated[list[str] | None, typer.Option("--set", help="A knob: k=10, or step.knob=value. May be repeated.")]
OnlyAudits = Annotated[list[str] | None, typer.Option(help="Only this audit ('hush methods' lists them). May be repeated.")]
LearnDomain = Annotated[
    bool, typer.Option("--learn-domain", help="Learn kinds and domains that are marked as observed, for a tenth of the budget.")
]
AllowCopies = Annotated[
    str | None,
    typer.Option(
        help="Release rows of real people as they are, which is refused otherwise; the reason stands on the card.",
        metavar="REASON",
        show_default=False,
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="Where the rows are worked on: memory, duckdb (tables of any size), local\\[n], spark://HOST:PORT or sc://HOST:PORT; "
        "auto takes memory where the rows fit.",
    ),
]
Memory = Annotated[str | None, typer.Option(help="The most memory to use, as 4GB; half of the machine's when absent.")]
Workers = Annotated[int | None, typer.Option(help="Workers side by side; one for each core when absent.")]
WorkFolder = Annotated[
    Path | None, typer.Option("--work", help="A folder for what does not fit into memory; it is emptied at the end.", metavar="DIR")
]
TableFormat = Annotated[
    str | None,
    typer.Option(
        "--format", help="csv, csv.gz or parquet; when absent csv, or parquet for a release in parts.", show_default=False
    ),
]
PageFormats = Annotated[str, typer.Option("--format", help="Pages besides audit.json, with commas: html, md.")]


ALIASES = {"--real": "--train", "--constraint": "--gate", "--gate": "--constraint"}
"""Names that an option has in other commands, or had before, and the one that help lists. A command's own option goes first."""


class Command(TyperCommand):
    """A command that takes an option by its former name too, and by that of the same option of another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """With the names that this command has."""
        own = {name for parameter in self.params for name in parameter.opts}
        return super().parse_args(ctx, [_own_name(word, own) for word in args])


def _own_name(word: str, own: set[str]) -> str:
    name, between, value = word.partition("=")
    other = ALIASES.get(name, name)
    return f"{other}{between}{value}" if name not in own and other in own else word


def compute_of(engine: str, memory: str | None, workers: int | None, work: Path | None) -> Compute:
    """Where the rows are worked on, as the options say."""
    return Compute(engine=engine, memory=None if memory is None else bytes_of(memory), workers=workers, work=work)


def settings_of(items: list[str] | None) -> dict[str, str]:
    """What ``--set knob=value`` was given."""
    return assignments_of(items, "knob=value", "--set")


def assignments_of(items: list[str] | None, expected: str, option: str) -> dict[str, str]:
    """Names and values of an option that may be repeated."""
    given = items or []
    if wrong := [item for item in given if "=" not in item]:
        raise InputError(f"expected {expected}, got {', '.join(wrong)}", where=option)
    return dict(item.split("=", 1) for item in given)


def names_of(text: str | None) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def numbers_of(text: str, option: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(item) for item in text.split(",")]
    except ValueError:
        raise InputError(f"expected numbers with commas between them, got {text!r}", where=option) from None


def whole_numbers_of(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them."""
    numbers = numbers_of(text, option)
    if not all(number.is_integer() for number in numbers):
        raise InputError(f"expected whole numbers with commas between them, got {text!r}", where=option)
    return [int(number) for number in numbers]


def formats_of(text: str) -> list[str]:
    """Formats of a page with commas between them."""
    formats = names_of(text)
    odd = [name for name in formats if name not in ("html", "md")]
    if odd or not formats:
        raise InputError(f"expected html or md, got {', '.join(odd) or 'nothing'}", where="--format")
    return formats
