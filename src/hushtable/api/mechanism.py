"""Put the epsilon that a recipe states to the test: canaries in two worlds, queries on all neighbours, or many canaries at once."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from hushtable.api.store import Result, Store
from hushtable.audits.mechanism import onerun, twoworld
from hushtable.audits.mechanism.gradients import GradientTest, planned_canaries
from hushtable.audits.mechanism.lines import TOO_FEW, CanaryLine, QueryLine, label_of
from hushtable.audits.mechanism.sensitivity import brute_force
from hushtable.audits.mechanism.twoworld import TwoWorldOptions
from hushtable.audits.mechanism.worlds import CANARIES, GRADIENT
from hushtable.display import Progress, meant, silent
from hushtable.errors import Fault, HushError, InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.learning import learning_domains
from hushtable.pipeline.recipe import Recipe
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Relation
from hushtable.report.mechanism import mechanism_page
from hushtable.table.arguments import require_options, require_seed

QUERIES_AT = 1.0
"""The epsilon at which queries are tried where none is given; what one record changes does not depend on it."""
FORM = "form 2"
"""Of the lines that a folder holds: those of another form are not gone on with."""


class MechanismFields(TypedDict, total=False):
    """The fields of ``MechanismOptions`` as keywords of a call."""

    epsilon: float | None
    delta: float | None
    relation: Relation | str | None
    canaries: Sequence[str]
    runs: int | None
    one_run: bool
    learn_domain: bool
    seed: int | None


@dataclass(frozen=True, kw_only=True)
class MechanismOptions:
    """What of a recipe is tested, and how."""

    epsilon: float | None = None
    """The epsilon that is spent, or claimed, and tested."""
    delta: float | None = None
    """Its delta; 1e-6 when absent, 0 for pure privacy."""
    relation: Relation | str | None = None
    """add_remove or replace_one; what the recipe is proven for when absent."""
    canaries: Sequence[str] = ()
    """Canaries by name; all when empty."""
    runs: int | None = None
    """Runs in each world; as many as a minute for a canary allows when absent."""
    one_run: bool = False
    """Many canaries in three runs instead: for slow recipes."""
    learn_domain: bool = False
    """With a first step that learns undeclared kinds and domains."""
    seed: int | None = None
    """Makes the audit reproducible, its noise included."""

    def __post_init__(self) -> None:
        """Every value in its range; what depends on the recipe is checked with the recipe."""
        if self.epsilon is not None and not (self.epsilon > 0 and math.isfinite(self.epsilon)):
            raise InputError(f"must be a positive number, got {self.epsilon}", where="--epsilon")
        if self.delta is not None and not 0 <= self.delta < 1:
            raise InputError(f"must lie in [0, 1), got {self.delta}", where="--delta")
        if self.relation is not None and self.relation not in list(Relation):
            raise InputError(f"expected add_remove or replace_one, got {self.relation!r}", where="--relation")
        if unknown := [name for name in self.canaries if name not in CANARIES]:
            raise InputError(
                f"there is no canary {', '.join(unknown)}{meant(unknown, CANARIES)}; there are {', '.join(CANARIES)}",
                where="--canary",
            )
        require_seed(self.seed)

    def to_json(self) -> dict[str, Any]:
        """Plain values, as a YAML or JSON file holds them."""
        return asdict(self) | {"relation": None if self.relation is None else str(self.relation), "canaries": list(self.canaries)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> MechanismOptions:
        """Read from plain values; what is absent has its default, and a name that is no option is refused."""
        require_options(cls, plain)
        return cls(**{**plain, "canaries": tuple(plain.get("canaries", ()))})


@dataclass(frozen=True, kw_only=True)
class MechanismReport:
    """What was tested, on what, and what came out of it. No row of anybody is behind it."""

    recipe: str
    title: str
    guarantee: str
    """What the recipe says that it guarantees."""
    relation: str
    confidence: float
    """Of all bounds of the report together."""
    label: str
    """refuted, not refuted, or too few runs."""
    refuted: bool
    """Whether anything that is stated was shown to be wrong."""
    verdict: str
    lines: Sequence[CanaryLine]
    """One for each canary: the bounds and whether they refute what is stated, or why it could not be tested."""
    queries: Sequence[QueryLine]
    """One for each kind of query: whether one record changes its answer by more than is stated."""
    notes: Sequence[str]

    @property
    def tested(self) -> list[CanaryLine]:
        """The canaries that could be tested."""
        return [line for line in self.lines if line.tested]

    @property
    def untested(self) -> list[CanaryLine]:
        """The canaries that could not be tested, each with the reason."""
        return [line for line in self.lines if not line.tested]

    @property
    def too_few(self) -> bool:
        """Whether so few runs could have refuted nothing that was tested."""
        return self.label == TOO_FEW

    def to_json(self) -> dict[str, Any]:
        """As ``mechanism.json`` holds it."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("lines", "queries", "notes")}
        lines, queries = [line.to_json() for line in self.lines], [line.to_json() for line in self.queries]
        return plain | {"lines": lines, "questions": queries, "notes": list(self.notes)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> MechanismReport:
        """Read from ``mechanism.json``."""
        same = {f.name: plain[f.name] for f in fields(cls) if f.name not in ("lines", "queries")}
        lines = [CanaryLine.from_json(line) for line in plain["lines"]]
        return cls(**same, lines=lines, queries=[QueryLine.from_json(line) for line in plain["questions"]])

    def page(self) -> str:
        """As a page of its own."""
        return mechanism_page(self)


def proven_recipes() -> list[str]:
    """The recipes of tables that come with the package and whose differential privacy is proven.

    Those that read free text are trained by the one private descent, which gradient canaries test by itself.
    """
    loaded = (recipes.load(name) for name in recipes.names())
    return [recipe.recipe for recipe in loaded if recipe.assurance is Assurance.PROVEN and not recipe.reads_text]


def audit_mechanism(
    recipe: Recipe | str | Path,
    options: MechanismOptions | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    progress: Progress = silent,
    **keywords: Unpack[MechanismFields],
) -> MechanismReport:
    """Put what a recipe states to the test, on tables made for it. With a folder, an audit that was stopped goes on.

    Some of the tables have drafted schemas: without ``learn_domain`` they must be refused, with it nothing of them may show.
    ``settings`` are knobs of the steps by name.
    """
    options = replace(options or MechanismOptions(), **keywords)
    recipe = (recipe if isinstance(recipe, Recipe) else recipes.load(recipe)).set(settings or {})
    if options.epsilon is None and any(step.spends for step in recipe.steps):
        raise InputError("says what the recipe may spend, and is what is tested: give one", where="--epsilon")
    if options.learn_domain:
        recipe = learning_domains(recipe)
    epsilon, delta, runs, seed = options.epsilon, options.delta, options.runs, options.seed
    relation = Relation(options.relation) if options.relation else recipe.relation
    if options.one_run and relation is not Relation.ADD_REMOVE:
        raise InputError("coins decide who is in, so the number of rows is private; it is for add_remove", where="--one-run")
    identity = [FORM, recipe.dump(), epsilon, delta, relation, sorted(options.canaries), runs, options.one_run, seed]
    store = Store.open(None if folder is None else Path(folder), ("mechanism", *identity), ())
    if options.one_run:
        # A slow recipe is what this is for: nothing else is run.
        lines = [CanaryLine.from_json(store.get_or_make("one-run", lambda: _one_run(recipe, options, progress)))]
    else:
        two = TwoWorldOptions(epsilon=epsilon, delta=delta, relation=relation, canaries=options.canaries, runs=runs, seed=seed)
        lines = twoworld.audit(recipe, two, stored=store.get_or_make, progress=progress)

    def tried() -> Result:
        queries = brute_force(recipe, epsilon=epsilon or QUERIES_AT, delta=delta, relation=relation)
        return {"lines": [line.to_json() for line in queries]}

    queries = [QueryLine.from_json(line) for line in store.get_or_make("questions", tried)["lines"]]
    gradients = [] if relation is not Relation.ADD_REMOVE else planned_canaries(recipe, epsilon=epsilon, delta=delta, seed=seed)
    if not any(line.tested for line in lines) and all(line.holds for line in queries) and not any(g.surely for g in gradients):
        raise _untested(lines)
    report = _report(recipe, relation, lines, queries, gradients)
    store.write("mechanism.json", json.dumps(report.to_json(), indent=1, ensure_ascii=False))
    store.write("mechanism.html", report.page())
    return report


def _one_run(recipe: Recipe, options: MechanismOptions, progress: Progress) -> Result:
    """A recipe that refuses to run refutes nothing, and must not end like one that is refuted."""
    try:
        line = onerun.one_run(recipe, epsilon=options.epsilon, delta=options.delta, seed=options.seed, progress=progress)
    except HushError as error:
        if error.exit_code == InputError.exit_code:
            raise
        raise InputError(f"could not be run: {error}", where="--one-run") from None
    return line.to_json()


def _untested(lines: Sequence[CanaryLine]) -> InputError:
    """Nothing was tested, which is no verdict: every reason, with the canaries it keeps from being run."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        reasons.setdefault((line.verdict.text, line.why), []).append(line.canary)
    return InputError([Fault(f"{word}, canary {', '.join(names)}", why) for (word, why), names in reasons.items()])


def _report(
    recipe: Recipe,
    relation: Relation,
    lines: Sequence[CanaryLine],
    queries: Sequence[QueryLine],
    gradients: Sequence[GradientTest],
) -> MechanismReport:
    tested = [line for line in lines if line.tested]
    broken = [line.query for line in queries if not line.holds]
    quiet = any(one.surely for one in gradients)
    refuted = bool(broken) or quiet or any(line.refuted for line in tested)
    return MechanismReport(
        recipe=recipe.recipe,
        title=recipe.title,
        guarantee=recipe.guarantee,
        relation=str(relation),
        confidence=1 - twoworld.LEVEL,
        label=label_of(tested, refuted=refuted),
        refuted=refuted,
        verdict="refuted: the noise of the private training is smaller than is stated" if quiet else _verdict(tested, broken),
        lines=lines,
        queries=queries,
        notes=[one.sentence for one in gradients] or [GRADIENT],
    )


def _verdict(tested: Sequence[CanaryLine], broken: Sequence[str]) -> str:
    if broken:
        return f"refuted: one record changes {', '.join(broken)} by more than is stated"
    refuted = [line for line in tested if line.refuted]
    able = [line for line in tested if not line.too_few]
    worst = max(refuted or able or tested, key=lambda line: line.excess)
    return f"{worst.verdict.text}, by the canary {worst.canary!r}" if refuted else worst.verdict.text
