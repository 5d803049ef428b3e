"""The layers of a network of language: compared, and cut out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch.nn import Module, ModuleList  # noqa: TID253

from hushtable.errors import InputError
from hushtable.language.nets import PART, Language, padded
from hushtable.table.arrays import Floats


def stack(net: Module) -> ModuleList:
    """The list of its layers; InputError where the network has none as long as its configuration says."""
    number = int(getattr(net.config, "num_hidden_layers", 0))
    found = [part for part in net.modules() if isinstance(part, ModuleList) and len(part) == number]
    if not number or not found:
        raise InputError("the network has no list of layers that could be cut", where=type(net).__name__)
    return found[0]


def cut(net: Module, kept: Sequence[int]) -> None:
    """Leave out all layers but those of these numbers."""
    layers = stack(net)
    if len(kept) == len(layers):
        return
    rest = ModuleList([layers[number] for number in kept])
    path = next(name for name, part in net.named_modules() if part is layers)
    parent, _, name = path.rpartition(".")
    setattr(net.get_submodule(parent), name, rest)
    for number, layer in enumerate(rest):
        for part in layer.modules():
            # A causal layer keeps what it has seen under its own number.
            if hasattr(part, "layer_idx"):
                part.layer_idx = number  # type: ignore[assignment]
    net.config.num_hidden_layers = len(rest)  # type: ignore[union-attr]


def cosines(language: Language, texts: Sequence[str], most: int) -> Floats:
    """Texts x layers: the cosine of what each layer is given and what it gives, over the tokens of the text and without padding."""
    tokens = language.tokens(texts, min(most, language.longest))
    found = np.ones((len(texts), len(stack(language.net))))
    order = np.argsort([len(own) for own in tokens], kind="stable")
    with torch.no_grad():
        for start in range(0, len(order), PART):
            rows = order[start : start + PART]
            ids, shown = padded([tokens[row] for row in rows], language.end)
            states = language.net(input_ids=ids, attention_mask=shown.long(), output_hidden_states=True).hidden_states
            flat = [(state.float() * shown[:, :, None]).flatten(1) for state in states]
            pairs = [torch.cosine_similarity(before, after, dim=1) for before, after in itertools.pairwise(flat)]
            found[rows] = torch.stack(pairs, 1).numpy(force=True)
    return found
