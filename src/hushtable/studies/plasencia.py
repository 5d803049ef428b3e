"""What the studies of one thesis share: its tables and which of them are here, its generators, and when two numbers differ.

M. N. Plasencia Palacios, Synthetic tabular data at the intersection of AI and privacy, thesis, University of Trieste 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hushtable.audits import planted
from hushtable.encode.digits import Digits
from hushtable.evidence.confidence import Rate
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.studies.report import Number, Verdict, over_runs
from hushtable.studies.tables import at_hand
from hushtable.table.table import Table

SOURCE = (
    "M. N. Plasencia Palacios, Synthetic Tabular Data at the Intersection of AI and Privacy: A Formal Evaluation of Disclosure "
    "Risks and Protection Mechanisms, thesis, University of Trieste 2025"
)
ADULT, TEXAS, CENSUS = "Adult", "Texas", "Census"
FILES = {ADULT: "adult", TEXAS: "texas_inpatient"}
TRANSFORMER = "realtabformer" if "realtabformer" in recipes.names() else "argn"
"""What stands for REaLTabFormer."""
CODES = "the code lists of the public use file; round bounds for days and charges"
ELSEWHERE = {
    TEXAS: "the table is another one: 50,000 stays by 18 columns here, 60,000 by 28 there",
    CENSUS: "the census of 1940 (75,000 rows, 37 columns) is not to be had here",
}
OTHER_GENERATOR = "another generator: an autoregressive network without attention (argn) in place of REaLTabFormer"
PEOPLE = "none of the published tables is at hand: these are the people of a fictional town"


@cache
def loaded(name: str, folder: str | None, rows: int | None) -> Table:
    """The table of this name, declared: what a private generator may take for public; remembered in each process."""
    table = at_hand((name,), folder, rows)[0][name]
    return table.declared(by=CODES) if name == FILES[TEXAS] else table


def tables(folder: str | None, rows: int | None) -> tuple[dict[str, str], list[str]]:
    """By the source's name the tables that are here, and why the others are not; the bundled town if none is."""
    found, skipped = at_hand(tuple(FILES.values()), folder, rows)
    here = {title: name for title, name in FILES.items() if name in found}
    return here or {name: name for name in found}, [*skipped, f"{CENSUS}: {ELSEWHERE[CENSUS]}"]


def unrefined(recipe: str) -> dict[str, int]:
    """Refinement is ours: publications have draws as they are."""
    return {"refine": 0} if any(hasattr(step, "refine") for step in recipes.load(recipe).steps) else {}


def climbing(*, quick: bool) -> Recipe:
    """What is trained too far: the transformer; where little time is to be spent, a network without attention over digits."""
    if not quick and planted.climbs(TRANSFORMER):
        return recipes.load(TRANSFORMER)
    return Recipe(recipe="argn over digits", steps=(Digits(), *recipes.load("argn").steps))


def why_not(data: str, generator: str = "", quick: str = "") -> str:
    """Why a number of ours cannot be compared with the published one: the table, the generator, or how little was run."""
    if data not in (ADULT, *ELSEWHERE):
        return PEOPLE
    if data in ELSEWHERE:
        return ELSEWHERE[data]
    return OTHER_GENERATOR if generator.startswith("argn") else quick


def number(runs: Sequence[Rate], **named: object) -> Number:
    """One run with the interval that it has, several with that of their mean; without a run only what is published."""
    if len(runs) == 1:
        return Number(ours=runs[0].value, low=runs[0].low, high=runs[0].high, **named)  # type: ignore[arg-type]
    return Number.over([one.value for one in runs], **named)


def mean(runs: Sequence[Rate]) -> Rate | None:
    """One run as it is; of several their mean, with its interval."""
    if len(runs) < 2:
        return runs[0] if runs else None
    value, low, high = over_runs([one.value for one in runs])
    return None if value is None or low is None or high is None else Rate(value, low, high)


def above(one: Rate | None, other: Rate | None) -> Verdict:
    """Whether one lies above the other, as far as their intervals can show."""
    if one is None or other is None:
        return Verdict.UNDECIDED
    if one.low > other.high:
        return Verdict.CONFIRMED
    return Verdict.CONTRADICTED if one.high < other.low else Verdict.UNDECIDED


def shown(one: Rate) -> str:
    """A number with its interval."""
    return f"{one.value:.3g} ({one.low:.3g} to {one.high:.3g})"
