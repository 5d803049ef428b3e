"""One result of the study of manifold anonymization: a data set, anonymized by a method, and the best of the classifiers on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hushtable.anonymize.microaggregate.geodesic import Geodesic
from hushtable.anonymize.microaggregate.space import Centre
from hushtable.api.store import Result
from hushtable.data.datasets import VARIABLE, data_folder
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
FILES = {
    "tcga_breast": (("tcga_breast/tcga_breast_rnaseq.csv.gz",), "subtype", ("sample", "split")),
    "madelon": (("madelon/madelon_train.csv.gz", "madelon/madelon_valid.csv.gz"), "target", ()),
    "isolet": (("isolet/isolet_1560.csv.gz",), "target", ()),
    "mnist": (("mnist/mnist_t10k_5000.csv.gz",), "label", ()),
}
RAW, PUBLISHED, REAL = "raw", "as published", "on real rows"
"""What is asked: of rows as they are; of a table that was anonymized whole; of real rows, by a model of anonymized ones."""


@dataclass(frozen=True, eq=False)
class Data:
    """A data set as numbers, all of them quasi-identifiers, and the labels apart."""

    name: str
    table: Table
    labels: Integers

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return self.table.schema.names


def row(name: str, method: str, asked: str, folder: Path | None) -> Result:
    """The best classifier and its scores, how far distances are kept, and the processor seconds of anonymizing."""
    data = load(name, folder)
    order = np.random.default_rng(0).permutation(data.table.rows)
    test, learn = order[: len(order) // 5], order[len(order) // 5 :]
    ambient = Ambient.of(data.table, data.columns, Scale.STANDARD)
    points = ambient.points(data.table)
    shape = {"rows": data.table.rows, "columns": len(data.columns)}
    if asked == RAW:
        return shape | _classify(data, points[learn], learn, points[test], test)
    embedding, centre = METHODS[method]
    start = time.process_time()
    if asked == REAL:
        anonymized, place = _anonymize(data.table.take(learn), embedding, centre, ambient)
        taken = {"seconds": time.process_time() - start}
        return shape | taken | _classify(data, anonymized, learn, place(data.table.take(test)), test)
    anonymized, _ = _anonymize(data.table, embedding, centre, ambient)
    taken = {"seconds": time.process_time() - start}
    for key, scaled in (("stress", False), ("stress_scaled", True)):
        taken[key] = k_stress(points, anonymized, np.random.default_rng(0), scaled=scaled).value
    return shape | taken | _classify(data, anonymized[learn], learn, anonymized[test], test)


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


def _classify(data: Data, train: Floats, learn: Integers, test: Floats, held: Integers) -> Result:
    """The classifier that does best on a quarter of the rows to learn from, and its scores on the test rows."""
    from sklearn.metrics import precision_score, recall_score
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
    right = int((predicted == truth).sum())
    return {"classifier": name, "right": right, "tested": len(truth), "precision": precision, "recall": recall}


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


def absent(name: str, folder: Path | None) -> str | None:
    """Why a data set is not to be had; None if it is."""
    root = data_folder(folder)
    if name not in FILES or (root is not None and all((root / path).is_file() for path in FILES[name][0])):
        return None
    return f"{', '.join(FILES[name][0])} is not here; set {VARIABLE} to the folder of the tables"


@cache
def load(name: str, folder: Path | None) -> Data:
    """The data set of this name, those of scikit-learn among them; InputError if it is not here."""
    import pandas as pd

    if name in FILES:
        paths, target, drop = FILES[name]
        root, reason = data_folder(folder), absent(name, folder)
        if root is None or reason is not None:
            raise InputError(reason or VARIABLE, where=name)
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
    return Data(name, table, np.unique(labels, return_inverse=True)[1].astype(np.int64))
