"""The recommendation in words: what to take and why, what it does not say, what a stricter promise would cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hushtable.comparison.choice import Cell, chosen, nearest, strictest
from hushtable.comparison.constraint import Constraint
from hushtable.report.promise import STRENGTH

KINDS = {"proven": "a proof (differential privacy)", "verified": "a verified promise", "none": "no promise at all"}


@dataclass(frozen=True)
class Setting:
    """What the words need to know beside the cells."""

    label: str
    """Of the score."""
    public: bool
    """Whether the table is public, or other people's: choosing by it then tells nothing about those who will be released."""
    data: str = "DATA"
    schema: str = "SCHEMA"
    folder: str = "DIR"
    delta: float | None = None
    payable: tuple[str, ...] = ()
    """The differentially private recipes that were tried and that ``--best-of`` can pay for."""
    runs: int = 1
    rows: int = 0
    whole: int = 0
    """Rows of the whole table, of which ``rows`` were used."""


def recommended(
    cells: Sequence[Cell], constraints: Sequence[Constraint], setting: Setting, files: Mapping[str, str]
) -> dict[str, Any]:
    """The recommendation as plain values; ``files`` are the recipe files by cell."""
    take, best = chosen(cells)
    if take is None:
        return _nothing(cells, constraints, setting)
    return {
        "id": take["id"],
        "words": [f"Take {take['id']}.", *_scored(take, setting), *_promised(take)],
        "why": _why(cells, take, best, constraints, setting),
        "caveats": [*_caveats(take, setting), *_by_chance(cells)],
        "command": _command(take, setting, files.get(take["id"], "")),
        "others": _others(cells, take, setting),
    }


def _scored(cell: Cell, setting: Setting) -> list[str]:
    told = []
    if cell["score"]:
        told.append(f"{setting.label} is {_number(cell['score'])}.")
    if cell["risk"]:
        worst = cell["risk"]
        told.append(
            f"The attack that gains most at worst is {worst['name']}: {worst['value']:.3f}, and no more than {worst['high']:.3f}."
        )
    return told


def _promised(cell: Cell) -> list[str]:
    return [
        f"It promises {cell['promise']}." if cell["promise"] != "nothing" else "It promises nothing: only attacks speak for it."
    ]


def _number(score: Mapping[str, float]) -> str:
    return f"{score['value']:.3f} ({score['low']:.3f} to {score['high']:.3f})"


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
        more = f"is {take['assurance']}, and that one's is {best['assurance']}" if stronger else "is stricter"
        told.append(
            f"{best['id']} has {setting.label} {best['score']['value']:.3f}, which cannot be told from "
            f"{take['score']['value']:.3f} here; the promise of {take['id']} {more}."
        )
    if take["front"]:
        told.append("Nothing that was tried has both a smaller risk and a larger score.")
    return told


def _caveats(take: Cell, setting: Setting) -> list[str]:
    told = list[str]()
    if not take["tests"]:
        told.append("No attack could be tested on it: nothing is known about its risk, and that is not the same as no risk.")
    if take["alarms"]:
        told.append(
            f"{take['alarms']} of {take['tests']} tests raise an alarm: it tells more about people in the table than about others. "
            "The constraints allow that; add alarms<1 if you do not."
        )
    if take["assurance"] == "proven":
        told.append("Proven holds against every attack, known or not, under the assumptions on the card of the release.")
    elif take["assurance"] == "verified" and take["guarantee"]["k"]:
        told.append(
            "Verified holds for the released table and the columns named, and not against somebody who knows other columns. It is "
            "measured on the release itself, so that choosing k by looking at the rows does not void it."
        )
    elif take["assurance"] == "verified":
        told.append(
            "What was verified holds for the columns named, or for the table that this one was made from. It is no k-anonymity of "
            "the release over all quasi-identifiers: rows of it may stand alone."
        )
    told.append(
        "Measured risks say what these attacks could do to this release; another attack may do more, and no alarm is no proof."
    )
    if take["assurance"] == "proven":
        told += _tuned(setting)
    if setting.runs == 1:
        told.append("Each release was made once: how much another run would differ is not known (--runs 3 tells).")
    if setting.rows < setting.whole:
        told.append(
            f"Only {setting.rows:,} of {setting.whole:,} rows were used. With all of them differential privacy costs less utility, "
            "and bounds are narrower."
        )
    return told


def _by_chance(cells: Sequence[Cell]) -> list[str]:
    """What many audits do to releases that leak nothing, where alarms excluded some."""
    if not any(miss.startswith("alarms: ") for cell in cells for miss in cell["misses"]):
        return []
    made = sum(cell["runs"] for cell in cells if not cell["failed"])
    return [
        "One audit in twenty of a release that leaks nothing raises an alarm. Tests are corrected within each audit and not across "
        f"the {made:,} audits here, so that chance alone may have excluded safe releases, the more of them the more are tried."
    ]


def _tuned(setting: Setting) -> list[str]:
    if setting.public:
        return [
            "The choice was made on rows that were said to be public or of other people (--public), so it costs nothing. If that "
            "is not so, the proof is void."
        ]
    told = [
        "Choosing a private recipe, or its epsilon, by looking at private rows is not free: the choice itself tells something "
        "about them, and no budget has paid for it. The recipe file says 'tuned: private', and a release made with it proves "
        "nothing.",
        "Way out 1: compare on public or older rows of the same kind (--public), and release with what is best there.",
        "Way out 2: name recipe and epsilon before looking, and release with those whatever this page says.",
    ]
    how = f"--best-of {','.join(setting.payable)}" if setting.payable else "--best-of with recipes that allow it"
    told.append(
        f"Way out 3: pay. hush release {how} makes about five releases, scores each privately and keeps the best, for one budget "
        "(Papernot and Steinke 2022); each of them is made with about half of it. Set epsilon by policy, not by this page."
    )
    return told


def _command(take: Cell, setting: Setting, file: str) -> str:
    words = ["hush", "release", setting.data, "--schema", setting.schema]
    if take["assurance"] == "proven" and not setting.public:
        if not setting.payable:
            return ""
        words += ["--best-of", ",".join(setting.payable)]
    else:
        words += ["--recipe", file]
    if take["epsilon"] is not None:
        words += ["--epsilon", f"{take['epsilon']:g}", *([] if setting.delta is None else ["--delta", f"{setting.delta:g}"])]
    return shlex.join([*words, "--out", "release", "--hold-out", "0.2"])


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
    if not take["score"]:
        return f"{one['id']}{held}"
    gap = take["score"]["value"] - one["score"]["value"]
    change = "costs nothing" if abs(gap) < 5e-4 else f"costs {gap:.3f}" if gap > 0 else f"gains {-gap:.3f}"
    return f"{one['id']} {change} of {setting.label}{held}"


def _nothing(cells: Sequence[Cell], constraints: Sequence[Constraint], setting: Setting) -> dict[str, Any]:
    words = ["Nothing that was tried keeps all constraints."]
    tried = [c for c in cells if not c["failed"]]
    expression, count = strictest(cells, constraints)
    if not tried:
        words = ["Nothing could be released; each line says why."]
    elif expression:
        words.append(f"{expression} excludes most: {count} of {len(tried)} releases.")
    near = nearest(cells)
    if near is not None:
        words.append(f"The nearest is {near['id']}, which misses {'; '.join(near['misses'])}.")
    why = [] if near is None else _scored(near, setting)
    ways = [
        "Allow more, try stricter settings (--grid, --epsilon), or let --search look between them.",
        "Upper bounds shrink with more control rows (--hold-out, --attacked): a risk that is not known to be small does not pass.",
        *_by_chance(cells),
    ]
    vague = sum(any("cannot be excluded" in miss for miss in c["misses"]) for c in tried)
    if vague:
        ways.append(
            f"What attacks gained from {vague} of {len(tried)} releases lies below the limit, and only its upper bound does not. "
            "On a small table, or for a column that nobody guesses wrong, no release at all may keep so small a limit."
        )
    return {"id": None, "words": words, "why": why, "caveats": ways, "command": "", "others": []}
