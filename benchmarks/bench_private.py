"""private: the differentially private synthesizers against dpmm, mbi and DataSynthesizer, on the same rows at the same epsilon.

Whose claim holds was read in the installed sources: the notes say which access to the rows is not paid for.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

import hushtable as ht
from benchmarks.bench_synthesize import judge
from benchmarks.data import census, clocked
from benchmarks.peers import Peer
from benchmarks.peers import table as show
from hushtable.pipeline import recipe
from hushtable.privacy.unit import Unit
from hushtable.synthesize.histogram_cells import sizes_of
from hushtable.synthesize.marginal.estimate import estimate, loss_of
from hushtable.synthesize.marginal.measurement import Measurement
from hushtable.table import io
from hushtable.table.columns import Column
from hushtable.table.table import Table

EPSILON, DELTA = 1.0, 1e-5
SEEDS = 5
OURS = (
    "independent", "mst", "aim", "privbayes", "privbayes-published", "mwem", "field-groups", "dpcopula-mle", "dpcopula-kendall",
    "dpcopula-hybrid", "copula-shirley", "vine-certified", "clustmix", "clustmix-certified", "dpmix", "dp-merf",
)  # fmt: skip
OFTEN = ("mst", "aim", "privbayes", "clustmix-certified")
"""Run with all seeds; the others once."""

PEER_ROWS = 5_000
"""The peers that need a quarter of an hour for 30,000 rows get so many."""

DPMM = """
import pandas as pd, logging, warnings
logging.disable(logging.CRITICAL); warnings.simplefilter("ignore")
from dpmm.pipelines import PrivBayesPipeline, MSTPipeline
train = pd.read_csv(sys.argv[1], keep_default_na=False)
domain = json.load(open(sys.argv[3]))
kind = {"privbayes": PrivBayesPipeline, "mst": MSTPipeline}[sys.argv[4]]
for c, d in domain.items():
    if "categories" in d: train[c] = train[c].astype(str).astype("category")
start, wall = clock(), time.time()
model = kind(epsilon=0.9, delta=1e-5, proc_epsilon=0.1)
model.fit(train, domain)
released = model.generate(n_records=len(train))
report(start, wall)
released[train.columns].to_csv(sys.argv[2], index=False)
"""
DATASYNTHESIZER = """
import pandas as pd, tempfile, warnings
warnings.simplefilter("ignore")
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator
if __name__ == "__main__":
    domain = json.load(open(sys.argv[3]))
    start, wall = clock(), time.time()
    describer = DataDescriber(category_threshold=60)
    flags = {c: "categories" in d for c, d in domain.items()}
    describer.describe_dataset_in_correlated_attribute_mode(
        sys.argv[1], k=2, epsilon=1.0, attribute_to_is_categorical=flags, seed=0)
    described = tempfile.mktemp()
    describer.save_dataset_description_to_file(described)
    generator = DataGenerator()
    rows = sum(1 for _ in open(sys.argv[1])) - 1
    generator.generate_dataset_in_correlated_attribute_mode(rows, described)
    report(start, wall)
    generator.synthetic_dataset.to_csv(sys.argv[2], index=False)
"""
MBI = """
import numpy as np
from mbi import Domain, LinearMeasurement, estimation
given = np.load(sys.argv[1], allow_pickle=False)
names = [str(n) for n in given["names"]]
domain = Domain(names, [int(s) for s in given["sizes"]])
measured = []
for i in range(int(given["count"])):
    columns = tuple(str(c) for c in given[f"columns{i}"])
    measured.append(LinearMeasurement(given[f"counts{i}"].ravel(), columns, float(given[f"sigma{i}"])))
start, wall = clock(), time.time()
model = estimation.MirrorDescent().estimate(domain, measured)
cells = [np.asarray(model.project(m.clique).datavector()) for m in measured]
loss = sum(0.5 * float(((c - np.asarray(m.noisy_measurement)) ** 2).sum()) / m.stddev**2 for c, m in zip(cells, measured))
report(start, wall, loss=loss)
"""


def main(folder: Path) -> None:
    name, people = census()
    size = min(30_000, int(0.7 * people.rows))
    order = np.random.default_rng(20261115).permutation(people.rows)
    control, train = people.take(order[: people.rows // 4]), people.take(order[people.rows // 4 :][:size])
    rows = [row for own in OURS if own in recipe.names() for row in _ours(own, train, control)]
    rows += _peers(train, control, folder)
    show(
        f"private: {name}, {train.rows:,} training rows at ({EPSILON:g}, {DELTA:g}); tested on {control.rows:,} real rows",
        ["method", "CPU s", "wall s", "AUC", "mean TVD", "association", "the claim"],
        rows,
    )
    _engines(train, folder)


def _ours(own: str, train: Table, control: Table) -> list[list[object]]:
    unit = Unit(relation=recipe.load(own).relation)
    aucs, first = [], []
    for seed in range(SEEDS if own in OFTEN else 1):
        release, cpu, wall = clocked(lambda s=seed: ht.release(train, own, epsilon=EPSILON, delta=DELTA, unit=unit, seed=s))
        scores = judge(train, release.table, control)
        aucs.append(float(str(scores[0]).split()[0]))
        first = first or [f"ours, {own}", cpu, wall, *scores[:3], str(release.guarantee.assurance)]
    if len(aucs) > 1:
        first[3] = f"{np.mean(aucs):.4f} ({min(aucs):.4f} to {max(aucs):.4f})"
    return [first]


def _peers(train: Table, control: Table, folder: Path) -> list[list[object]]:
    few = train.take(np.arange(min(PEER_ROWS, train.rows)))
    gaps = train.schema.missing or ("",)
    domain = {
        c.name: {"lower": c.bounds.low, "upper": c.bounds.high}
        if c.numeric
        else {"categories": [*c.levels, *(() if c.required else gaps)]}
        for c in train.schema
    }
    dpmm = Peer.install(["dpmm==0.1.9"], folder / "dpmm")
    synthesizer = Peer.install(["DataSynthesizer==0.1.13"], folder / "synthesizer")
    rows = []
    unnormalized = "fails: scores by normalized information, with the sensitivity of the unnormalized one"
    for label, peer, code, part, extra, claim in (
        ("dpmm, PrivBayes", dpmm, DPMM, train, ["privbayes"], unnormalized),
        ("dpmm, MST", dpmm, DPMM, train, ["mst"], "fills gaps with a real value without paying for it"),
        (
            f"DataSynthesizer, {few.rows:,} rows",
            synthesizer,
            DATASYNTHESIZER,
            few,
            [],
            "fails: seeded noise, domain read off the rows",
        ),
    ):
        with tempfile.TemporaryDirectory() as temporary:
            source, target, domains = (Path(temporary) / n for n in ("train.csv", "release.csv", "domain.json"))
            io.write(part, source)
            domains.write_text(json.dumps(domain))
            theirs = peer.run(code, source, target, domains, *extra)
            if target.is_file():
                released, _ = ht.read_release(target, replace(train.schema, columns=tuple(map(_open, train.schema))))
                rows.append([label, theirs["cpu"], theirs["wall"], *judge(train, released, control)[:3], claim])
            else:
                rows.append([label, theirs.get("note", ""), "", "", "", "", claim])
    return rows


def _open(column: Column) -> Column:
    """A peer may write anything: gaps where there are none, and values beyond the bounds."""
    return replace(column, required=False, domain=None) if column.numeric else replace(column, required=False)


def _engines(train: Table, folder: Path) -> None:
    """The same noisy margins estimated by our engine and by mbi's."""
    coded = train.select([c.name for c in train.schema if not c.numeric])
    names = coded.schema.names
    rng = np.random.default_rng(0)
    pairs = [(n,) for n in names] + [(a, b) for a, b in pairwise(names)] + [(names[0], names[2])]
    measured = [Measurement(c, coded.counts(c) + rng.normal(0, 20, coded.sizes(c)), 20.0) for c in pairs]
    sizes = sizes_of(coded.schema)
    model, cpu, wall = clocked(lambda: estimate(sizes, measured))
    given = {"names": np.array(names), "sizes": np.array([sizes[n] for n in names]), "count": np.array(len(measured))}
    for i, m in enumerate(measured):
        given |= {f"columns{i}": np.array(m.columns), f"counts{i}": m.counts, f"sigma{i}": np.array(m.sigma)}
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "measured.npz"
        np.savez(source, **given)
        theirs = Peer.install(["mbi==2.0.0"], folder / "mbi").run(MBI, source)
    rows = [
        ["ours", cpu, wall, loss_of(model, measured)],
        ["mbi", *(theirs.get(k, theirs.get("note", "")) for k in ("cpu", "wall", "loss"))],
    ]
    show(f"private: one model of {len(measured)} noisy margins estimated", ["engine", "CPU s", "wall s", "loss"], rows)
