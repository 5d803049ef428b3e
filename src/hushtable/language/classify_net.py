"""A classifier of text as a network: an encoder with adapters, and a linear head on what all of its layers make of a text.

After each layer the vectors of the tokens have a mean, and its direction is kept: side by side they say more than the last alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Linear, Module, Parameter, functional  # noqa: TID253

from hushtable.errors import InputError
from hushtable.language import adapter
from hushtable.language.held import Held, means, outputs
from hushtable.language.layers import cut, stack
from hushtable.language.models import Checkpoint
from hushtable.language.nets import Language, padded
from hushtable.learn.ghost import Gradients, Sums, Tape
from hushtable.table.arrays import Array, Floats, Integers

SCALE = 4.0
"""Unit vectors are multiplied by this before the head, whose weights then need not grow far."""
CHUNK = 32
"""Texts of about one length that go through the network together: of time only."""
EVERYWHERE = ("query", "key", "value", "dense", "q_proj", "k_proj", "v_proj", "o_proj")
"""The layers that public texts may change."""
MOMENTUM = 0.9
MARGIN = 1.5
"""Between the logits of the likeliest classes, where adapters begin."""

Tokens = list[list[int]]


class Classifier(Module):
    """Logits of texts. Only adapters and head are ever trained."""

    def __init__(self, language: Language, classes: int, length: int) -> None:
        super().__init__()
        self.language, self.length = language, min(length, language.longest)
        self.encoder = language.net
        self.width = int(language.checkpoint.config["hidden_size"])
        self.head = Linear(self.width * (len(stack(self.encoder)) + 1), classes)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        self.centre: Tensor = torch.zeros(self.head.in_features)
        self.still = len(stack(self.encoder))
        """How many layers, from the first on, are never trained."""
        self.requires_grad_(False)

    @classmethod
    def of(cls, checkpoint: Checkpoint, kept: Sequence[int] | None, classes: int, length: int) -> Classifier:
        """Of an encoder in a folder, with these of its layers (None: all)."""
        language = Language.load(checkpoint)
        if kept is not None:
            cut(language.net, kept)
        return cls(language, classes, length)

    def tokens(self, texts: Sequence[str | None]) -> Tokens:
        """Of each text; a missing one is empty."""
        return self.language.tokens([text or "" for text in texts], self.length)

    def pooled(self, tokens: Tokens) -> Tensor:
        """A unit vector for each text: after each layer the direction of the mean of its tokens' vectors."""
        ids, shown = padded(tokens, self.language.end)
        return self.directions(
            means(outputs(self.encoder, list(stack(self.encoder)), input_ids=ids, attention_mask=shown.long()), shown)
        )

    def directions(self, means: list[Tensor]) -> Tensor:
        """Of the means after all layers, side by side."""
        return torch.cat([functional.normalize(mean, dim=1) for mean in means], 1) / math.sqrt(len(means))

    def logits(self, pooled: Tensor) -> Tensor:
        """Of pooled texts."""
        found: Tensor = self.head((pooled - self.centre) * SCALE)
        return found

    def forward(self, tokens: Tokens) -> Tensor:
        """Texts x classes."""
        return self.logits(self.pooled(tokens))

    def all_pooled(self, tokens: Tokens) -> Tensor:
        """Of many texts, without gradients."""
        found = torch.zeros((len(tokens), self.head.in_features))
        with torch.no_grad():
            for rows in chunks([len(own) for own in tokens]):
                found[torch.from_numpy(rows)] = self.pooled([tokens[row] for row in rows])
        return found

    def chances(self, texts: Sequence[str | None]) -> Floats:
        """Texts x classes: the probability of each class."""
        with torch.no_grad():
            found = torch.softmax(self.logits(self.all_pooled(self.tokens(texts))).double(), 1)
        return np.asarray(found.numpy(force=True), np.float64)

    def adapt(self, rank: int, top: int, names: Sequence[str] = adapter.ATTENTION) -> list[Parameter]:
        """Put adapters on the last ``top`` layers (0: all); what is to be trained, head last."""
        self.requires_grad_(False)
        layers = list(stack(self.encoder))
        self.still = max(len(layers) - top, 0) if top else 0
        for layer in layers[self.still :]:
            adapter.adapt(layer, rank, names)
        return self.open()

    def open(self) -> list[Parameter]:
        """Let adapters and head be trained."""
        for part in self.encoder.modules():
            if isinstance(part, adapter.Adapted):
                part.down.requires_grad_(True)
                part.up.requires_grad_(True)
        self.head.requires_grad_(True)
        return [parameter for parameter in self.parameters() if parameter.requires_grad]

    def narrow(self) -> list[Parameter]:
        """Let only the second factors of adapters be trained (FFA-LoRA: Sun et al. 2024).

        That is half as much noise, and none that is the product of the noise of both.
        """
        self.requires_grad_(False)
        for part in self.encoder.modules():
            if isinstance(part, adapter.Adapted):
                part.up.requires_grad_(True)
        return [parameter for parameter in self.parameters() if parameter.requires_grad]

    @torch.no_grad()
    def soften(self, pooled: Tensor) -> None:
        """Divide the head until half of these texts are decided by a margin below ``MARGIN``.

        Clipped gradients drive the logits of a private head far apart, where all that is right already has no gradient left.
        """
        first, second = self.logits(pooled).topk(2, dim=1).values.unbind(1)
        factor = MARGIN / float((first - second).median().clamp(min=MARGIN))
        self.head.weight.mul_(factor)
        self.head.bias.mul_(factor)

    def arrays(self) -> dict[str, Array]:
        """Adapters and head: what was learnt, and nothing of the encoder."""
        own = {"head/weight": self.head.weight, "head/bias": self.head.bias, "centre": self.centre}
        return adapter.arrays(self.encoder) | {name: array.numpy(force=True).copy() for name, array in own.items()}

    def restore(self, saved: dict[str, Array]) -> None:
        """What was learnt, on an encoder as it was before."""
        if saved["head/weight"].shape != tuple(self.head.weight.shape):
            raise InputError("has a head for another reading of this encoder: train it anew", where="classifier")
        adapter.restore(self.encoder, saved)
        self.requires_grad_(False)
        self.head.weight.copy_(torch.from_numpy(saved["head/weight"].copy()))
        self.head.bias.copy_(torch.from_numpy(saved["head/bias"].copy()))
        self.centre = torch.from_numpy(saved["centre"].copy())


@dataclass(frozen=True)
class Chunked:
    """The gradients of texts that went through the network in chunks of about one length."""

    tapes: list[Tape]
    rows: list[Integers]
    number: int

    def squared_norms(self) -> Tensor:
        """One for each text, in the order that they were asked for."""
        found = torch.zeros(self.number)
        for tape, rows in zip(self.tapes, self.rows, strict=True):
            found[torch.from_numpy(rows)] = tape.squared_norms()
        return found

    def weighted(self, weights: Tensor) -> Sums:
        """For each parameter and chunk the sum over its texts of weight times gradient."""
        pairs = zip(self.tapes, self.rows, strict=True)
        return [part for tape, rows in pairs for part in tape.weighted(weights[torch.from_numpy(rows)])]


Losses = Callable[[Tensor, Integers], Tensor]
"""Of the logits of the rows of these numbers, one loss each."""


def text_gradients(net: Classifier, tokens: Tokens, losses: Losses) -> Callable[[Integers], Gradients]:
    """The gradients of the rows of some numbers, through all layers that are trained; what those below give is held."""
    pooled = pooling(net, tokens)

    def found(part: Integers) -> Gradients:
        groups = chunks([len(tokens[row]) for row in part])
        tapes = [
            Tape.of(net, lambda own=part[group]: losses(net.logits(pooled(own)), own))  # type: ignore[misc]
            for group in groups
        ]
        return Chunked(tapes, groups, len(part))

    return found


def pooling(net: Classifier, tokens: Tokens) -> Callable[[Integers], Tensor]:
    """The vectors of the texts of some numbers, by a network whose lower layers stay as they are from here on."""
    if not net.still:
        return lambda rows: net.pooled([tokens[row] for row in rows])
    held = Held(net.encoder, net.still, tokens, net.language.end)
    return lambda rows: net.directions(held.means(rows))


def head_gradients(net: Classifier, pooled: Tensor, losses: Losses) -> Callable[[Integers], Gradients]:
    """The same through the head alone, of texts that were pooled before."""
    return lambda part: Tape.of(net.head, lambda: losses(net.logits(pooled[torch.from_numpy(part)]), part))


def classes_losses(labels: Integers) -> Losses:
    """Cross entropy; a row without a label, -1, has none."""
    codes = torch.from_numpy(np.asarray(labels, np.int64))

    def found(logits: Tensor, rows: Integers) -> Tensor:
        own = codes[torch.from_numpy(rows)]
        return functional.cross_entropy(logits, own.clamp(min=0), reduction="none") * (own >= 0)

    return found


class Run(Protocol):
    """A descent under way, private or not: for each batch one update, which sets ``.grad``."""

    def batches(self) -> Iterator[Integers]:
        """The rows of each batch."""
        ...

    def update(self, gradients: Callable[[Integers], Gradients]) -> None:
        """Work out the gradient of the open batch."""
        ...


@dataclass(frozen=True)
class Pace:
    """How a descent moves: what it is trained with after each gradient is post-processing of it."""

    speed: float
    steps: int
    adam: bool = True
    report: Callable[[float], None] = lambda share: None


def descend(run: Run, parameters: list[Parameter], gradients: Callable[[Integers], Gradients], pace: Pace) -> None:
    """Take all steps, and leave the parameters at their mean over the last of them."""
    plain = torch.optim.SGD(parameters, lr=pace.speed, momentum=MOMENTUM)
    optimizer: Any = torch.optim.Adam(parameters, lr=pace.speed) if pace.adam else plain
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, pace.steps, eta_min=pace.speed / 10)
    # The mean over about the last steps has the noise of many of them, not of one (De et al. 2022).
    means, follow = [own.detach().clone() for own in parameters], min(20 / pace.steps, 1.0)
    for number, _ in enumerate(run.batches(), 1):
        run.update(gradients)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for mean, own in zip(means, parameters, strict=True):
                mean.lerp_(own, follow)
        pace.report(number / pace.steps)
    with torch.no_grad():
        for mean, own in zip(means, parameters, strict=True):
            own.copy_(mean)


def chunks(lengths: Sequence[int]) -> list[Integers]:
    """Rows of about one length, some at a time."""
    order = np.argsort(np.asarray(lengths, np.int64), kind="stable")
    return [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]
