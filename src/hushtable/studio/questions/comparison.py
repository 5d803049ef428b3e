"""A comparison, finished or at work: its cells as plain values and the plane of risk and use; and how a cell may be taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushtable.api import suggest
from hushtable.api.compare.cell import Cell
from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.grid import EPSILON, KNOBS, main_knob, trials
from hushtable.api.compare.making import ways
from hushtable.api.compare.options import CompareOptions
from hushtable.api.compare.so_far import read_so_far, seconds_of, within
from hushtable.display import meant
from hushtable.errors import BudgetExceeded, Fault, GuaranteeRefused, HushError, InputError
from hushtable.pipeline import recipe as known
from hushtable.pipeline.recipe import Recipe
from hushtable.report.charts.plane import plane
from hushtable.report.compare import legend
from hushtable.report.compare_text import alarms, gained, score, verdict, with_interval
from hushtable.report.html import join
from hushtable.studio.questions.room import Opened, Watcher
from hushtable.studio.verbs.compare import FOLDER
from hushtable.studio.words import compare as said
from hushtable.table.schema import Schema


def candidates(opened: Opened, *, watch: Watcher, recipes: list[str]) -> list[dict[str, Any]]:
    """The main knob of each of these recipes, what is tried of it, and why it cannot be tried on this table.

    ``undeclared`` is what must be declared public first: without that a private recipe gives no release.
    """
    found = []
    for name in recipes:
        recipe = known.load(name)
        knob, why = main_knob(recipe), ""
        try:
            trials(opened.table.schema, [recipe], {})
        except HushError as error:
            why = str(error).splitlines()[0]
        found.append(
            {"name": name, "title": recipe.title, "assurance": str(recipe.assurance), "knob": knob,
             "values": list(KNOBS.get(knob, ())), "why": why, "undeclared": _undeclared(recipe, opened.table.schema)}
        )  # fmt: skip
    return found


def comparable(opened: Opened, *, watch: Watcher, options: Mapping[str, Any]) -> int:
    """How many releases these options ask for; InputError with all that cannot be, by the names of the fields."""
    asked, faults, count = CompareOptions.from_json(options), list[Fault](), 0
    for name in options["recipes"]:
        try:
            recipe = known.load(name)
        except InputError:
            faults.append(Fault("more", said.no_recipe(name, meant(name, known.names()))))
            continue
        if (lacking := _undeclared(recipe, opened.table.schema)) is not None:
            faults.append(Fault(f"recipe.{name}", f"{name}: {said.undeclared(lacking)}"))
            continue
        own = {key: values for key, values in asked.grid.items() if key.rpartition(".")[0] == name}
        try:
            count += len(trials(opened.table.schema, [name], own, asked.epsilons)[0])
        except InputError as error:
            faults += [Fault(f"grid.{name}" if own else "recipes", fault.reason) for fault in error.faults]
    if faults:
        raise InputError(faults)
    return count


def comparison(opened: Opened, *, watch: Watcher, folder: str, schema: str, risk: float | None = None) -> dict[str, Any]:
    """The cells that are done, the best first, with all that is shown of them; none of it holds a value of a row.

    ``schema`` is the file of the schema that they were made under.
    """
    shown = _read(Path(folder))
    if shown is None:
        return {"cells": [], "plane": "", "finished": False, "words": [], "caveats": [], "others": [], "ladders": [], "label": ""}
    advice, best = shown.recommendation, shown.best
    inside = None if risk is None else within(shown.cells, shown.axis, risk)
    drawn = any(cell.score for cell in shown.released)
    asked = Schema.load(schema)
    return {
        "cells": [_cell(cell, shown, asked) for cell in shown.cells],
        "plane": str(join(legend(shown), plane(shown, class_="wide"), plane(shown, width=350.0, height=400.0, class_="slim")))
        if drawn else "",
        "finished": bool(advice.words),
        "best": "" if best is None else best.id,
        "words": list(advice.words),
        "why": list(advice.why),
        "caveats": list(advice.caveats),
        "others": [other.words for other in advice.others],
        "conditions": [one.description for one in shown.constraints],
        "notes": list(shown.notes),
        "label": shown.axis.label,
        "public": shown.run.public,
        "within": "" if inside is None else inside.id,
        "ladders": _ladders(shown),
    }  # fmt: skip


def taking(opened: Opened, *, watch: Watcher, folder: str, cell: str) -> dict[str, Any]:
    """A cell that somebody wants to take: how, and in which ways its proof holds."""
    shown = _read(Path(folder))
    found = None if shown is None else shown.cell(cell)
    if shown is None or found is None or found.failed:
        raise InputError("there is no such release", where="cell")
    unpaid = shown.unpaid(found)
    payable = ways(shown, found, opened.table.schema)[1] if unpaid else ()
    return {
        "id": found.id,
        "recipe": found.recipe,
        "settings": {knob: value for knob, value in found.settings.items() if knob != EPSILON},
        "epsilon": found.nominal_epsilon,
        "unpaid": unpaid,
        "public": shown.run.public,
        "promise": found.promise,
        "payable": list(payable),
    }


def _read(folder: Path) -> Comparison | None:
    """The finished comparison, unless more of it was done since; what is done so far; None before the first cell."""
    whole, so_far = folder / FOLDER / "comparison.json", folder / f"{FOLDER}.so-far.json"
    paths = [path for path in (whole, so_far) if path.exists()]
    return read_so_far(max(paths, key=lambda path: path.stat().st_mtime)) if paths else None


def _undeclared(recipe: Recipe, schema: Schema) -> dict[str, Any] | None:
    """What keeps a private recipe from a release because it was read off the rows; None if nothing. No row is read."""
    found = suggest.undeclared(recipe, schema, learn=False)
    if found is None:
        return None
    return {"columns": list(dict.fromkeys([*found.columns, *found.lost])), "codes": found.codes}


def hindrance(cell: Cell, schema: Schema) -> dict[str, Any]:
    """What keeps a cell from a release, as far as it is seen without the rows: what must be declared, or what is refused."""
    try:
        recipe = known.load(cell.recipe).set({knob: value for knob, value in cell.settings.items() if knob != EPSILON})
        if (lacking := _undeclared(recipe, schema)) is not None:
            return {"undeclared": lacking, "refused": "undeclared"}
        suggest.course(recipe, schema, cell.nominal_epsilon)
    except BudgetExceeded:
        return {"undeclared": None, "refused": "budget"}
    except GuaranteeRefused:
        return {"undeclared": None, "refused": "promise"}
    except HushError:
        return {"undeclared": None, "refused": "columns"}
    return {"undeclared": None, "refused": ""}


def _cell(cell: Cell, shown: Comparison, schema: Schema) -> dict[str, Any]:
    why = hindrance(cell, schema) if cell.failed else {"undeclared": None, "refused": ""}
    return why | {
        "id": cell.id,
        "rank": cell.rank,
        "recipe": cell.recipe,
        "settings": dict(cell.settings),
        "assurance": str(cell.assurance),
        "promise": cell.promise,
        "gain": gained(cell.worst, by_gain=cell.gain is not None) if cell.worst else "",
        "alarms": alarms(cell),
        "score": with_interval(cell.score),
        "short": score(cell),
        "fits": cell.fits,
        "verdict": verdict(cell),
        "void": list(cell.void),
        "failed": cell.failed,
        "front": cell.front,
        "unpaid": shown.unpaid(cell),
        "seconds": cell.seconds,
    }


def _ladders(shown: Comparison) -> list[dict[str, Any]]:
    """By recipe and knob the values that were computed, where there are several, and what one more would take."""
    found = []
    for recipe in shown.recipe_names:
        cells = [cell for cell in shown.cells if cell.recipe == recipe]
        for knob in dict.fromkeys(knob for cell in cells for knob in cell.settings):
            numbers = {cell.settings[knob]: value for cell in cells if (value := _number(cell.settings.get(knob))) is not None}
            if len(numbers) < 2:
                continue
            others = {tuple((k, v) for k, v in cell.settings.items() if k != knob) for cell in cells}
            seconds = seconds_of(cells, recipe)
            found.append(
                {
                    "recipe": recipe, "knob": knob, "whole": all(value.is_integer() for value in numbers.values()),
                    "values": sorted(numbers.values()), "cells": len(others),
                    "seconds": None if seconds is None else seconds * len(others),
                    "grid": {k: list(dict.fromkeys(c.settings[k] for c in cells if k in c.settings)) for k in cells[0].settings},
                }
            )  # fmt: skip
    return found


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
