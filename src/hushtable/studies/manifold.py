"""What manifold anonymization leaves of a classifier: the study of Garg and Torra (2023), repeated.

``hush study manifold`` prints our rows with the published ones beside them where the data set is the same, or of the same kind.
Two questions are asked. *As published*: the whole table is anonymized, and a model learns from one part of
the result and is tested on another, so that rows of one group stand on both sides. *On real rows*: only the training rows are
anonymized, and the model is tested on rows that nobody touched (embedded by the map that was learnt from the others).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.anonymize.microaggregate.geodesic import Geodesic
from hushtable.anonymize.microaggregate.space import Centre
from hushtable.data.datasets import VARIABLE, data_folder
from hushtable.display import Progress, silent
from hushtable.encode.embed import Embed, Method
from hushtable.errors import InputError
from hushtable.measures.geometry import k_stress
from hushtable.numerics.manifold.ambient import Ambient, Scale
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import Bounds, Column, Kind, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table

K = 10
DIMENSIONS = 10
"""Of the embeddings; the publication does not say."""
BOOSTED = 5
"""The most classes for which boosted trees are grown: each class has its own, and with ten they take minutes."""
QUICK = ("breast_cancer", "tcga_breast", "digits")
FILES = {
    "tcga_breast": (("tcga_breast/tcga_breast_rnaseq.csv.gz",), "subtype", ("sample", "split")),
    "madelon": (("madelon/madelon_train.csv.gz", "madelon/madelon_valid.csv.gz"), "target", ()),
    "isolet": (("isolet/isolet_1560.csv.gz",), "target", ()),
    "mnist": (("mnist/mnist_t10k_5000.csv.gz",), "label", ()),
}
NAMES = ("breast_cancer", "tcga_breast", "digits", "madelon", "isolet", "mnist")
PUBLISHED = {
    "Madelon": {
        "M-MDAV": (60.38, 60.30, 61.21),
        "M-ISOMDAV": (62.18, 62.25, 62.19, 0.28),
        "M-LLEMDAV": (59.23, 59.21, 59.23, 0.25),
    },
    "RNA": {"M-MDAV": (90.10, 90.12, 90.11), "M-ISOMDAV": (99.17, 99.18, 99.17, 0.43), "M-LLEMDAV": (58.12, 59.3, 58.13, 0.73)},
    "Gisette": {
        "M-MDAV": (69.21, 69.87, 69.18),
        "M-ISOMDAV": (77.79, 76.82, 77.78, 0.69),
        "M-LLEMDAV": (85.13, 86.10, 85.14, 0.64),
    },
}
"""Accuracy, precision, recall (%) and K-Stress of tables 3.1 and 3.2 of Garg 2025."""
BESIDE = {"madelon": "Madelon", "tcga_breast": "RNA", "digits": "Gisette", "mnist": "Gisette"}
"""Which published data set stands beside ours: Madelon is the same, the others are of the same kind."""


@dataclass(frozen=True)
class Row:
    """One method on one data set, by the best of the classifiers."""

    data: str
    shape: tuple[int, int]
    method: str
    tested: str
    """raw, as published, or on real rows."""
    classifier: str
    accuracy: float
    precision: float
    recall: float
    stress: float | None
    stress_scaled: float | None
    seconds: float
    """Of processor time, for anonymizing."""
    published: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class _Data:
    name: str
    table: Table
    labels: Integers

    @property
    def columns(self) -> tuple[str, ...]:
        return self.table.schema.names


def run(folder: str | Path | None = None, progress: Progress = silent, *, quick: bool = False) -> list[Row]:
    """All rows of the study; data sets that are not in the folder are left out. A few minutes; ``quick`` takes the small ones."""
    rows: list[Row] = []
    names = QUICK if quick else NAMES
    for number, name in enumerate(names):
        data = _load(name, folder)
        for row in _study(data) if data is not None else ():
            rows.append(row)
            progress(f"{name}: {row.method}, {row.tested}", number / len(names))
    if not rows:
        raise InputError(f"none of the data sets is here; set {VARIABLE} to the folder of the tables", where="data folder")
    return rows


def _study(data: _Data) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    order = rng.permutation(data.table.rows)
    test, learn = order[: len(order) // 5], order[len(order) // 5 :]
    ambient = Ambient.of(data.table, data.columns, Scale.STANDARD)
    points = ambient.points(data.table)
    yield _row(data, "none", "raw", _classify(data, points[learn], learn, points[test], test), None, 0.0)
    for method, (embedding, centre) in METHODS.items():
        start = time.process_time()
        anonymized, _ = _anonymize(data.table, embedding, centre, ambient)
        seconds = time.process_time() - start
        stress = [k_stress(points, anonymized, np.random.default_rng(0), scaled=scaled).value for scaled in (False, True)]
        scores = _classify(data, anonymized[learn], learn, anonymized[test], test)
        yield _row(data, method, "as published", scores, stress, seconds)
        anonymized, place = _anonymize(data.table.take(learn), embedding, centre, ambient)
        scores = _classify(data, anonymized, learn, place(data.table.take(test)), test)
        yield _row(data, method, "on real rows", scores, None, seconds)


METHODS: dict[str, tuple[Method | None, Centre]] = {
    "M-MDAV": (None, Centre.MEDOID),
    "M-MDAV, means": (None, Centre.MEAN),
    "M-ISOMDAV": (Method.ISOMAP, Centre.MEDOID),
    "M-LLEMDAV": (Method.LLE, Centre.MEDOID),
}


def _anonymize(
    table: Table, embedding: Method | None, centre: Centre, ambient: Ambient
) -> tuple[Floats, Callable[[Table], Floats]]:
    """The rows anonymized, in their order, and what places other rows beside them."""
    rng = np.random.default_rng(1)
    if embedding is None:
        anonymized = Geodesic(k=K, centre=centre).fit(Vault.of(table), rng).table
        return ambient.points(anonymized), ambient.points
    code = Embed(method=embedding, dimensions=min(DIMENSIONS, len(table.schema))).fit(Vault.of(table), rng)
    anonymized = Geodesic(k=K, centre=centre, scale=Scale.NONE).fit(Vault.of(code.apply(table)), rng).table
    return _matrix(anonymized), lambda others: _matrix(code.apply(others))


def _matrix(table: Table) -> Floats:
    return np.column_stack([table.floats(name) for name in table.schema.names])


Scores = tuple[str, float, float, float]


def _classify(data: _Data, train: Floats, learn: Integers, test: Floats, held: Integers) -> Scores:
    """The classifier that does best on a quarter of the rows to learn from, and its scores on the test rows."""
    from sklearn.metrics import accuracy_score, precision_score, recall_score
    from threadpoolctl import threadpool_limits

    cut = len(learn) // 4
    labels = data.labels[learn]
    best, chosen, name = -1.0, None, ""
    for title, model in _classifiers(len(np.unique(data.labels))):
        with threadpool_limits(1):  # small fits: threads would wait for one another longer than they work
            model.fit(train[cut:], labels[cut:])
        score = float(model.score(train[:cut], labels[:cut]))
        if score > best:
            best, chosen, name = score, model, title
    assert chosen is not None
    predicted, truth = chosen.predict(test), data.labels[held]
    weighted = {"average": "weighted", "zero_division": 0.0}
    precision, recall = (float(score(truth, predicted, **weighted)) for score in (precision_score, recall_score))
    return name, float(accuracy_score(truth, predicted)), precision, recall


def _classifiers(classes: int) -> Iterator[tuple[str, Any]]:
    """Those of the publication (XGBoost by histogram boosting), with the settings it names."""
    from sklearn import ensemble, naive_bayes, neighbors, svm, tree
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    yield "SVM", make_pipeline(StandardScaler(), svm.SVC())
    yield "naive Bayes", naive_bayes.GaussianNB()
    yield "KNN", make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier(5))
    yield "tree", tree.DecisionTreeClassifier(random_state=0)
    yield "forest", ensemble.RandomForestClassifier(random_state=0)
    if classes <= BOOSTED:
        # The root of the columns per split: the publication tries all of them, which takes ten times as long.
        yield "boosting", ensemble.GradientBoostingClassifier(max_depth=5, max_features="sqrt", random_state=0)
        yield "histogram boosting", ensemble.HistGradientBoostingClassifier(max_iter=50, random_state=0)


def _row(data: _Data, method: str, tested: str, scores: Scores, stress: list[float] | None, seconds: float) -> Row:
    published = PUBLISHED.get(BESIDE.get(data.name, ""), {}).get(method, ()) if tested == "as published" else ()
    shape = (data.table.rows, len(data.columns))
    plain, scaled = stress or (None, None)
    return Row(data.name, shape, method, tested, *scores, plain, scaled, seconds, published)


def _load(name: str, folder: str | Path | None) -> _Data | None:
    """A data set as numbers, all of them quasi-identifiers, and the labels apart; None if it is not here."""
    import pandas as pd

    if name in FILES:
        paths, target, drop = FILES[name]
        root = data_folder(folder)
        if root is None or not all((root / path).is_file() for path in paths):
            return None
        frame = pd.concat([pd.read_csv(root / path) for path in paths], ignore_index=True).drop(columns=list(drop))
        values, labels = frame.drop(columns=target).to_numpy(np.float64), frame[target].to_numpy()
    else:
        from sklearn import datasets

        values, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    columns = tuple(
        Column(name=f"x{i}", kind=Kind.REAL, role=Role.QUASI, domain=Bounds(float(v.min()), float(v.max()), True))
        for i, v in enumerate(values.T)
    )
    table = Table(Schema(columns), {c.name: np.ascontiguousarray(v) for c, v in zip(columns, values.T, strict=True)})
    return _Data(name, table, np.unique(labels, return_inverse=True)[1].astype(np.int64))


def text(rows: list[Row]) -> str:
    """The rows as a table, published ones beside ours."""
    head = f"{'data':<14}{'shape':>12}  {'method':<15}{'tested':<14}{'best classifier':<20}{'acc':>6}{'prec':>6}{'rec':>6}"
    lines = [f"{head}{'stress':>8}{'scaled':>8}{'cpu s':>7}   published: acc prec rec stress"]
    for row in rows:
        scores = "".join(f"{100 * v:6.1f}" for v in (row.accuracy, row.precision, row.recall))
        stress = "".join(f"{'-' if v is None else format(v, '.2f'):>8}" for v in (row.stress, row.stress_scaled))
        shape = f"{row.shape[0]:,} x {row.shape[1]}"
        line = f"{row.data:<14}{shape:>12}  {row.method:<15}{row.tested:<14}{row.classifier:<20}{scores}{stress}{row.seconds:7.1f}"
        lines.append(line + (f"   {BESIDE[row.data]}: {' '.join(map(str, row.published))}" if row.published else ""))
    notes = (
        f"k = {K}, embeddings in {DIMENSIONS} dimensions. Madelon is the published set less its unlabelled part; RNA and Gisette",
        "stand beside sets of the same kind (gene expression, handwritten digits), not the same set.",
        "stress: K-Stress as printed; scaled: with the best common factor of the new distances.",
        f"Boosted trees are left out where there are more than {BOOSTED} classes.",
    )
    return "\n".join([*lines, "", *notes])
