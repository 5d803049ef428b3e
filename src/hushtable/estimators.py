"""The library in the manner of scikit-learn: settings in the constructor, ``fit``, then what was learnt in names that end in ``_``.

Both are thin: everything is a call of ``hushtable.release``, and promises exactly what that release promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hushtable.api.release import release
from hushtable.errors import InputError
from hushtable.pipeline import recipe as recipes
from hushtable.pipeline.recipe import Recipe
from hushtable.pipeline.release import Release
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.unit import Unit
from hushtable.table.io import read
from hushtable.table.like import like
from hushtable.table.schema import Schema

if TYPE_CHECKING:
    import numpy as np

    State = int | np.random.Generator | np.random.RandomState | None

_OWN = ("recipe", "epsilon", "delta", "schema", "unit", "learn_domain", "random_state", "allow_copies")


class _Estimator:
    """Settings kept as they were given, so that scikit-learn can read, change and clone them."""

    release_: Release
    guarantee_: Guarantee
    schema_: Schema
    n_features_in_: int
    feature_names_in_: Any

    def __init__(
        self,
        recipe: str | Path | Recipe,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        schema: Schema | str | Path | None = None,
        unit: Unit | None = None,
        learn_domain: bool = False,
        random_state: State = None,
        **knobs: Any,
    ) -> None:
        self.recipe, self.epsilon, self.delta, self.schema, self.unit = recipe, epsilon, delta, schema, unit
        self.learn_domain, self.random_state = learn_domain, random_state
        # Why rows of real people may be handed out, as an option of ``release``; a name that no step has as a knob.
        self.allow_copies: str | None = knobs.pop("allow_copies", None)
        self._knobs = knobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings by name, the knobs of the recipe among them. Nothing here is nested, so ``deep`` changes nothing."""
        return {name: getattr(self, name) for name in _OWN} | self._knobs

    def set_params(self, **settings: Any) -> Self:
        """Change settings; InputError names a knob that the recipe does not have, and leaves everything as it was."""
        own = {name: value for name, value in settings.items() if name in _OWN}
        knobs = {**self._knobs, **{name: value for name, value in settings.items() if name not in _OWN}}
        _turned(own.get("recipe", self.recipe), knobs)
        for name, value in own.items():
            setattr(self, name, value)
        self._knobs = knobs
        return self

    def fit(self, X: object, y: object = None) -> Self:
        """Make the release of a frame, a file or a table; ``y`` is ignored, a target is a column like any other."""
        import numpy as np

        table = read(X, self.schema)
        released = release(
            table, self.recipe, settings=self._knobs, epsilon=self.epsilon, delta=self.delta, unit=self.unit,
            learn_domain=self.learn_domain, seed=_seed(self.random_state), allow_copies=self.allow_copies,
        )  # fmt: skip
        self._accept(released)
        self.release_, self.guarantee_, self.schema_ = released, released.guarantee, table.schema
        self._given = _shape(X)
        self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        self.n_features_in_ = len(table.schema)
        return self

    def _accept(self, released: Release) -> None:
        """Refuse a release that this estimator can do nothing with."""

    def _fitted(self) -> Release:
        if not self.__sklearn_is_fitted__():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit with a table first")
        return self.release_

    def __sklearn_is_fitted__(self) -> bool:
        """Whether ``fit`` has been called."""
        return hasattr(self, "release_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of every estimator: no target is needed, and any column may come."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=True, string=True, categorical=True, allow_nan=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=inputs)

    def __repr__(self) -> str:
        """The settings that were given."""
        given = {name: value for name, value in self.get_params().items() if value is not None and value is not False}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


class Synthesizer(_Estimator):
    """New rows from a model of the table.

    ``epsilon`` is spent once, in ``fit``; every ``sample`` after it is post-processing of the same model and costs nothing. A
    domain that was drafted from the rows is refused by a private recipe, unless ``learn_domain`` pays for it or a schema
    declares it.

    >>> import hushtable as ht
    >>> table = ht.people(300)
    >>> model = ht.Synthesizer("mst", epsilon=1.0, schema=table.schema).fit(table.to_pandas())
    >>> model.guarantee_.assurance
    <Assurance.PROVEN: 'proven'>
    >>> len(model.sample(50))
    50
    """

    def __init__(self, recipe: str | Path | Recipe = "aim", **settings: Any) -> None:
        super().__init__(recipe, **settings)

    def sample(self, n_samples: int | None = None, random_state: State = None) -> Any:
        """So many rows from the fitted model, in the form of what was fitted; without a number the rows that ``fit`` released.

        A frame of pandas, polars or Arrow comes back as one, with the types of its columns; anything else as a pandas frame.
        """
        fitted = self._fitted()
        return like(fitted.table if n_samples is None else fitted.draw(n_samples, _seed(random_state)), self._given)

    def _accept(self, released: Release) -> None:
        if released.fitted is None:
            reason = "changes rows and draws no new ones: take Anonymizer, or a recipe that synthesizes (aim, mst, sequential)"
            raise InputError(reason, where=f"recipe {released.recipe.recipe}")


class Anonymizer(_Estimator):
    """The same table with less in it: ``fit_transform`` returns the release of the very rows it is given.

    There is no ``transform``: what a release promises, it promises of the rows it was made from. Rows leave in an order that
    says nothing about the original one, under an index of their own, and identifiers and free text stay behind, so the result
    cannot be joined to the input. A frame of pandas, polars or Arrow comes back as one, with the types of its columns; but a
    generalized column (an interval, a set, ``*``) is text.

    >>> import hushtable as ht
    >>> table = ht.people(300)
    >>> anonymizer = ht.Anonymizer("mdav", k=10, schema=table.schema)
    >>> anonymizer.fit_transform(table.to_pandas()).shape
    (300, 20)
    >>> anonymizer.guarantee_
    Guarantee(verified: k-anonymity, k = 10)
    """

    def __init__(self, recipe: str | Path | Recipe = "mdav", **settings: Any) -> None:
        super().__init__(recipe, **settings)

    def fit_transform(self, X: object, y: object = None) -> Any:
        """``fit``, then the released rows in the form of what was given."""
        return like(self.fit(X).release_.table, self._given)


def _shape(given: Any) -> Any:
    """What is remembered of a frame: its library and the types of its columns, and no row."""
    module = type(given).__module__.partition(".")[0]
    if module == "pandas" and hasattr(given, "columns"):
        return given.iloc[:0]
    if module == "polars":
        return given.head(0)
    return given.slice(0, 0) if module == "pyarrow" and hasattr(given, "slice") else None


def _seed(state: State) -> int | None:
    """A seed as it is, or one that is drawn from a state of numpy."""
    import numpy as np

    if isinstance(state, np.random.Generator):
        return int(state.integers(2**32))
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**32, dtype=np.uint64))
    if state is not None and not isinstance(state, Integral):
        raise InputError(f"expected a whole number, a Generator or a RandomState, got {state!r}", where="random_state")
    return state


def _turned(recipe: str | Path | Recipe, knobs: Mapping[str, Any]) -> Recipe:
    return (recipe if isinstance(recipe, Recipe) else recipes.load(recipe)).set(knobs)
