"""language: the private step against the same step without privacy, and how fast texts are learnt from and written.

Needs an installed model (``hush model add smollm2``); says so where there is none. Ratios are of CPU seconds in the same run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.data import clocked
from hushtable.errors import InputError
from hushtable.language.models import Sort, checkpoint

ROWS, PLACES, TEXT = 32, 48, 24


def main(folder: Path) -> None:
    try:
        known = checkpoint("smollm2", Sort.CAUSAL, "bench")
    except InputError as error:
        print(f"\nlanguage: left out, {error}")
        return
    import torch

    from hushtable.language.adapter import adapt
    from hushtable.language.halves import Halves, depth_of
    from hushtable.language.write import Writer
    from hushtable.language.writing_net import loaded, losses
    from hushtable.learn.ghost import Tape
    from hushtable.learn.loop import one_thread

    language = loaded(known)
    ids = torch.randint(10, 40_000, (ROWS, PLACES), generator=torch.Generator().manual_seed(0))
    written = torch.zeros(ids.shape, dtype=torch.bool)
    written[:, -TEXT:] = True
    with one_thread():
        deep = depth_of(language.net)
        halves = Halves(language.net, deep - max(1, deep // 6))
        parameters = [own for layer in halves.layers for own in adapt(layer, 4)]
        states, lower, _ = clocked(lambda: halves.lower(ids), 2)

        def plain() -> None:
            losses(language, states, ids, written, halves).mean().backward()

        def private() -> None:
            tape = Tape.of(language.net, lambda: losses(language, states, ids, written, halves))
            tape.weighted((0.1 / tape.squared_norms().sqrt()).clamp(max=1.0))

        _, usual, _ = clocked(plain, 3)
        _, clipped, _ = clocked(private, 3)
        made, writing, _ = clocked(lambda: Writer(language=language).write(["A message:"] * 64, np.random.default_rng(0), 32))
    tokens = sum(len(language.tokens([own.text])[0]) for own in made)
    print(f"\nlanguage: {known.name}, {sum(own.numel() for own in parameters):,} adapted weights, one thread")
    print(f"{'work':<44}{'CPU s':>10}{'tokens/s':>12}{'ratio':>8}")
    print(f"{'layers that stay, once for each row':<44}{lower:>10.2f}{ids.numel() / lower:>12.0f}{'':>8}")
    print(f"{'a step without privacy':<44}{usual:>10.2f}{ids.numel() / usual:>12.0f}{1:>8.2f}")
    print(f"{'a step with clipped gradients of each row':<44}{clipped:>10.2f}{ids.numel() / clipped:>12.0f}{clipped / usual:>8.2f}")
    print(f"{'writing, 64 texts at a time':<44}{writing:>10.2f}{tokens / writing:>12.0f}{'':>8}")
