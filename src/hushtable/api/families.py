"""Which family a recipe or an audit belongs to: read off the rooms that its steps live in, so that a new one finds its place."""

from __future__ import annotations

from hushtable.errors import InputError
from hushtable.evidence.finding import Subject
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline import registry
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.guarantee import Assurance

GENERALIZE = "generalize and suppress"
MICROAGGREGATE = "microaggregate"
MARGINS = "differential privacy: models of noisy margins"
COPULAS = "differential privacy: copulas"
MIXTURES = "differential privacy: mixtures, blocks and means"
NO_PROMISE = "no promise"
OTHER = "others"

# The first entry that a step's module begins with decides; a step that is not here (a sample, a coder) leaves it to the next.
_ROOMS = {
    "hushtable.anonymize.lattice": GENERALIZE,
    "hushtable.anonymize.recoding": GENERALIZE,
    "hushtable.anonymize.microaggregate.microaggregate": MICROAGGREGATE,
    "hushtable.anonymize.microaggregate.geodesic": MICROAGGREGATE,
    "hushtable.anonymize.private": MIXTURES,
    "hushtable.anonymize.published": MIXTURES,
    "hushtable.synthesize.published.clustmix": MIXTURES,
    "hushtable.synthesize.published": COPULAS,
    "hushtable.synthesize.mixture": MIXTURES,
    "hushtable.synthesize.copula": COPULAS,
    "hushtable.synthesize": MARGINS,
}
FAMILIES = (GENERALIZE, MICROAGGREGATE, MARGINS, COPULAS, MIXTURES, NO_PROMISE, OTHER)
"""In the order in which they are told."""


def family(recipe: Recipe) -> str:
    """Of a recipe: by what it promises if that is nothing, else by its first step that has a family."""
    if best_assurance(recipe) is Assurance.NONE:
        return NO_PROMISE
    modules = [type(step).__module__ for step in recipe.steps]
    return next((name for module in modules for room, name in _ROOMS.items() if module.startswith(room)), OTHER)


def best_assurance(recipe: Recipe) -> Assurance:
    """The strongest kind of evidence a release by this recipe can have, as its line in the table of methods says."""
    told = recipe.guarantee
    if "claimed by its source" in told:
        return Assurance.CLAIMED
    return next((kind for kind in (Assurance.PROVEN, Assurance.VERIFIED) if f"({kind})" in told), Assurance.NONE)


def by_family() -> dict[str, list[Recipe]]:
    """The recipes that come with the package, family by family."""
    found: dict[str, list[Recipe]] = {name: [] for name in FAMILIES}
    for name in recipes.names():
        recipe = recipes.load(name)
        found[family(recipe)].append(recipe)
    return {name: members for name, members in found.items() if members}


AUDIT_FAMILIES = ("attacks and indicators", "only when named", "utility")


def audit_family(name: str) -> str:
    """Of an audit: whether it measures utility, is costly and runs only when named, or is one of the rest."""
    known = registry.audits()
    if name not in known:
        raise InputError(f"there is no audit {name!r}; there are {', '.join(sorted(known))}", where="audit")
    kind = registry.load(known[name])
    if getattr(kind, "subject", None) is Subject.UTILITY:
        return "utility"
    return "only when named" if getattr(kind, "costly", False) else "attacks and indicators"
