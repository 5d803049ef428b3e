"""Save the fitted model of a release, and draw further releases from it."""

from __future__ import annotations

from pathlib import Path

from hushtable.pipeline import store
from hushtable.pipeline.release import Release, Stated
from hushtable.pipeline.step import Given
from hushtable.pipeline.store import SavedModel


def save_model(release: Stated, path: str | Path) -> Path:
    """Write the fitted model of a release to a new file, with its guarantee, recipe and versions.

    The file is JSON and arrays in a zip archive, never a pickle. A release that is the anonymized table itself has no model, and a
    schema that was read off the rows must be declared first: both are refused before anything is written. A model without a
    proven guarantee is as sensitive as the rows it was fitted on; its file says so.
    """
    return store.save(release, path)


def load_model(path: str | Path, *, trust: bool = False) -> SavedModel:
    """Read a saved model; InputError where it is not what its own card says.

    Steps of other packages are loaded only with ``trust``.
    """
    return store.load(path, trust=trust)


def draw(
    model: SavedModel | Release | str | Path,
    rows: int | None = None,
    given: Given | None = None,
    seed: int | None = None,
    *,
    trust: bool = False,
) -> Release:
    """A new release drawn from a fitted model: of a release, of a file, or one that was loaded.

    ``rows`` is by default the number that the model itself holds fit to publish; ``given`` fixes columns to values. Drawing reads
    no private row, so the guarantee of a differentially private model covers all tables drawn from it, at no further cost.

    >>> import hushtable as ht
    >>> fitted = ht.release(ht.people(300), "independent", epsilon=1.0)
    >>> drawn = ht.draw(fitted, rows=50, given={"sex": "female"}, seed=1)
    >>> drawn.table.rows, set(drawn.table.strings("sex"))
    (50, {'female'})
    >>> drawn.guarantee.epsilon() == fitted.guarantee.epsilon()
    True
    """
    if isinstance(model, Release):
        model = SavedModel.of(model)
    elif not isinstance(model, SavedModel):
        model = load_model(model, trust=trust)
    return model.draw(rows, given=given, seed=seed)
