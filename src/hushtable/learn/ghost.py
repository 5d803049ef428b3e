"""The gradient of each single example, without ever writing it down: its norm, and weighted sums over the examples.

In every layer here the gradient of an example is an outer product of the layer's inputs with the gradients of its outputs ("ghost"
clipping: Goodfellow 2015; Li, Tramer, Liang and Hashimoto 2022). Both are at hand after one backward pass, so the norms take less
time than the pass itself. An example is a row of the batch: a layer that mixes rows, or of an unknown kind, is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Conv1d, Dropout, Embedding, LeakyReLU, Linear, Module, ReLU, Sequential, functional  # noqa: TID253
from torch.nn.modules.batchnorm import _NormBase  # noqa: TID253

from hushtable.learn.layers import Batched, Masked

Sums = list[tuple[Tensor, Tensor]]


class Gradients(Protocol):
    """The gradients of the loss of each example of a batch, by all parameters."""

    def squared_norms(self) -> Tensor:
        """One for each example, over all parameters together."""
        ...

    def weighted(self, weights: Tensor) -> Sums:
        """For each parameter the sum over the examples of weight times gradient."""
        ...


@dataclass(frozen=True)
class _Outer:
    """A matrix of weights, outputs x inputs, whose gradient is the sum over places of an outer product."""

    weight: Tensor
    inputs: Tensor
    """examples x places x inputs"""
    outputs: Tensor
    """examples x places x outputs: gradients by what the layer gave"""
    bias: Tensor | None = None
    biased: Tensor | None = None
    """examples x outputs: gradients by the bias."""
    mask: Tensor | None = None

    def squared_norms(self) -> Tensor:
        places, wide, high = self.inputs.shape[1], self.inputs.shape[2], self.outputs.shape[2]
        if places == 1 and self.mask is None:
            norms = self.inputs.square().sum((1, 2)) * self.outputs.square().sum((1, 2))
        elif places == 1 and self.mask is not None:
            norms = ((self.outputs[:, 0].square() @ self.mask.square()) * self.inputs[:, 0].square()).sum(1)
        elif self.mask is None and places * (wide + high) <= wide * high:
            norms = ((self.inputs @ self.inputs.mT) * (self.outputs @ self.outputs.mT)).sum((1, 2))
        else:
            # With so many places the gradients take less than the products of all pairs of places.
            gradients = self.outputs.mT @ self.inputs
            norms = (gradients if self.mask is None else gradients * self.mask).square().sum((1, 2))
        return norms if self.biased is None else norms + self.biased.square().sum(1)

    def weighted(self, weights: Tensor) -> Sums:
        total = (self.outputs * weights[:, None, None]).flatten(0, 1).T @ self.inputs.flatten(0, 1)
        total = total if self.mask is None else total * self.mask
        sums = [(self.weight, total.reshape(self.weight.shape))]
        return sums if self.bias is None or self.biased is None else [*sums, (self.bias, weights @ self.biased)]


@dataclass(frozen=True)
class _Parts:
    """Matrices side by side, each with inputs of its own."""

    layer: Batched
    inputs: Tensor
    outputs: Tensor

    def squared_norms(self) -> Tensor:
        return ((self.inputs.square().sum(2) + 1) * self.outputs.square().sum(2)).sum(1)

    def weighted(self, weights: Tensor) -> Sums:
        scaled = self.outputs * weights[:, None, None]
        return [(self.layer.weight, torch.einsum("rpi,rpo->pio", self.inputs, scaled)), (self.layer.bias, scaled.sum(0))]


@dataclass(frozen=True)
class _Looked:
    """An embedding: the gradient of an example stands in the rows that it looked up, some of them more than once."""

    layer: Embedding
    places: Tensor
    """examples x places: which row"""
    outputs: Tensor

    def squared_norms(self) -> Tensor:
        same = self.places[:, :, None] == self.places[:, None, :]
        return ((self.outputs @ self.outputs.mT) * same).sum((1, 2))

    def weighted(self, weights: Tensor) -> Sums:
        total = torch.zeros(self.layer.weight.shape)
        total.index_add_(0, self.places.flatten(), (self.outputs * weights[:, None, None]).flatten(0, 1))
        return [(self.layer.weight, total)]


_Record = _Outer | _Parts | _Looked


@dataclass(frozen=True)
class Tape:
    """What each layer was given in one forward pass, and the gradients by what it gave: the gradients of all examples."""

    records: tuple[_Record, ...]

    @classmethod
    def of(cls, net: Module, losses: Callable[[], Tensor]) -> Tape:
        """Of the losses of a batch, one an example, each of which comes from one row of every layer's inputs.

        ``losses`` runs ``net``; a layer that it uses twice is refused.
        """
        layers = checked(net)
        seen: dict[Module, tuple[Tensor, Tensor]] = {}

        def keep(layer: Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            if layer in seen:
                raise ValueError(f"a layer that is used twice in a pass has no outer product for a gradient: {layer}")
            seen[layer] = (inputs[0].detach(), output)

        hooks = [layer.register_forward_hook(keep) for layer in layers]
        try:
            each = losses()
        finally:
            for hook in hooks:
                hook.remove()
        if each.dim() != 1 or any(len(given) != len(each) for given, _ in seen.values()):
            raise ValueError("there must be one loss for each row that the layers were given")
        outputs = torch.autograd.grad(each.sum(), [output for _, output in seen.values()], allow_unused=True)
        pairs = zip(seen.items(), outputs, strict=True)
        return cls(tuple(_record(layer, given, by.detach()) for (layer, (given, _)), by in pairs if by is not None))

    def squared_norms(self) -> Tensor:
        """One for each example, over all parameters together."""
        return torch.stack([record.squared_norms() for record in self.records]).sum(0)

    def weighted(self, weights: Tensor) -> Sums:
        """For each parameter the sum over the examples of weight times gradient."""
        return [part for record in self.records for part in record.weighted(weights)]


def penalized(
    critic: Sequential,
    real: Tensor,
    mixed: Tensor,
    loss: Callable[[Tensor], Tensor] = torch.neg,
    *,
    weight: float = 10.0,
    norm: float = 1.0,
) -> Tape:
    """The gradients of ``loss(critic(real)) + weight (|slope of the critic at mixed| - norm)^2``, one for each row.

    The critic is a chain of linear layers with (leaky) ReLU and dropout between them. Its slopes by its layers are then constant
    where they are defined, so that the penalty too has an outer product for a gradient: the slope by a layer's output times the
    penalty's gradient by the critic's slope, pushed forward through the layers before. A row of ``mixed`` may depend on the same
    row of ``real`` and on rows that are nobody's.
    """
    layers = checked(critic)
    if any(type(part) not in (Linear, LeakyReLU, ReLU, Dropout) for part in critic) or type(critic[-1]) is not Linear:
        raise ValueError("a critic with a penalty is made of linear layers, leaky ReLU and dropout, and ends in a linear layer")
    if len(real) != len(mixed):
        raise ValueError("each real row has its mixed row")
    plain = Tape.of(critic, lambda: loss(critic(real).squeeze(1)))
    with torch.no_grad():
        slopes, backward = _chain(critic, mixed)
        steep = backward[0]
        length = steep.norm(dim=1, keepdim=True).clamp(min=1e-12)
        forward = 2 * weight * (length - norm) * steep / length
        records: list[_Record] = []
        for layer, record, slope, by in zip(layers, plain.records, slopes, backward[1:], strict=True):
            assert isinstance(layer, Linear)
            assert isinstance(record, _Outer)
            inputs = torch.cat([record.inputs, forward[:, None]], dim=1)
            outputs = torch.cat([record.outputs, by[:, None]], dim=1)
            records.append(_Outer(record.weight, inputs, outputs, record.bias, record.biased))
            forward = slope * (forward @ layer.weight.T)
    return Tape(tuple(records))


def _chain(critic: Sequential, mixed: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """The slope of whatever follows each linear layer, and the gradient of the output by the inputs and by each layer's output."""
    slopes: list[Tensor] = []
    linear: list[Linear] = []
    here = mixed
    for part in critic:
        if isinstance(part, Linear):
            linear.append(part)
            here = part(here)
            slopes.append(torch.ones_like(here))
        elif isinstance(part, Dropout):
            dropped = functional.dropout(torch.ones_like(here), part.p, part.training)
            here, slopes[-1] = here * dropped, slopes[-1] * dropped
        else:
            slope = torch.where(here > 0, 1.0, part.negative_slope if isinstance(part, LeakyReLU) else 0.0)
            here, slopes[-1] = here * slope, slopes[-1] * slope
    backward = [slopes[-1]]
    for number in range(len(linear) - 1, -1, -1):
        by = backward[0] @ linear[number].weight
        backward.insert(0, by * slopes[number - 1] if number else by)
    return slopes, backward


def checked(net: Module) -> list[Module]:
    """The layers of a network that have parameters; ValueError for what mixes rows, shares parameters, or has no known gradient."""
    layers: list[Module] = []
    owned: set[int] = set()
    for name, layer in net.named_modules():
        if isinstance(layer, _NormBase):
            raise ValueError(f"{name}: a norm over the batch mixes the rows, so that no gradient is one example's")
        own = [p for p in layer.parameters(recurse=False) if p.requires_grad]
        if not own:
            continue
        if type(layer) not in (Linear, Masked, Batched, Embedding, Conv1d):
            raise ValueError(f"{name or 'the network'}: the gradient of one example is not known for {type(layer).__name__}")
        odd = isinstance(layer, Embedding) and (
            layer.scale_grad_by_freq or layer.max_norm is not None or layer.padding_idx is not None
        )
        if odd or (isinstance(layer, Conv1d) and (layer.groups, layer.dilation, layer.padding_mode) != (1, (1,), "zeros")):
            raise ValueError(f"{name}: the gradient of one example is not known for {layer}")
        if owned & {id(p) for p in own} or any(not p.requires_grad for p in layer.parameters(recurse=False)):
            raise ValueError(f"{name}: parameters are shared between layers, or some of a layer's are not trained")
        owned |= {id(p) for p in own}
        layers.append(layer)
    return layers


def _record(layer: Module, inputs: Tensor, outputs: Tensor) -> _Record:
    if isinstance(layer, Embedding):
        return _Looked(layer, inputs.reshape(len(inputs), -1), outputs.float().reshape(len(outputs), -1, outputs.shape[-1]))
    inputs, outputs = inputs.float(), outputs.float()
    if isinstance(layer, Batched):
        return _Parts(layer, inputs, outputs)
    if isinstance(layer, Conv1d):
        pads = layer.padding if isinstance(layer.padding, tuple) else None
        if pads is None:
            raise ValueError("padding of a convolution is given as a number")
        windows = functional.pad(inputs, (pads[0], pads[0])).unfold(2, layer.kernel_size[0], layer.stride[0])
        return _outer(layer.weight, layer.bias, windows.transpose(1, 2).flatten(2), outputs.mT)
    assert isinstance(layer, Linear)
    places = [len(inputs), -1]
    return _outer(
        layer.weight, layer.bias, inputs.reshape(*places, inputs.shape[-1]), outputs.reshape(*places, outputs.shape[-1]),
        layer.mask if isinstance(layer, Masked) else None,
    )  # fmt: skip


def _outer(weight: Tensor, bias: Tensor | None, inputs: Tensor, outputs: Tensor, mask: Tensor | None = None) -> _Outer:
    return _Outer(weight, inputs, outputs, bias, None if bias is None else outputs.sum(1), mask)
