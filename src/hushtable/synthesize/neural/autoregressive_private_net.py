"""Training the autoregressive network by private descent."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.descents import Weights
from hushtable.learn.ghost import Tape
from hushtable.learn.loop import seeded
from hushtable.learn.nets import Autoregressive, widths
from hushtable.learn.private import PrivateDescent
from hushtable.privacy.vault import Vault
from hushtable.synthesize.neural.autoregressive_net import weights
from hushtable.table.arrays import Floats, Integers
from hushtable.table.table import Table


class Training(NamedTuple):
    """What a private training is to be like; nothing of it may depend on rows but through what was paid for."""

    margins: Sequence[Floats]
    """The shares of each field's cells, as they were paid for."""
    ordered: tuple[int, ...]
    """Fields whose cells lie in order, missing last."""
    embedding: int
    hidden: int
    speed: float
    """The learning rate at the start; it falls to a tenth."""
    rows: float
    """How many there are, as it was paid for."""


def fitted(
    vault: Vault,
    codes: Callable[[Table], Integers],
    what: Training,
    how: PrivateDescent,
    seed: int,
) -> Weights:
    """The weights after all steps, averaged over the last of them; the rows are read as ``codes`` (rows x fields)."""
    with seeded(seed):
        cells = [len(shares) for shares in what.margins]
        net = Autoregressive(cells, what.embedding, widths(cells, what.hidden))
        net.start([torch.from_numpy(np.log(np.maximum(shares, 1e-6)).astype(np.float32)) for shares in what.margins])
        net.order(what.ordered)
        run = how.start(vault, list(net.parameters()), what.rows)
        rows = torch.from_numpy(codes(run.table))
        optimizer = torch.optim.Adam(net.parameters(), lr=what.speed)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, how.steps, eta_min=what.speed / 10)
        # The mean over about the last twentieth of the steps: it has the noise of many steps, not of one (De et al. 2022).
        mean, follow = copy.deepcopy(net), min(20 / how.steps, 1.0)
        for number, _ in enumerate(run.batches(), 1):
            run.update(lambda part: Tape.of(net, lambda: net.losses(rows[torch.from_numpy(part)])))
            optimizer.step()
            schedule.step()
            with torch.no_grad():
                for kept, now in zip(mean.parameters(), net.parameters(), strict=True):
                    kept.lerp_(now, follow)
            vault.report(number / how.steps)
        return weights(mean)
