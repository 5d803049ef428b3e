"""Low-rank adapters (LoRA: Hu et al. 2022): a frozen linear layer plus the product of two thin matrices that are trained.

One of the two starts at zero, so that an adapted network starts as the network that it adapts. Both are plain linear layers, so the
gradient of each single example is known from one backward pass (``learn.ghost``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Linear, Module, Parameter  # noqa: TID253

from hushtable.table.arrays import Array

ATTENTION = ("q_proj", "v_proj", "query", "value")
"""The layers that are adapted where no others are named (Hu et al. 2022): what attention asks for and what it hands on."""


class Adapted(Module):
    """``base(x) + up(down(x))``, of which only ``up`` and ``down`` are trained."""

    def __init__(self, base: Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = Linear(base.in_features, rank, bias=False)
        self.up = Linear(rank, base.out_features, bias=False)
        torch.nn.init.normal_(self.down.weight, std=1 / math.sqrt(base.in_features))
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        """In the precision of the base, but for the adapter, whose small steps single precision keeps."""
        given: Tensor = self.base(inputs)
        added: Tensor = self.up(self.down(inputs.float()))
        return given + added.to(given.dtype)

    def folded(self) -> Linear:
        """One linear layer that gives the same."""
        layer = Linear(self.base.in_features, self.base.out_features, bias=self.base.bias is not None, dtype=self.base.weight.dtype)
        with torch.no_grad():
            layer.weight.copy_(self.base.weight.float() + self.up.weight @ self.down.weight)
            if self.base.bias is not None:
                layer.bias.copy_(self.base.bias)
        return layer


def adapt(net: Module, rank: int, names: Iterable[str] = ATTENTION) -> list[Parameter]:
    """Freeze a network and put adapters on its linear layers of these names; the parameters to train, in a fixed order."""
    net.requires_grad_(False)
    wanted = frozenset(names)
    places = [(path, layer) for path, layer in net.named_modules() if isinstance(layer, Linear) and path.split(".")[-1] in wanted]
    if not places:
        raise ValueError(f"the network has no linear layer named {', '.join(sorted(wanted))}")
    for path, layer in places:
        _put(net, path, Adapted(layer, rank))
    return [parameter for parameter in net.parameters() if parameter.requires_grad]


def fold(net: Module) -> None:
    """Put one linear layer in the place of each adapted one: a network that is only run needs no more."""
    for path, layer in [(path, layer) for path, layer in net.named_modules() if isinstance(layer, Adapted)]:
        _put(net, path, layer.folded())


def arrays(net: Module) -> dict[str, Array]:
    """The adapters, in the names and shapes of peft's files (``lora_A`` goes in, ``lora_B`` out)."""
    found = [(path, layer) for path, layer in net.named_modules() if isinstance(layer, Adapted)]
    pairs = [(path, part, own) for path, layer in found for part, own in (("A", layer.down), ("B", layer.up))]
    return {f"base_model.model.{path}.lora_{part}.weight": own.weight.numpy(force=True) for path, part, own in pairs}


def restore(net: Module, saved: Mapping[str, Array]) -> None:
    """Adapters as they were saved, on a network as it was before them."""
    ends = ".lora_A.weight"
    for name in [name for name in saved if name.endswith(ends)]:
        path = name.removeprefix("base_model.model.").removesuffix(ends)
        base = net.get_submodule(path)
        assert isinstance(base, Linear)
        layer = Adapted(base, len(saved[name]))
        with torch.no_grad():
            for own, part in ((layer.down, "A"), (layer.up, "B")):
                own.weight.copy_(torch.from_numpy(saved[f"base_model.model.{path}.lora_{part}.weight"].copy()))
        _put(net, path, layer)


def _put(net: Module, path: str, layer: Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(net.get_submodule(parent), name, layer)
