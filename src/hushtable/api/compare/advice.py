"""The recommendation in words: what to take and why, what it does not say, what a stricter promise would cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.api.compare.caveats import PROVISO, Setting, by_chance, caveats, common, number, tuned, unpaid
from hushtable.api.compare.choice import Cell, chosen, nearest, strictest
from hushtable.api.compare.constraint import Constraint
from hushtable.evidence.verdict import STRENGTH
from hushtable.privacy.unit import Relation

KINDS = {"proven": "a proof (differential privacy)", "verified": "a verified promise", "none": "no promise at all"}


def recommended(
    cells: Sequence[Cell], constraints: Sequence[Constraint], setting: Setting, files: Mapping[str, str]
) -> dict[str, Any]:
    """The recommendation as plain values; ``files`` are the recipe files by cell."""
    take, best = chosen(cells)
    if take is None:
        return _nothing(cells, constraints, setting)
    others = _others(cells, take, setting)
    named = [c for c in cells if c["id"] in (take["id"], *(other["id"] for other in others))]
    return {
        "id": take["id"],
        "words": [
            f"Take {take['id']}.",
            *_scored(take, setting),
            _promised(take),
            *([] if unpaid(take, setting) else _elsewhere(cells, setting)),
        ],
        "why": _why(cells, take, best, constraints, setting),
        "caveats": [*tuned(named, setting), *caveats(take, setting), *common(setting), *by_chance(cells)],
        "command": _command(take, setting, files.get(take["id"], "")),
        "others": others,
    }


def _scored(cell: Cell, setting: Setting, of: str = "") -> list[str]:
    told = []
    if cell["score"]:
        told.append(f"{of}{setting.label} is {number(cell['score'])}.")
    if cell["risk"]:
        worst = cell["risk"]
        told.append(
            f"{f'{of}the' if of else 'The'} attack that gains most at worst is {worst['name']}: {worst['value']:.3f}, and with "
            f"about 97.5 % confidence no more than {worst['high']:.3f}."
        )
    return told


def _promised(cell: Cell) -> str:
    if cell["promise"] == "nothing":
        return "It promises nothing: only attacks speak for it."
    return f"It promises {cell['promise']}."


def _elsewhere(cells: Sequence[Cell], setting: Setting) -> list[str]:
    return [f"What is called proven below {PROVISO}."] if any(unpaid(c, setting) for c in cells) else []


def _why(cells: Sequence[Cell], take: Cell, best: Cell | None, constraints: Sequence[Constraint], setting: Setting) -> list[str]:
    tried, fitting = [c for c in cells if not c["failed"]], [c for c in cells if c["fits"]]
    kept = ", ".join(constraint.expression for constraint in constraints)
    told = [f"{len(fitting)} of {len(tried)} releases keep {kept} in a valid audit, and it is one of them."]
    if best is None:
        told.append("None of these has a score, so the strictest promise decided.")
    elif best["id"] == take["id"]:
        told.append(f"No other of them has a larger {setting.label}.")
    else:
        stronger = STRENGTH[take["assurance"]] > STRENGTH[best["assurance"]]
        held = PROVISO if unpaid(take, setting) else f"is {take['assurance']}"
        more = f"{held}, and that one's is {best['assurance']}" if stronger else "is stricter"
        told.append(
            f"{best['id']} has {setting.label} {best['score']['value']:.3f}, which cannot be told from "
            f"{take['score']['value']:.3f} here; the promise of {take['id']} {more}."
        )
    if take["front"]:
        told.append("Nothing that was tried has both a smaller risk and a larger score.")
    return told


def _command(take: Cell, setting: Setting, file: str) -> str:
    words = ["hush", "release", setting.data, "--schema", setting.schema]
    if unpaid(take, setting):
        if len(setting.payable) < 2:
            return ""
        words += ["--best-of", ",".join(setting.payable)]
    else:
        words += ["--recipe", file]
    note = ""
    if take["epsilon"] is not None:
        told = setting.public or setting.budgets == 1
        note = "" if told else "  # set EPSILON by policy, not by what was found here"
        words += ["--epsilon", f"{take['epsilon']:g}" if told else "EPSILON"]
        words += [] if setting.delta is None else ["--delta", f"{setting.delta:g}"]
    if setting.unit.relation is Relation.REPLACE_ONE:
        words += ["--relation", str(setting.unit.relation)]
    if setting.unit.by is not None:
        words += ["--person", setting.unit.by, "--rows-per-person", str(setting.unit.rows)]
    return shlex.join([*words, "--out", "release", "--hold-out", "0.2"]) + note


def _others(cells: Sequence[Cell], take: Cell, setting: Setting) -> list[dict[str, str]]:
    """The best cell of every other kind of evidence, and a stricter promise of the same kind, with what it costs."""
    told = []
    valid = [c for c in cells if not c["failed"] and not c["void"] and c["score"] and c["id"] != take["id"]]
    for kind, need in KINDS.items():
        if STRENGTH[kind] == STRENGTH[take["assurance"]]:
            continue
        same = [c for c in valid if STRENGTH[c["assurance"]] == STRENGTH[kind]]
        if same:
            one = max(same, key=lambda c: (c["fits"], c["score"]["value"]))
            told.append({"id": one["id"], "words": f"if you need {need}: {_cost(one, take, setting)}"})
    epsilon, k = take["guarantee"]["epsilon"], take["guarantee"]["k"]
    if take["assurance"] == "proven":
        stricter = [c for c in valid if c["assurance"] == "proven" and c["guarantee"]["epsilon"] < epsilon * 0.99]
    elif take["assurance"] == "verified":
        stricter = [c for c in valid if c["assurance"] == "verified" and (c["guarantee"]["k"] or 0) > (k or 0)]
    else:
        stricter = []
    if stricter:
        one = max(stricter, key=lambda c: (c["fits"], c["score"]["value"]))
        told.append({"id": one["id"], "words": f"if you need a stricter promise: {_cost(one, take, setting)}"})
    return told


def _cost(one: Cell, take: Cell, setting: Setting) -> str:
    held = "" if one["fits"] else f", but it misses {one['misses'][0]}"
    held += f"; it {PROVISO}" if unpaid(one, setting) else ""
    if not take["score"]:
        return f"{one['id']}{held}"
    mine, its = take["score"], one["score"]
    gap = mine["value"] - its["value"]
    if its["high"] >= mine["low"] and mine["high"] >= its["low"]:
        return f"{one['id']}, whose {setting.label} of {its['value']:.3f} cannot be told apart{held}"
    return f"{one['id']} {f'costs {gap:.3f}' if gap > 0 else f'gains {-gap:.3f}'} of {setting.label}{held}"


def _nothing(cells: Sequence[Cell], constraints: Sequence[Constraint], setting: Setting) -> dict[str, Any]:
    words = ["Nothing that was tried keeps all constraints."]
    tried = [c for c in cells if not c["failed"]]
    expression, count = strictest(cells, constraints)
    if not tried:
        words = ["Nothing could be released; each line says why."]
    elif expression:
        words.append(f"Of the constraints {expression} excludes most: {count} of {len(tried)} releases.")
    near = nearest(cells)
    why, named = list[str](), list[Cell]()
    if near is not None:
        words.append(f"The nearest is {near['id']}, which misses {'; '.join(near['misses'])}.")
        words += _elsewhere(cells, setting)
        why, named = _scored(near, setting, "Of the nearest release, "), [near]
    look = "" if setting.searched else ", or let --search look between them"
    rows = "--hold-out, --attacked" if setting.capped else "--hold-out"
    ways = [
        *tuned(named, setting),
        f"Allow more, or try stricter settings (--grid, --epsilon){look}.",
        f"Upper bounds shrink with more control rows ({rows}): a risk that is not known to be small does not pass.",
        *common(setting),
        *by_chance(cells),
    ]
    vague = sum(any("cannot be excluded" in miss for miss in c["misses"]) for c in tried)
    if vague:
        ways.append(
            f"What attacks gained from {vague} of {len(tried)} releases lies below the limit, and only its upper bound does not. "
            "On a small table, or for a column that nobody guesses wrong, no release at all may keep so small a limit."
        )
    return {"id": None, "words": words, "why": why, "caveats": ways, "command": "", "others": []}
