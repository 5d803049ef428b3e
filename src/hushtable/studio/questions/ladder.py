"""The ladder of one column: its values, the groups of each level, and what a level leaves of the people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hushtable.api.evaluate import choices
from hushtable.errors import HushError, InputError
from hushtable.studio.questions.explore import judge_of
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.table import builders
from hushtable.table.builders import Group, Preview
from hushtable.table.columns import CODED, FREE, Column, Facet, Kind, Role
from hushtable.table.hierarchy import FileTree
from hushtable.table.trees import Level, build

PAGE = 100
"""So many values are listed at once."""
GROUPS = 40
"""So many groups of a level are listed."""


def ladders(opened: Opened, *, watch: Watcher) -> list[dict[str, Any]]:
    """The columns whose values may become coarser: those that others may know, by their place in the schema."""
    return [
        {"number": number, "name": column.name, "kind": str(column.kind), "own": column.hierarchy is not None}
        for number, column in enumerate(opened.table.schema)
        if column.role is Role.QUASI and column.kind not in FREE
    ]


def ladder(
    opened: Opened, *, watch: Watcher, column: str, page: int = 0, all_values: bool = False, person: str | None = None
) -> dict[str, Any]:
    """All that is shown of one column. Values of fewer than five people that only the rows tell are counted, unless asked for."""
    own = opened.table.schema[column]
    about = {
        "name": own.name, "kind": str(own.kind), "observed": own.observed, "origin": _origin(own),
        "spec": None if own.hierarchy is None else own.hierarchy.spec(),
        **_suggestions(own),
    }  # fmt: skip
    try:
        found = preview_of(opened, column, person)
    except InputError as error:
        # A hierarchy that somebody wrote into the schema: it is said what is wrong, beside what would mend it.
        return about | {"wrong": [f"{fault.where}: {fault.reason}" for fault in error.faults]}
    seen = Seen(own, found, all_values)
    shown = seen.values
    return about | {
        "wrong": [],
        "values": [{"label": group.label, "people": group.people} for group in shown[page * PAGE : (page + 1) * PAGE]],
        "page": page, "pages": max(1, -(-len(shown) // PAGE)),
        "hidden": len(found.levels[0]) - len(shown), "unlisted": found.sizes[0] - len(found.levels[0]),
        "missing": found.missing,
        "levels": [
            {
                "size": size,
                "groups": [{"label": g.label, "people": g.people} for g in groups if not seen.hides(g.label)][:GROUPS],
                "leaves": leaves,
            }
            for size, groups, leaves in zip(found.sizes, found.levels, _leaves(opened, own, found, person), strict=True)
        ],
        "order": [None if seen.hides(level) else level for level in own.levels[:GROUPS]] if own.kind is Kind.ORDINAL else [],
        "ordered": len(own.levels) if own.kind is Kind.ORDINAL else 0,
    }  # fmt: skip


def beside(
    opened: Opened, *, watch: Watcher, column: str, levels: dict[str, int], person: str | None = None
) -> list[dict[str, int]]:
    """What each level of a column leaves together with the other columns, these at the levels that are looked at."""
    found = judge_of(opened, {} if person is None else {"person": person})
    fitting = {name: min(level, found.heights[name]) for name, level in levels.items() if name in found.heights}
    return [{"classes": choice.classes, "alone": choice.alone} for choice in found.along(fitting, column)]


class Seen:
    """Which values of a column may be shown: a few people's only where they are in a declared list, or were asked for."""

    def __init__(self, column: Column, found: Preview, all_values: bool) -> None:
        self.found, self._hidden = found, set[str]()
        if not all_values and (column.kind not in CODED or column.observed):
            self._hidden = {group.label for group in found.levels[0] if group.people is None}

    def hides(self, label: str) -> bool:
        """Whether this is a value of a few people."""
        return label in self._hidden

    @property
    def values(self) -> Sequence[Group]:
        """The values that are shown."""
        return [group for group in self.found.levels[0] if group.label not in self._hidden]


def preview_of(opened: Opened, column: str, person: str | None) -> Preview:
    """What the present hierarchy of a column makes of the rows, worked out once."""
    key = f"preview of {column} by {person}"
    if key not in opened.cache:
        opened.cache[key] = builders.preview(opened.held(person), column)
    found: Preview = opened.cache[key]
    return found


def climbing(column: Column) -> dict[str, list[str]]:
    """For each value of a list of values its groups from level 1 up, without ``*``."""
    if isinstance(tree := column.hierarchy, FileTree):
        above_of = {row[0]: list(row[1:-1]) for row in tree.rows}
        return {value: above_of[value] for value in column.levels}
    above = build(column)[:-1]
    return {value: [_cell(level, code) for level in above] for code, value in enumerate(column.levels)}


def _cell(level: Level, code: int) -> str:
    return level.cells[int(level.codes[code])].text


def _origin(column: Column) -> str:
    if column.hierarchy is None:
        return "derived"
    return "rows" if Facet.HIERARCHY in column.drafted else "declared"


def _suggestions(column: Column) -> dict[str, Any]:
    """What a builder begins with."""
    if column.kind is Kind.DATE:
        return {"builder": "dates", "units": list(builders.UNITS)}
    if column.kind in CODED:
        alike = {len(level) for level in column.levels}
        # Codes are all about as long as each other, and hold digits: only of those a prefix means something.
        codes = len(alike) == 1 and min(alike) > 1 and all(any(c.isdigit() for c in level) for level in column.levels)
        return {"builder": "groups", "lengths": list(builders.prefix(column).lengths) if codes else []}
    return {"builder": "intervals", "widths": [float(width) for width in builders.suggested_widths(column)]}


def _leaves(opened: Opened, column: Column, found: Preview, person: str | None) -> list[dict[str, int] | None]:
    """For each level the classes that it makes of this column alone, and the people who are alone in one."""
    nothing: list[dict[str, int] | None] = [None] * len(found.levels)
    if opened.live.rows < 2:
        return nothing
    key = f"leaves of {column.name} by {person}"
    if key not in opened.cache:
        try:
            alone = choices(opened.at_hand(person), k=2, settings={"columns": (column.name,)})
        except HushError:
            # A column that cannot be generalized leaves nothing to count.
            return nothing
        opened.cache[key] = [{"classes": choice.classes, "alone": choice.alone} for choice in alone.along({}, column.name)]
    leaves: list[dict[str, int] | None] = opened.cache[key]
    return leaves
