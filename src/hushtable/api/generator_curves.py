"""Risk models whose leak is what a generator remembers: trained too far, asked for more, without outliers, with less noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hushtable.api.certificate import Curve, Expect, curve
from hushtable.audits import planted
from hushtable.audits.planted import RATIOS, Overfitted
from hushtable.errors import GuaranteeRefused, InputError, PlanError
from hushtable.evidence.case import Case
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.extras import missing_extras, require_extras
from hushtable.pipeline.options import UNPUBLISHED, ReleaseOptions
from hushtable.pipeline.plan import plan
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.run import release as run_recipe
from hushtable.table.table import Table

if TYPE_CHECKING:
    from hushtable.api.certify import Study

TREES = "sequential"
"""The generator that needs nothing but this package: it is overfitted by ever smaller leaves, and trained in seconds."""
NETWORK = "argn"
"""The generator that is overfitted along one training run, where networks can be trained."""
PROVEN = "best"
"""The differentially private generator, its method chosen from public facts."""
EPSILONS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
SIZES = (1, 2, 3, 4)
OUTLIERS = (0.0, 0.01, 0.02, 0.05, 0.1)
BOTH = (1.0, 1.6)
"""The overfit ratios at which outliers are removed."""


def generator(name: str | None) -> str:
    """The recipe of the generator to overfit: the one named if it can be, else a network, or trees where none can be trained."""
    if name is None:
        return TREES if missing_extras(recipes.load(NETWORK).steps) else NETWORK
    recipe = recipes.load(name)
    if name != TREES and not hasattr(recipe.steps[-1], "overfitted"):
        able = [one for one in recipes.names() if one == TREES or hasattr(recipes.load(one).steps[-1], "overfitted")]
        raise InputError(f"recipe {name} cannot be trained ever further; {', '.join(able)} can", where="generator")
    require_extras(recipe.steps, f"recipe {name!r}")
    return name


def ladder(study: Study, recipe: str | Recipe) -> list[Overfitted]:
    """The generator at the published overfit ratios, or as near as it comes."""
    ratios: tuple[float, ...] = RATIOS[::5] if study.quick else RATIOS
    # Beyond all ratios lies the last rung of a ladder, which memorizes most; one training could go on for ever.
    return _overfitted(study, study.parts["train"], ratios if planted.climbs(recipe) else (*ratios, np.inf), recipe)


def _overfitted(study: Study, train: Table, ratios: Sequence[float], recipe: str | Recipe) -> list[Overfitted]:
    rng = np.random.default_rng([study.seed, 2])
    return planted.overfit(train, study.parts["fresh"], rng, ratios=ratios, recipe=recipe)


def overfit(study: Study) -> list[Curve]:
    """A generator trained until it memorizes."""
    how = "with ever smaller leaves" if study.generator == TREES else "along one training run"
    instead = "" if study.generator != TREES or study.named else f"; {NETWORK} is taken where PyTorch is installed"
    study.notes["overfit"] = (
        f"The generator is {_name(study.generator)}, {how}{instead}. The loss is minus the log-likelihood of cells as this "
        "generator cuts them: the same ratio of another one is another leak."
    )
    ratios = study.store.get_or_make("overfit", lambda: {"ratios": [one.ratio for one in study.overfitted]})["ratios"]

    def case(at: int) -> Case:
        return study.case(study.overfitted[at].sample(study.parts["train"].rows))

    points = [(ratio, study.cell(f"overfit-{at}", partial(case, at))) for at, ratio in enumerate(ratios)]
    return [curve("overfit", "overfit", "validation loss over the least", Expect.RISE, points)]


def size(study: Study) -> list[Curve]:
    """A generator that is not trained too far, asked for more rows."""
    rows = study.parts["train"].rows

    def case(factor: int) -> Case:
        return study.case(study.remembering[0].sample(factor * rows))

    points = [(float(f), study.cell(f"size-{f}", partial(case, f))) for f in (SIZES[::3] if study.quick else SIZES)]
    return [curve("size", "size", "released rows over training rows", Expect.STAY, points)]


def outliers(study: Study) -> list[Curve]:
    """The loneliest rows removed from all three parts before anything is made, at two overfit ratios."""
    climbs = study.named and planted.climbs(study.generator)
    # What climbs has no settings: it is trained anew to either ratio.
    settings = study.store.get_or_make(
        "outliers", lambda: {"settings": [{} if climbs else dict(_near(study.remembering, ratio).settings) for ratio in BOTH]}
    )
    curves = []
    for place, (ratio, knobs) in enumerate(zip(BOTH, settings["settings"], strict=True)):
        shares = OUTLIERS[::3] if study.quick else OUTLIERS
        points = [(s, study.cell(f"outliers-{place}-{s:g}", partial(_without, study, s, ratio, knobs))) for s in shares]
        curves.append(curve("outliers", f"at overfit {ratio:g}", "share removed", Expect.NOTHING, points))
    return curves


def _without(study: Study, share: float, ratio: float, settings: Mapping[str, str]) -> Case:
    outlying = study.outlying
    cut = np.sort(outlying)[::-1][round(share * len(outlying)) - 1] if share else np.inf
    inside = np.split(outlying < cut, [study.parts["train"].rows])
    train, control = (study.parts[n].take(some) for n, some in zip(("train", "control"), inside, strict=True))
    if not settings:
        if share not in study.without:
            study.without[share] = _overfitted(study, train, BOTH, study.generator)
        return Case(train, _near(study.without[share], ratio).sample(train.rows), control)
    release = run_recipe(train, recipes.load(TREES).set(settings), rows=train.rows, seed=study.seed)
    return Case(train, release.table, control)


def _near(ladder: Sequence[Overfitted], ratio: float) -> Overfitted:
    return min(ladder, key=lambda one: abs(one.ratio - ratio))


def _name(generator: str | Recipe) -> str:
    return generator.recipe if isinstance(generator, Recipe) else generator


def dp(study: Study) -> list[Curve]:
    """A generator with differential privacy, and ever larger budgets."""
    train, recipe = study.parts["train"], recipes.load(PROVEN)
    epsilons = EPSILONS[::3] if study.quick else EPSILONS
    try:
        plan(recipe, train.schema, budget=ReleaseOptions(epsilon=epsilons[0]).budget(train.schema))
    except (PlanError, GuaranteeRefused) as error:
        study.notes["dp"] = f"Left out, as {PROVEN} refuses this table: {error}"
        return []
    study.notes["dp"] = (
        f"The generator is {PROVEN}. Its noise is fresh in every run, whatever the seed: these numbers cannot be repeated to the "
        "bit. Nothing is expected: what is proven bounds the leak, and a good generator may leak far less at any epsilon."
    )

    def case(epsilon: float) -> Case:
        made = run_recipe(train, recipe, epsilon=epsilon, rows=train.rows, seed=study.seed, allow_copies=UNPUBLISHED)
        return study.case(made.table)

    points = [(epsilon, study.cell(f"dp-{epsilon:g}", partial(case, epsilon))) for epsilon in epsilons]
    return [curve("dp", "dp", "epsilon", Expect.NOTHING, points)]


MODELS: dict[str, Callable[[Study], list[Curve]]] = {"overfit": overfit, "size": size, "outliers": outliers, "dp": dp}
