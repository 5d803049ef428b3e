"""The audit of a mechanism as a whole: canaries in two worlds, questions on all neighbours, one run; kept, told and drawn."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from hushtable.api.release import learning_domains
from hushtable.api.store import Cells
from hushtable.audits.mechanism import onerun, twoworld
from hushtable.audits.mechanism.lines import CanaryLine, QueryLine
from hushtable.audits.mechanism.sensitivity import brute_force
from hushtable.audits.mechanism.twoworld import TwoWorldOptions
from hushtable.audits.mechanism.worlds import CANARIES, GRADIENT
from hushtable.display import silent
from hushtable.errors import Fault, HushError, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.unit import Relation

QUESTIONS_AT = 1.0
"""The epsilon at which questions are asked where none is given; what one record changes does not depend on it."""
FORM = "form 2"
"""Of the lines that a folder keeps: those of another form are not gone on with."""


@dataclass(frozen=True)
class MechanismReport:
    """What was tested, on what, and what came out of it, as plain values."""

    told: Mapping[str, Any]

    @property
    def refuted(self) -> bool:
        """Whether anything that is stated was found to be wrong."""
        return bool(self.told["refuted"])

    def to_json(self) -> dict[str, Any]:
        """As ``mechanism.json`` holds it."""
        return dict(self.told)

    def page(self) -> str:
        """As a page of its own."""
        from hushtable.report.mechanism import mechanism_page

        return mechanism_page(self.told)


def proven_recipes() -> list[str]:
    """The recipes that say that their differential privacy is proven. Only their texts are read, no step is imported."""
    texts = {name: yaml.safe_load((files("hushtable.recipes") / f"{name}.yaml").read_text("utf-8")) for name in recipes.names()}
    told = {name: str(text.get("guarantee", "")) for name, text in texts.items()}
    return [name for name, text in told.items() if "differential privacy" in text and "(proven)" in text]


def audit_mechanism(
    recipe: Recipe | str | Path,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: Relation | str | None = None,
    canaries: Sequence[str] = (),
    runs: int | None = None,
    one_run: bool = False,
    learn_domain: bool = False,
    seed: int | None = None,
    folder: Path | None = None,
    progress: twoworld.Progress = silent,
) -> MechanismReport:
    """Put what a recipe states to the test, on tables made for it. With a folder, an audit that was stopped goes on.

    Some of the tables have drafted schemas: without ``learn_domain`` they must be refused, with it nothing of them may show.
    """
    recipe = recipe if isinstance(recipe, Recipe) else recipes.load(recipe)
    _check(recipe, epsilon, delta, relation, canaries, seed)
    if learn_domain:
        recipe = learning_domains(recipe)
    relation = Relation(relation) if relation else recipe.relation
    if one_run and relation is not Relation.ADD_REMOVE:
        raise InputError("coins decide who is in, so the number of rows is private; it is for add_remove", where="--one-run")
    knobs = [FORM, recipe.dump(), epsilon, delta, relation, sorted(canaries), runs, one_run, seed]
    cells = Cells.of(folder, ("mechanism", *knobs), ())
    if one_run:
        # A slow recipe is what this is for: nothing else is run.
        made = cells.kept("one-run", lambda: _one_run(recipe, epsilon=epsilon, delta=delta, seed=seed, progress=progress).to_json())
        lines = [CanaryLine.from_json(made)]
    else:
        lines = twoworld.audit(
            recipe,
            TwoWorldOptions(epsilon=epsilon, delta=delta, relation=relation, canaries=canaries, runs=runs, seed=seed),
            stored=cells.kept, progress=progress,
        )  # fmt: skip

    def tried() -> dict[str, Any]:
        queries = brute_force(recipe, epsilon=epsilon or QUESTIONS_AT, delta=delta, relation=relation)
        return {"lines": [line.to_json() for line in queries]}

    queries = [QueryLine.from_json(line) for line in cells.kept("questions", tried)["lines"]]
    if not any(line.tested for line in lines) and all(line.holds for line in queries):
        raise _untested(lines)
    told = _told(recipe, relation, lines, queries)
    report = MechanismReport(told)
    if folder is not None:
        cells.write("mechanism.json", json.dumps(told, indent=1, ensure_ascii=False))
        cells.write("mechanism.html", report.page())
    return report


def _one_run(recipe: Recipe, **knobs: Any) -> CanaryLine:
    """A recipe that refuses to run refutes nothing, and must not end like one that is refuted."""
    try:
        return onerun.one_run(recipe, **knobs)
    except HushError as error:
        if error.exit_code == InputError.exit_code:
            raise
        raise InputError(f"could not be run: {error}", where="--one-run") from None


def _untested(lines: Sequence[CanaryLine]) -> InputError:
    """Nothing was tested, which is no verdict: every reason, with the canaries it keeps from being run."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        reasons.setdefault((line.verdict.text, line.why), []).append(line.canary)
    return InputError([Fault(f"{word}, canary {', '.join(names)}", why) for (word, why), names in reasons.items()])


def _check(
    recipe: Recipe,
    epsilon: float | None,
    delta: float | None,
    relation: Relation | str | None,
    canaries: Sequence[str],
    seed: int | None,
) -> None:
    if epsilon is not None and not (epsilon > 0 and math.isfinite(epsilon)):
        raise InputError(f"must be a positive number, got {epsilon}", where="--epsilon")
    if delta is not None and not 0 <= delta < 1:
        raise InputError(f"must lie in [0, 1), got {delta}", where="--delta")
    if epsilon is None and any(step.spends for step in recipe.steps):
        raise InputError("says what the recipe may spend, and is what is tested: give one", where="--epsilon")
    if relation is not None and relation not in list(Relation):
        raise InputError(f"expected add_remove or replace_one, got {relation!r}", where="--relation")
    unknown = [name for name in canaries if name not in CANARIES]
    if unknown:
        raise InputError(f"there is no canary {', '.join(unknown)}; there are {', '.join(CANARIES)}", where="--canary")
    if seed is not None and seed < 0:
        raise InputError(f"a seed is not negative, got {seed}", where="--seed")


def _told(recipe: Recipe, relation: Relation, lines: list[CanaryLine], queries: list[QueryLine]) -> dict[str, Any]:
    tested = [line for line in lines if line.tested]
    broken = [line.query for line in queries if not line.holds]
    refuted = bool(broken) or any(line.refuted for line in tested)
    return {
        "recipe": recipe.recipe,
        "title": recipe.title,
        "guarantee": recipe.guarantee,
        "relation": str(relation),
        "confidence": 1 - twoworld.LEVEL,
        "label": _label(tested, refuted=refuted),
        "refuted": refuted,
        "verdict": _verdict(tested, broken),
        "lines": [line.to_json() for line in lines],
        "questions": [line.to_json() for line in queries],
        "notes": [GRADIENT],
    }


def _label(tested: list[CanaryLine], *, refuted: bool) -> str:
    if refuted:
        return "refuted"
    return "too few runs" if all(line.verdict.too_few for line in tested) else "not refuted"


def _verdict(tested: list[CanaryLine], broken: list[str]) -> str:
    if broken:
        return f"refuted: one record changes {', '.join(broken)} by more than is stated"
    refuted = [line for line in tested if line.refuted]
    able = [line for line in tested if not line.verdict.too_few]
    worst = max(refuted or able or tested, key=lambda line: line.excess)
    return f"{worst.verdict.text}, by the canary {worst.canary!r}" if refuted else worst.verdict.text
