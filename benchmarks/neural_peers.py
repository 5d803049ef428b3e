"""The peers of the neural recipes, each in its own environment: mostlyai-engine (TabularARGN) and ctgan, as they come.

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
train = pd.read_csv(sys.argv[1], keep_default_na=False, na_values=[""])
seed = int(sys.argv[3])
start, wall = clock(), time.time()
"""
ARGN = f"""{NUMBERS}
from mostlyai.engine import TabularARGN
model = TabularARGN(max_training_time=float(sys.argv[4]), device="cpu", random_state=seed)
model.fit(train)
released = model.sample(n_samples=len(train))
report(start, wall, version="{MOSTLY}")
released[train.columns].to_csv(sys.argv[2], index=False)
"""
# Its transformer of numbers takes no missing value: such a row is left out.
GAN = f"""{NUMBERS}
from ctgan import CTGAN
train = train.dropna()
discrete = [name for name in train if train[name].dtype.kind not in "if" or train[name].nunique() <= 2]
model = CTGAN(epochs=int(sys.argv[4]), enable_gpu=False, verbose=False)
model.set_random_state(seed)
model.fit(train, discrete)
fitted = clock() - start
released = model.sample(len(train))
report(start, wall, version="{CTGAN}", epoch=fitted / int(sys.argv[4]))
released.to_csv(sys.argv[2], index=False)
"""


def argn_peer(folder: Path) -> Peer:
    """mostlyai-engine; the two libraries of images and sound that it brings are taken out, as they need another torch."""
    return Peer.install([TORCH], folder).add([MOSTLY, TORCH]).remove(["torchvision", "torchaudio"])


def gan_peer(folder: Path) -> Peer:
    """The library ctgan."""
    return Peer.install([TORCH], folder).add([CTGAN, TORCH])
