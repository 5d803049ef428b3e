"""Label texts with a classifier that was fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from hushtable.display import meant
from hushtable.errors import InputError
from hushtable.language.classifier import TextClassifier
from hushtable.pipeline import store
from hushtable.pipeline.release import Release
from hushtable.pipeline.store import SavedModel
from hushtable.table.columns import Bounds, Column, Kind
from hushtable.table.files import opened
from hushtable.table.schema import Schema
from hushtable.table.table import Table

DIGITS = 4
"""Decimals of a probability."""


def predict(
    model: SavedModel | Release | str | Path,
    texts: Iterable[str | None] | str | Path,
    column: str = "",
    *,
    base: str = "",
    trust: bool = False,
) -> Table:
    """A table of texts, the likeliest class of each, and the probability of every class.

    ``model`` is a fitted classifier of text: a release, a saved model or its file. ``texts`` are texts, or a file of which the
    column ``column`` is read (by default the one that the classifier was trained on). ``base`` is the folder or the name of the
    public model that the classifier needs, where it is kept elsewhere than when it was trained. Labelling reads no private row of
    the training, so it costs no budget; the texts that are labelled, and their labels, are as private as they were.
    """
    fitted = _classifier(model, trust=trust)
    if base:
        fitted = replace(fitted, shape=replace(fitted.shape, folder=base))
    own = _read(Path(texts), column or fitted.task.text) if isinstance(texts, (str, Path)) else list(texts)
    chances = fitted.chances(own)
    target = fitted.schema[fitted.task.target]
    name = fitted.task.text
    labels = np.asarray(chances.argmax(1) if len(own) else np.zeros(0), target.dtype)
    numbers = {
        Column(name=f"p({level})", kind=Kind.REAL, domain=Bounds(0.0, 1.0), decimals=DIGITS): np.round(chances[:, place], DIGITS)
        for place, level in enumerate(fitted.levels)
    }
    schema = Schema((replace(target, required=True), *numbers))
    table = Table(schema, {target.name: labels, **{own.name: array for own, array in numbers.items()}})
    return table.with_text(fitted.schema[name], own).select([name, *schema.names])


def _classifier(model: SavedModel | Release | str | Path, *, trust: bool) -> TextClassifier:
    if isinstance(model, Release):
        model = SavedModel.of(model)
    elif not isinstance(model, SavedModel):
        model = store.load(model, trust=trust)
    fitted = model.fitted.model
    if not isinstance(fitted, TextClassifier):
        raise InputError(f"a model of the recipe {model.recipe.recipe} draws tables; it does not classify texts", where="predict")
    return fitted


def _read(path: Path, column: str) -> list[str | None]:
    with opened(path) as (names, source):
        if column not in names:
            raise InputError(
                f"there is no column {column!r}{meant(column, names)}; the file has {', '.join(names)}. Name the one with texts "
                "(--column)", where=path.name,
            )  # fmt: skip
        return [None if value is None else str(value) for value in source(column)]
