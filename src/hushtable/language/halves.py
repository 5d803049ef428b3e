"""A causal network in two halves: layers that stay as they are, run once for each row, and adapted ones, run in every step."""

from __future__ import annotations

from copy import copy

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Identity, Module, ModuleList  # noqa: TID253


class Halves:
    """The layers below ``depth``, and those from there on with the last norm; both are views of one network."""

    def __init__(self, net: Module, depth: int) -> None:
        body = net.base_model
        assert isinstance(body, Module)
        layers = getattr(body, "layers", None)
        norm = getattr(body, "norm", None)
        if not isinstance(layers, ModuleList) or not isinstance(norm, Module):
            # Of a network that is built in another way nothing is known but that it can be run as a whole.
            depth = 0
        self.depth = depth
        self.layers: list[Module] = list(layers)[depth:] if isinstance(layers, ModuleList) else [body]
        self._upper = _view(body, layers=ModuleList(self.layers)) if depth else body
        self._lower = _view(body, layers=ModuleList(list(layers or [])[:depth]), norm=Identity()) if depth else None
        embeddings = body.get_input_embeddings()  # type: ignore[operator]
        assert isinstance(embeddings, Module)
        self._embeddings = embeddings

    def lower(self, ids: Tensor) -> Tensor:
        """Texts x places x width, from tokens: what the upper half is given. A place does not depend on those after it."""
        with torch.no_grad():
            if self._lower is None:
                embedded: Tensor = self._embeddings(ids)
                return embedded
            states: Tensor = self._lower(input_ids=ids, use_cache=False).last_hidden_state
            return states

    def upper(self, states: Tensor) -> Tensor:
        """Texts x places x width: what the head reads."""
        given: Tensor = self._upper(inputs_embeds=states, use_cache=False).last_hidden_state
        return given


def depth_of(net: Module) -> int:
    """How many layers a network has, as far as that is known."""
    layers = getattr(net.base_model, "layers", None)
    return len(layers) if isinstance(layers, ModuleList) else 1


def _view(body: Module, **modules: Module) -> Module:
    """A network with other parts in some places, and the same parts, not copies, in all others."""
    view = copy(body)
    view._modules = {**body._modules, **modules}
    return view
