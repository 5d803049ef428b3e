"""The parents in a Bayesian network as the condition of both networks (BNGAN: Garg 2025, section 4.6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import nn  # noqa: TID253

from hushtable.synthesize.neural.gan.drawn import Drawn
from hushtable.synthesize.neural.gan.nets import SLOPE, ConvolutionCritic, DenseCritic
from hushtable.synthesize.neural.gan.wires import Wires
from hushtable.synthesize.neural.structure import Dependence, coded, conditional_vectors
from hushtable.table.arrays import Array, Floats
from hushtable.table.table import Table

BINS, MOST, CHUNK = 8, 3, 10_000
"""Cells of a number, parents of a column, and rows that a graph is learnt from; the publication gives none of them."""
VECTOR, WIDTH = 8, 32
"""Numbers for a cell of a parent, and for all parents together."""


class Parents:
    """Every column that another depends on, by its cell: real rows have their own, drawn ones those of the network's tables."""

    def __init__(self, wires: Wires, dependence: Dependence, codes: torch.Tensor | None = None) -> None:
        self.wires, self.dependence, self.codes = wires, dependence, codes
        self.width = WIDTH if dependence.sizes else 0
        # Of a category whose cells are its levels, the generator's logits of them.
        spans = [wires.layout.spans[place] for place in dependence.places]
        self.tied = [
            (at, int(wires.starts[place]), span.levels)
            for at, (place, span, size) in enumerate(zip(dependence.places, spans, dependence.sizes, strict=True))
            if not span.column.numeric and size == len(span.column.levels) + 1
        ]

    @classmethod
    def learnt(cls, wires: Wires, table: Table, among: torch.Tensor) -> Parents:
        """The network of the rows ``among`` those of the table."""
        dependence = Dependence.of(table.take(among.numpy()), bins=BINS, most=MOST, chunk=CHUNK)
        return cls(wires, dependence, torch.from_numpy(dependence.codes(table)))

    def train(self, rows: torch.Tensor) -> Drawn:
        """The rows, and their own cells."""
        assert self.codes is not None
        cells = self.codes[rows]
        return Drawn(cells.float(), cells, rows)

    def draw(self, size: int, given: dict[int, int]) -> Drawn:
        """Cells from the tables of the network, under what is given of the parents."""
        rng = np.random.default_rng(int(torch.randint(2**62, (1,))))
        names = self.wires.layout.schema.names
        fixed = {
            names[self.dependence.places[at]]: given[self.dependence.places[at]]
            for at, *_ in self.tied
            if self.dependence.places[at] in given
        }
        cells = torch.from_numpy(self.dependence.draw(size, rng, fixed))
        return Drawn(cells.float(), cells, torch.zeros(0, dtype=torch.int64))

    def loss(self, raw: torch.Tensor, drawn: Drawn) -> torch.Tensor:
        """The cross-entropy of the levels that were given, mean over columns: else a generator may draw parents of its own."""
        lost = torch.zeros(())
        for at, start, levels in self.tied:
            lost = lost + nn.functional.cross_entropy(raw[:, start : start + levels], drawn.cells[:, at]) / len(self.tied)
        return lost

    def arrays(self) -> dict[str, Array]:
        """The network."""
        return self.dependence.arrays()

    def given_to(self, net: nn.Module) -> nn.Module:
        """The network behind vectors for the cells, which it learns too."""
        return Embedded(net, self.dependence.sizes) if self.width else net


class NoisyParents(Parents):
    """The same by fixed vectors with Laplace noise, as published for DP-BNGAN: not trained, and nothing ties the generator to them.

    How the vectors are learnt is not said: here they are the shares of the children's cells, on -1 to 1.
    """

    def __init__(self, wires: Wires, dependence: Dependence, vectors: Sequence[Array], codes: torch.Tensor | None = None) -> None:
        super().__init__(wires, dependence, codes)
        self.vectors = [torch.from_numpy(np.asarray(own, np.float32)) for own in vectors]
        self.width, self.tied = sum(own.shape[1] for own in vectors), []

    @classmethod
    def noisy(cls, wires: Wires, table: Table, among: torch.Tensor, epsilon: float) -> NoisyParents:
        """The network of the rows ``among`` those of the table, and its vectors with noise of the scale 2/epsilon."""
        rows = table.take(among.numpy())
        dependence = Dependence.of(rows, bins=BINS, most=MOST, chunk=CHUNK)
        cells, codes = coded(rows, BINS)
        exact = conditional_vectors(dependence.graph, codes, [own.count for own in cells])
        rng = np.random.default_rng(int(torch.randint(2**62, (1,))))
        vectors = [noisy_vectors(exact[place], epsilon, rng) for place in dependence.places]
        return cls(wires, dependence, vectors, torch.from_numpy(dependence.codes(table)))

    def train(self, rows: torch.Tensor) -> Drawn:
        """The rows, and the vectors of their own cells."""
        return self._spread(super().train(rows))

    def draw(self, size: int, given: dict[int, int]) -> Drawn:
        """Vectors of cells from the tables of the network."""
        return self._spread(super().draw(size, given))

    def arrays(self) -> dict[str, Array]:
        """The network and the vectors."""
        own = zip(self.dependence.places, self.vectors, strict=True)
        return super().arrays() | {f"vectors/{place}": vectors.numpy() for place, vectors in own}

    def given_to(self, net: nn.Module) -> nn.Module:
        """As it is."""
        return net

    def _spread(self, drawn: Drawn) -> Drawn:
        parts = [vectors[cells] for vectors, cells in zip(self.vectors, drawn.cells.T, strict=True)]
        return drawn._replace(vectors=torch.cat(parts, 1) if parts else torch.zeros(len(drawn.cells), 0))


def noisy_vectors(vectors: Floats, epsilon: float, rng: np.random.Generator) -> Floats:
    """Vectors in [-1, 1] with Laplace noise of the scale 2/epsilon on each number, as published.

    2 is the most by which *one* number changes: where a row changes M of them, this costs M epsilon.
    """
    return vectors + rng.laplace(0.0, 2 / epsilon, vectors.shape)


class Embedded(nn.Module):
    """A network whose last inputs are cells: each becomes a vector, and dense layers make of all vectors what the network takes."""

    offsets: torch.Tensor

    def __init__(self, inner: nn.Module, sizes: Sequence[int]) -> None:
        super().__init__()
        self.inner, self.pac = inner, int(getattr(inner, "pac", 1))
        self.vectors = nn.Embedding(sum(sizes), VECTOR)
        self.dense = nn.Sequential(
            nn.Linear(VECTOR * len(sizes), 2 * WIDTH), nn.LeakyReLU(SLOPE), nn.Linear(2 * WIDTH, WIDTH), nn.Tanh()
        )
        self.register_buffer("offsets", torch.tensor(np.cumsum([0, *sizes])[:-1]), persistent=False)

    @property
    def last(self) -> nn.Module:
        """The last layer of the network, if it has such a one."""
        last: nn.Module = self.inner.last  # type: ignore[assignment] # a layer, not a tensor
        return last

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """What the network makes of its inputs and the vectors."""
        out: torch.Tensor = self.inner(self._given(inputs))
        return out

    def gradient(self, rows: torch.Tensor) -> torch.Tensor:
        """The gradient of each pack's score by rows and vectors."""
        assert isinstance(self.inner, DenseCritic | ConvolutionCritic)
        return self.inner.gradient(self._given(rows))

    def _given(self, inputs: torch.Tensor) -> torch.Tensor:
        split = inputs.shape[1] - len(self.offsets)
        vectors = self.vectors(inputs[:, split:].long() + self.offsets).flatten(1)
        return torch.cat([inputs[:, :split], self.dense(vectors)], 1)
