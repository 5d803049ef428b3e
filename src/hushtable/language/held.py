"""An encoder's states of many texts: layers that are never trained run once for each text, those above them in every step."""

from __future__ import annotations

from copy import copy
from typing import Any

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Module, ModuleList  # noqa: TID253
from torch.utils.hooks import RemovableHandle  # noqa: TID253

from hushtable.language.layers import stack
from hushtable.language.nets import padded
from hushtable.table.arrays import Integers

STORED = 2**31
"""Bytes of states that are held in memory; those of further texts are worked out again each time."""


def outputs(net: Module, layers: list[Module], **inputs: Any) -> list[Tensor]:
    """What the first of these layers is given in a run of the network, and what each of them gives."""
    seen: list[Tensor] = []

    def given(_layer: Module, inputs: tuple[Tensor, ...]) -> None:
        seen.append(inputs[0])

    def gives(_layer: Module, _inputs: tuple[Tensor, ...], output: Any) -> None:
        seen.append(output[0] if isinstance(output, tuple) else output)

    hooks: list[RemovableHandle] = [layers[0].register_forward_pre_hook(given)]
    hooks += [layer.register_forward_hook(gives) for layer in layers]
    try:
        net(**inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def means(states: list[Tensor], shown: Tensor) -> list[Tensor]:
    """For each state the mean, of each text, over the tokens that are shown."""
    places = shown[:, :, None]
    counts = places.sum(1).clamp(min=1)
    return [(state * places).sum(1) / counts for state in states]


class Held:
    """The states of texts after the first ``depth`` layers of an encoder, at least one. They are as private as the texts.

    The layers above are run on them by the network itself, which so makes its masks as ever: a layer that gives what is held
    stands in the place of those below. Both halves are views of one network, and an adapter that it gets is in them too.
    """

    def __init__(self, net: Module, depth: int, tokens: list[list[int]], fill: int) -> None:
        layers = stack(net)
        self.tokens, self.fill = tokens, fill
        self._given = _Given()
        self._below, self._above = list(layers[:depth]), [self._given, *layers[depth:]]
        self._lower, self._upper = _with_layers(net, self._below), _with_layers(net, self._above)
        self._known: dict[int, tuple[Tensor, Tensor]] = {}
        self._bytes = 0

    def means(self, rows: Integers) -> list[Tensor]:
        """Those of what the first layer is given and of what each layer gives, for the texts of these numbers."""
        ids, shown = padded([self.tokens[row] for row in rows.tolist()], self.fill)
        mask = shown.long()
        if any(row not in self._known for row in rows.tolist()):
            below, self._given.states = self._worked_out(rows, ids, shown)
        else:
            known = [self._known[row] for row in rows.tolist()]
            below = torch.stack([own for own, _ in known])
            self._given.states = torch.nn.utils.rnn.pad_sequence([own for _, own in known], batch_first=True)
        above = outputs(self._upper, self._above, input_ids=ids, attention_mask=mask)[2:]
        return [*below.unbind(1), *means(above, shown)]

    @torch.no_grad()
    def _worked_out(self, rows: Integers, ids: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
        states = outputs(self._lower, self._below, input_ids=ids, attention_mask=shown.long())
        below = torch.stack(means(states, shown), 1)
        for row, mean, own, length in zip(rows.tolist(), below, states[-1], shown.sum(1).tolist(), strict=True):
            if row not in self._known and self._bytes < STORED:
                self._known[row] = (mean.clone(), own[: max(length, 1)].clone())
                self._bytes += sum(part.numel() * part.element_size() for part in self._known[row])
        return below, states[-1]


class _Given(Module):
    """A layer that gives what it is told to, whatever it is given."""

    states: Tensor

    def forward(self, *_inputs: Any, **_more: Any) -> Tensor:
        return self.states


def _with_layers(net: Module, layers: list[Module]) -> Module:
    """A network with other layers, and the same parts, not copies, in all other places."""
    whole = stack(net)
    path = next(name for name, part in net.named_modules() if part is whole)
    return _with_part(net, path.split("."), ModuleList(layers))


def _with_part(net: Module, path: list[str], part: Module) -> Module:
    view = copy(net)
    inner = part if len(path) == 1 else _with_part(net.get_submodule(path[0]), path[1:], part)
    view._modules = {**net._modules, path[0]: inner}
    return view
