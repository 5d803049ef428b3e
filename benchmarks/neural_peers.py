"""The peers of the neural recipes, each in its own environment: mostlyai-engine (TabularARGN) and ctgan, as they come.

They are told which columns are categories. The engine's replacement of rare values is off: their levels would be lost.

One thread each, as for ours: threads that wait for one another burn CPU seconds, and the columns of the table are CPU seconds.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.peers import Peer

TORCH = "torch==2.13.0"
MOSTLY, CTGAN = "mostlyai-engine==2.7.3", "ctgan==0.12.1"
NUMBERS = """
import logging, os, warnings
os.environ["OMP_NUM_THREADS"] = os.environ["LOKY_MAX_CPU_COUNT"] = "1"
warnings.simplefilter("ignore"); logging.disable(logging.CRITICAL)
import pandas as pd, torch
torch.set_num_threads(1)
source, out, seed, most, categories = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5].split(",")
train = pd.read_csv(source, keep_default_na=False, na_values=[""], dtype=dict.fromkeys(categories, str))
def write(released):
    # Numbers are brought back to the range of the table, and rounded where all of its numbers are whole: else no schema takes them.
    for c in train.columns.difference(categories):
        whole = (train[c].dropna() % 1 == 0).all()
        released[c] = released[c].clip(train[c].min(), train[c].max()).round(0 if whole else 9)
        released[c] = released[c].astype("Int64") if whole else released[c]
    released[train.columns].to_csv(out, index=False)
"""
ARGN = (
    NUMBERS
    + """
from mostlyai.engine import TabularARGN
start, wall = clock(), time.time()
types = {c: "TABULAR_CATEGORICAL" if c in categories else "TABULAR_NUMERIC_AUTO" for c in train}
model = TabularARGN(
    max_training_time=most, device="cpu", random_state=seed, value_protection=False, tgt_encoding_types=types
)
model.fit(train)
released = model.sample(n_samples=len(train))
report(start, wall)
write(released)
"""
)
# Its transformer of numbers takes no missing value: they are filled, and none are drawn.
GAN = (
    NUMBERS
    + """
from ctgan import CTGAN
start, wall = clock(), time.time()
train = train.fillna({c: "" if c in categories else train[c].median() for c in train})
model = CTGAN(epochs=int(most), enable_gpu=False, verbose=False)
model.set_random_state(seed)
model.fit(train, categories)
fitted = clock() - start
released = model.sample(len(train))
report(start, wall, epoch=fitted / int(most))
write(released)
"""
)


def argn_peer(folder: Path) -> Peer:
    """mostlyai-engine; the two libraries of images and sound that it brings are taken out, as they need another torch."""
    return Peer.install([TORCH], folder).add([MOSTLY, TORCH]).remove(["torchvision", "torchaudio"])


def gan_peer(folder: Path) -> Peer:
    """The library ctgan."""
    return Peer.install([TORCH], folder).add([CTGAN, TORCH])
