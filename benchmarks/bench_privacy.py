"""privacy: exact noise against OpenDP's samplers, criteria against pyCANON."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.data import census, clocked
from benchmarks.peers import Peer, ratio
from benchmarks.peers import table as show
from hushtable.privacy import criteria
from hushtable.privacy.noise import discrete_gaussian, gaussian_variance
from hushtable.table import io

OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib")
n, sigma = int(sys.argv[1]), float(sys.argv[2])
space = dp.vector_domain(dp.atom_domain(T="i32")), dp.l2_distance(T=float)
noisy = dp.m.make_gaussian(*space, scale=sigma)
start, wall = clock(), time.time()
noisy([0] * n)
report(start, wall)
"""
PYCANON = """
import pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
quasi, secret = sys.argv[2].split(","), sys.argv[3]
start, wall = clock(), time.time()
k = anonymity.k_anonymity(frame, quasi)
l = anonymity.l_diversity(frame, quasi, [secret])
t = anonymity.t_closeness(frame, quasi, [secret])
report(start, wall, k=k, l=l, t=float(t))
"""


def main(folder: Path) -> None:
    draws = 100_000
    peer = Peer.install(["opendp"], folder / "opendp")
    rows = []
    for sigma in (2.5, 40.0, 3000.0):
        variance = gaussian_variance(sigma)
        _, cpu, _ = clocked(lambda v=variance: discrete_gaussian(v, draws), 3)
        theirs = peer.run(OPENDP, draws, sigma)
        rows.append([f"sigma {sigma:g}", cpu, theirs.get("cpu", ""), ratio(theirs, cpu)])
    show(f"privacy: {draws:,} draws of the discrete Gaussian, CPU s", ["scale", "ours", "OpenDP", "OpenDP / ours"], rows)

    name, people = census()
    quasi = tuple(q for q in ("age", "sex", "race", "marital_status", "education", "workclass", "occupation") if q in people.schema)
    quasi = quasi or people.schema.quasi
    secret = "income" if "income" in people.schema else people.schema.secrets[0]
    _, cpu, _ = clocked(lambda: criteria.measure(people, quasi, [secret]), 3)
    with tempfile.TemporaryDirectory() as temporary:
        io.write(people, Path(temporary) / "data.csv")
        theirs = Peer.install(["pycanon"], folder / "pycanon").run(PYCANON, Path(temporary) / "data.csv", ",".join(quasi), secret)
    show(
        f"privacy: k, l and t of {name}, {people.rows:,} rows, {len(quasi)} quasi-identifiers, CPU s",
        ["ours (k, 3 x l, t)", "pyCANON (k, l, t)", "pyCANON / ours"],
        [[cpu, theirs.get("cpu", ""), ratio(theirs, cpu)]],
    )
