"""Comparisons as plain values: an ordinary one, and those that break pages."""

from __future__ import annotations

import json
import math
from typing import Any

from tests.unit.report.samples import EVIL

AIM = "R. McKenna et al., AIM: an adaptive and iterative mechanism for differentially private synthetic data, VLDB 2022"
MDAV = "J. Domingo-Ferrer, V. Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, DMKD 2005"
RECIPES = {
    "mdav": ("Microaggregation by maximum distance to the average vector", "verified", MDAV),
    "k-anonymity": ("Full-domain generalization, the best of all levels", "verified", ""),
    "mondrian": ("Multidimensional k-anonymity by median cuts", "verified", ""),
    "mst": ("Marginals along a spanning tree", "proven", ""),
    "aim": ("Marginals chosen one after the other", "proven", AIM),
    "sequential": ("One column after the other by trees", "none", ""),
    "dpcopula-hybrid": ("A copula with noisy margins for each group", "claimed", ""),
}
PROVEN = "differential privacy with epsilon {} and delta 1e-9 (proven)"
VERIFIED = "k-anonymity with k = {} over age, sex and 6 more columns (verified)"


def estimate(value: float, gap: float, name: str = "", *, least: float = 0.0) -> dict[str, Any]:
    """A number with an interval around it."""
    return {"value": value, "low": max(least, value - gap), "high": value + gap} | ({"name": name} if name else {})


def cell(recipe: str, knob: float, risk: float, score: float, /, **changed: Any) -> dict[str, Any]:
    """One release that was tried."""
    title, assurance, cite = RECIPES[recipe]
    private = assurance in ("proven", "claimed")
    settings = {} if assurance == "none" else {"epsilon" if private else "k": f"{knob:g}"}
    promise = PROVEN.format(knob) if private else VERIFIED.format(knob) if settings else "nothing"
    worst = estimate(risk, 0.012 + risk / 5, "linkability, 10 neighbours") | {"kind": "linkability"}
    gained = worst | {
        "value": risk, "low": 0.0, "high": 0.012 + 1.2 * risk, "alarm": risk > 0.05, "bounded_by": "membership, outliers",
        "measured": risk, "outside": 0.1,
    }  # fmt: skip
    plain = {
        "id": " ".join([recipe, *(f"{k}={v}" for k, v in settings.items())]), "recipe": recipe, "title": title, "cite": cite,
        "settings": settings, "epsilon": knob if private else None, "delta": 1e-9 if private else None, "runs": 2,
        "assurance": assurance, "promise": promise,
        "guarantee": {"epsilon": knob if private else None, "k": None if private else knob, "delta": None, "bound": None},
        "risk": worst, "risks": {"linkability": worst, "singling out": estimate(risk / 2, 0.01, "near matches"), "inference": None},
        "gain": gained, "gains": {"linkability": gained},
        "alarms": int(risk > 0.05), "tests": 41, "void": [], "score": estimate(score, 0.008),
        "measures": {
            "mean TVD": {"value": 0.4 * (0.93 - score), "baseline": 0.004, "better": "lower"},
            "association difference": {"value": 0.5 * (0.93 - score), "baseline": 0.006, "better": "lower"},
            "real or released: AUC": {"value": 0.5 + (0.93 - score), "baseline": 0.5, "better": "lower"},
        },
        "rows": 36632, "seconds": 12.0 + 40 * score, "notes": [], "gaps": [],
        "fits": True, "misses": [], "missed": [], "front": False, "rank": 0, "failed": "",
    }  # fmt: skip
    return plain | changed


def failed(recipe: str, reason: str) -> dict[str, Any]:
    """One that gave no release."""
    nothing = dict.fromkeys(("risk", "score", "rows", "seconds", "epsilon", "delta", "alarms", "tests"))
    return cell(recipe, 10, 0.0, 0.5, failed=reason, fits=False, risks={}, gain=None, gains={}, measures={}, **nothing)


def comparison(cells: list[dict[str, Any]], chosen: str | None, *, sign: int = 1, **changed: Any) -> dict[str, Any]:
    """Cells ranked and put on the front as the engine does it, with a recommendation around them; sign -1 if lower is better."""
    for one in cells:
        if not one["failed"] and one["risk"] and one["risk"]["high"] >= 0.05:
            reason = f"upper bound {one['risk']['high']:.3f} (linkability, 10 neighbours)"
            missed = {"condition": "max_gain", "reason": reason, "kind": "limit"}
            one |= {"fits": False, "misses": [f"max_gain: {reason}"], "missed": [missed]}
    drawn = [c for c in cells if c["risk"] and c["score"]]
    for one in drawn:
        risk, score = one["risk"]["high"], sign * one["score"]["value"]
        one["front"] = not any(
            c["risk"]["high"] <= risk and sign * c["score"]["value"] >= score and c is not one
            and (c["risk"]["high"] < risk or sign * c["score"]["value"] > score)
            for c in drawn
        )  # fmt: skip
    cells.sort(key=lambda c: (bool(c["failed"]), not c["fits"], -sign * c["score"]["value"] if c["score"] else math.inf))
    for rank, one in enumerate(cells, 1):
        one["rank"] = rank
    return {
        "made": {"hushtable": "0.1.0", "seed": 0, "runs": 2, "audits": ["linkability", "near-matches"], "seconds": 412.0},
        "table": {"rows": 48842, "train": 36632, "control": 12210, "columns": 15, "target": "income"},
        "constraints": [
            {"expression": "max_gain<0.05", "told": "no attack may gain more than 5 of 100 people (upper bound)"},
            {"expression": "epsilon<=4", "told": "where a proof is given, epsilon is at most 4"},
        ],
        "utility": {
            "name": "train on release, test on real: AUC", "label": "AUC for income", "better": "higher", "baseline": 0.929,
            "meaning": "how well models that learnt from the release rank real people by income; 0.5 is guessing, 1 is perfect",
        },
        "cells": cells,
        "recommendation": {
            "id": chosen,
            "words": ["Publish mdav with k = 10: every row stands for at least ten people, which was checked on the table itself."],
            "why": ["It has the best score of the 8 releases that fit.", "Its worst attack gained 1.2 %, at most 3.1 %."],
            "caveats": [
                "k-anonymity is verified, not proven: it says nothing about what is learnt from the values that were kept.",
                "The choice itself looked at the private rows; a proof of differential privacy would not survive that.",
            ],
            "command": "hush release adult.csv --schema schema.yaml --recipe mdav --set k=10 --out released",
            "others": [{"id": "aim epsilon=1", "words": "If you need a proof: aim at epsilon 1 costs 0.02 of AUC."}],
        },
        "searched": [{"recipe": "mdav", "knob": "k", "words": "smallest k that meets the constraints: 8 (7 does not)"}],
    } | changed  # fmt: skip


def ordinary() -> dict[str, Any]:
    """Six recipes with three settings each, some beyond the constraint, two that failed, one that was not attacked."""
    cells = [
        *(cell("mdav", k, r, s) for k, r, s in ((5, 0.045, 0.885), (10, 0.012, 0.871), (50, 0.001, 0.834))),
        *(cell("k-anonymity", k, r, s) for k, r, s in ((5, 0.02, 0.842), (10, 0.008, 0.836), (50, 0.0, 0.801))),
        *(cell("mondrian", k, r, s) for k, r, s in ((5, 0.055, 0.881), (10, 0.03, 0.866), (50, 0.01, 0.849))),
        *(cell("mst", e, r, s) for e, r, s in ((0.5, 0.0, 0.79), (1, 0.0, 0.812), (4, 0.002, 0.831))),
        *(cell("aim", e, r, s) for e, r, s in ((0.5, 0.0, 0.821), (1, 0.001, 0.851), (4, 0.003, 0.862))),
        cell("sequential", 0, 0.14, 0.921),
        cell("dpcopula-hybrid", 1, 0.004, 0.74, risk=None, risks={}, gain=None, gains={}, alarms=None, tests=0),
        failed("k-anonymity", "no choice of levels makes 10 rows of each kind with at most 5 % suppressed"),
        failed("mst", "income: its levels are not declared; add them to the schema"),
    ]
    return comparison(cells, "mdav k=10")


def alone() -> dict[str, Any]:
    """One cell, without a single interval."""
    nothing = {"value": 0.0, "low": None, "high": None}
    bare = {"risk": nothing, "gain": nothing, "score": {"value": 0.8, "low": None, "high": None}}
    reported = comparison([], "mdav k=5")
    return reported | {"cells": [cell("mdav", 5, 0.0, 0.8, rank=1, front=True, **bare)]}


def sixty() -> dict[str, Any]:
    """Sixty cells, most of them at no risk at all."""
    cells = [
        cell(recipe, 2 + i, max(0.0, 0.15 / (1 + i) - 0.03), 0.93 - 0.012 * i - 0.01 * j)
        for j, recipe in enumerate(list(RECIPES)[:5])
        for i in range(12)
    ]
    return comparison(cells, "mdav k=6")


def nothing_fits() -> dict[str, Any]:
    """Every cell is beyond what was asked, and the best is the lowest score."""
    cells = [cell("mdav", k, 0.3 / k + 0.06, 0.05 + 0.01 * k, score=estimate(0.05 + 0.01 * k, 0.004)) for k in (5, 10, 50)]
    reported = comparison(cells, None, sign=-1)
    reported["utility"] |= {"better": "lower", "label": "mean pair TVD", "baseline": 0.01}
    words = ["No release meets what was asked: max_risk excludes all 3."]
    reported["recommendation"] |= {"words": words, "why": ["The nearest is mdav k=50."], "others": [], "command": ""}
    return reported


def safe() -> dict[str, Any]:
    """All at zero risk with the same score."""
    zero = {"value": 0.0, "low": 0.0, "high": 0.0, "name": "linkability"}
    cells = [cell("aim", e, 0.0, 0.8, risk=zero, gain=zero, score=estimate(0.8, 0.0)) for e in (1, 2, 4)]
    return comparison(cells, "aim epsilon=1")


def earlier() -> dict[str, Any]:
    """The ordinary one as version 0.2.0 saved it: residual risks and no gains."""
    reported = ordinary()
    text = json.dumps(reported).replace("max_gain", "max_risk")
    plain: dict[str, Any] = json.loads(text)
    for one in plain["cells"]:
        del one["gain"], one["gains"]
    return plain


def leaky() -> dict[str, Any]:
    """A release with most tests in alarm whose widest bound is of an attack that gained nothing, beside a calm one."""
    reported = ordinary()
    one = next(c for c in reported["cells"] if c["id"] == "k-anonymity k=5")
    one |= {"alarms": 65, "tests": 116, "fits": False, "risk": {"value": 0.0, "low": 0.0, "high": 1.0, "name": "a rare guess"}}
    one["gain"] = {"value": 0.42, "low": 0.4, "high": 0.97, "name": "linkability", "alarm": True, "bounded_by": "a rare guess"}
    return reported


def hostile() -> dict[str, Any]:
    """Every text is markup, and numbers are what numbers must not be."""
    evil = cell(
        "mdav", 5, 0.01, 0.8, id=EVIL, recipe=EVIL, title=EVIL, cite=EVIL, settings={EVIL: EVIL}, assurance=EVIL, promise=EVIL,
        void=[EVIL], notes=[EVIL], misses=[EVIL], gaps=[EVIL],
        missed=[{"condition": EVIL, "reason": EVIL, "kind": EVIL}],
        measures={EVIL: {"value": math.nan, "baseline": math.inf, "better": EVIL}},
        risks={EVIL: {"value": 0.1, "low": None, "high": math.inf, "name": EVIL}},
    )  # fmt: skip
    weird = cell("aim", 1, 0.0, 0.5, id="x" * 200, score={"value": math.nan}, risk={"value": math.inf, "name": "\u202e\x00"})
    lone = failed("mst", EVIL + "\ud800") | {"recipe": EVIL}
    reported = comparison([], EVIL, searched=[{"recipe": EVIL, "words": EVIL}], made={"hushtable": EVIL, "seed": EVIL})
    reported["constraints"] = [{"expression": EVIL, "told": EVIL}, {"expression": "max_risk<1e", "told": "not a number"}]
    reported["utility"] |= dict.fromkeys(("name", "label", "meaning", "better"), EVIL)
    words = {"words": [EVIL], "why": [EVIL], "caveats": [EVIL], "command": EVIL, "others": [{"id": EVIL, "words": EVIL}]}
    return reported | {"cells": [evil, weird, lone], "recommendation": {"id": EVIL} | words}


def all_failed() -> dict[str, Any]:
    """Nothing could be run."""
    return comparison([failed(name, "the table has 3 rows; at least 20 are needed") for name in RECIPES], None) | {
        "recommendation": {"id": None, "words": ["Nothing could be released, so there is nothing to choose."]}
    }


EVERY = {
    "ordinary": ordinary, "earlier": earlier, "leaky": leaky,
    "alone": alone, "sixty": sixty, "nothing fits": nothing_fits, "safe": safe, "hostile": hostile,
    "all failed": all_failed, "empty": dict,
}  # fmt: skip
"""A maker of each kind by its name."""
