"""Hierarchies that are built, or changed by hand: the schema that has them and their file, as text for the server to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hushtable.api.hierarchy import hierarchy
from hushtable.errors import Fault, InputError
from hushtable.studio.questions.ladder import PAGE, Seen, climbing, preview_of
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.studio.words import levels as said
from hushtable.table.builders import preview, write_tree
from hushtable.table.cell import ANY_TEXT
from hushtable.table.columns import CODED, Column, Facet, Kind, Levels
from hushtable.table.hierarchy import FileTree, lint, read_file


def build(
    opened: Opened,
    *,
    watch: Watcher,
    column: str,
    spec: tuple[str, Any],
    path: str,
    fill: bool = False,
    all_values: bool = False,
    person: str | None = None,
) -> dict[str, Any]:
    """The hierarchy that a builder makes of what it is given, or the file of somebody; ``path`` is what its file will be called.

    Values that a file has no line for are a fault that names them, or with ``fill`` groups of their own.
    """
    way, given = spec
    if way == "derived":
        own = opened.table.schema[column]
        return _changed(opened, replace(own, hierarchy=None, drafted=own.drafted - {Facet.HIERARCHY}))
    if way == "file":
        return _of_file(opened, column, Path(given), path, fill, all_values)
    found = hierarchy(opened.held(person), column, {way: given})
    own, tree = found.column, found.column.hierarchy
    if isinstance(tree, FileTree):
        tree = replace(tree, path=path)
        return _changed(opened, replace(own, hierarchy=tree), tree)
    return _changed(opened, own)


def members(
    opened: Opened, *, watch: Watcher, column: str, level: int, page: int = 0, all_values: bool = False, person: str | None = None
) -> dict[str, Any]:
    """What lies on the level below one, with the group of each, to be moved into another."""
    own = opened.table.schema[column]
    if own.kind not in CODED or own.generalized:
        return {"items": [], "groups": [], "levels": 0, "level": 1, "page": 0, "pages": 1, "of": 0}
    rows = climbing(own)
    height = len(next(iter(rows.values()), []))
    level = min(max(level, 1), height + 1)
    found = preview_of(opened, column, person)
    seen = Seen(own, found, all_values)
    people = {group.label: group.people for group in found.levels[level - 1]} if level - 1 < len(found.levels) else {}
    parents = _parents(rows, level)
    below = list(parents)
    return {
        "items": [
            {
                "place": place, "label": None if seen.hides(item) else item, "people": people.get(item),
                "group": None if seen.hides(parents[item]) else parents[item],
            }
            for place, item in list(enumerate(below))[page * PAGE : (page + 1) * PAGE]
        ],
        "groups": [
            {"place": place, "label": group, "size": sum(parent == group for parent in parents.values())}
            for place, group in enumerate(dict.fromkeys(parents.values())) if not seen.hides(group)
        ],
        "levels": height, "level": level, "page": page, "pages": max(1, -(-len(below) // PAGE)), "of": len(below),
    }  # fmt: skip


def move(
    opened: Opened, *, watch: Watcher, column: str, level: int, items: list[int], to: int | None, label: str, path: str
) -> dict[str, Any]:
    """The hierarchy with some of what lies below a level in another group of it, or in a new one."""
    own = opened.table.schema[column]
    rows = climbing(own)
    if not 1 <= level <= len(next(iter(rows.values()), [])) + 1:
        raise InputError(said.CHANGED_MEANWHILE, where="level")
    parents = _parents(rows, level)
    below, groups = list(parents), list(dict.fromkeys(parents.values()))
    if any(not 0 <= item < len(below) for item in items) or (to is not None and not 0 <= to < len(groups)):
        raise InputError(said.CHANGED_MEANWHILE, where="item")
    label = label if to is None else groups[to]
    if not label or label == ANY_TEXT:
        raise InputError(said.NO_LABEL, where="label")
    moved = {below[item] for item in items}
    height = max(level, len(next(iter(rows.values()), [])))
    # A level that is new begins with every group by itself.
    rows = {value: [*above, *[(above or [value])[-1]] * (height - len(above))] for value, above in rows.items()}
    # What stands above the group already, or above everything that is moved, stays above it.
    stay = [
        above[level:] for value, above in rows.items() if above[level - 1] == label and _below(value, above, level) not in moved
    ]
    old = {tuple(above[level:]) for value, above in rows.items() if _below(value, above, level) in moved}
    up = stay[0] if stay else list(old.pop()) if len(old) == 1 else [label] * (height - level)
    rows = {
        value: [*above[: level - 1], label, *up] if _below(value, above, level) in moved else above for value, above in rows.items()
    }
    return _by_hand(opened, own, rows, path)


def remove(opened: Opened, *, watch: Watcher, column: str, level: int, path: str) -> dict[str, Any]:
    """The hierarchy without one of its levels."""
    own = opened.table.schema[column]
    rows = climbing(own)
    if not all(1 <= level <= len(above) for above in rows.values()):
        raise InputError(said.CHANGED_MEANWHILE, where="level")
    return _by_hand(opened, own, {value: [*above[: level - 1], *above[level:]] for value, above in rows.items()}, path)


def reorder(opened: Opened, *, watch: Watcher, column: str, place: int, up: bool) -> dict[str, Any]:
    """The schema with one value of an order before or after its neighbour."""
    own = opened.table.schema[column]
    other = place - 1 if up else place + 1
    if (
        own.kind is not Kind.ORDINAL
        or not isinstance(own.domain, Levels)
        or not 0 <= min(place, other) <= max(place, other) < len(own.levels)
    ):
        raise InputError(said.CHANGED_MEANWHILE, where="order")
    levels = list(own.levels)
    levels[place], levels[other] = levels[other], levels[place]
    return _changed(opened, replace(own, domain=replace(own.domain, levels=tuple(levels))))


def _by_hand(opened: Opened, column: Column, rows: Mapping[str, Sequence[str]], path: str) -> dict[str, Any]:
    tree = FileTree(path, tuple((value, *rows[value], ANY_TEXT) for value in column.levels))
    if faults := lint(tree.rows, said.GROUPS):
        raise InputError([Fault("label", fault.reason) for fault in faults])
    return _changed(opened, preview(opened.table, column.name, tree).column, tree)


def _of_file(opened: Opened, name: str, source: Path, path: str, fill: bool, all_values: bool) -> dict[str, Any]:
    tree = replace(read_file(source.name, source.parent), path=path)
    found = preview(opened.table, name, tree)
    if found.orphans:
        if all(group.people == 0 for level in found.levels[1:-1] for group in level):
            raise InputError(said.NOT_OF_THIS, where="file")
        if not fill:
            seen = Seen(found.column, found, all_values)
            shown = [value for value in found.orphans if not seen.hides(value)]
            raise InputError(said.orphans(len(found.orphans), shown), where="file")
        own = tuple((value, *[value] * (tree.height - 1), ANY_TEXT) for value in found.orphans)
        # The last level has one label, whatever the file calls it.
        tree = replace(tree, rows=(*((*row[:-1], ANY_TEXT) for row in tree.rows), *own))
        if faults := lint(tree.rows, said.FILE):
            raise InputError([Fault("file", fault.reason) for fault in faults])
        found = preview(opened.table, name, tree)
    return _changed(opened, found.column, tree)


def _changed(opened: Opened, column: Column, tree: FileTree | None = None) -> dict[str, Any]:
    schema = opened.table.schema.with_columns(column)
    return {"schema": schema.dump(), "tree": None if tree is None else _text(tree)}


def _text(tree: FileTree) -> str:
    """The file of a hierarchy; InputError where its labels would not come back from it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tree.csv"
        write_tree(tree, path)
        if read_file(path.name, Path(folder)).rows != tree.rows:
            raise InputError(said.NOT_WRITABLE, where="label")
        return path.read_text(encoding="utf-8")


def _parents(rows: Mapping[str, Sequence[str]], level: int) -> dict[str, str]:
    """What lies below a level, in order, with its group there; on a level that is new everything is a group by itself."""
    found: dict[str, str] = {}
    for value, above in rows.items():
        item = _below(value, above, level)
        found.setdefault(item, above[level - 1] if level <= len(above) else item)
    return found


def _below(value: str, above: Sequence[str], level: int) -> str:
    return value if level == 1 else above[level - 2]
