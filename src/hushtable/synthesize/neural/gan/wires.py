"""The vectors that generator and critic exchange: numbers first, then levels, spans of as many levels side by side.

So one softmax serves all columns of as many levels, and the levels of a batch are spread out by one scatter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.encode.layout import Layout, Rows

TEMPERATURE = 0.2
"""Of the Gumbel softmax (Xu et al. 2019)."""


class Wires:
    """Where the spans of a layout are in a vector.

    ``closed`` are places of levels under which the number beside them is 0: a mode without width. So is a missing value.
    """

    def __init__(self, layout: Layout, closed: Sequence[int] = ()) -> None:
        places = [place for place, span in enumerate(layout.spans) if span.levels]
        self.layout = layout
        self.numeric = [place for place, span in enumerate(layout.spans) if span.column.numeric]
        self.numbers = len(self.numeric)
        self.choices = sorted(places, key=lambda place: layout.spans[place].levels)
        """Numbers of the spans that have levels, in the order of the vector."""
        self.starts = np.full(len(layout.spans), -1)
        """Where the levels of each span begin; -1 where it has none."""
        self.groups: list[tuple[int, int, int]] = []
        """Spans of as many levels: where the first begins, how many spans, how many levels."""
        end = self.numbers
        for place in self.choices:
            self.starts[place], levels = end, layout.spans[place].levels
            if self.groups and self.groups[-1][2] == levels:
                start, spans, _ = self.groups[-1]
                self.groups[-1] = (start, spans + 1, levels)
            else:
                self.groups.append((end, 1, levels))
            end += levels
        self.width, self.closed = end, tuple(closed)
        self.gates, self.ungated = self._gated()

    def _gated(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Levels x numbers: 1 where a number may be other than 0 under a level; and 1 for numbers that depend on none."""
        gates, ungated = torch.zeros(self.width, self.numbers), torch.ones(self.numbers)
        for number, place in enumerate(self.numeric):
            governing = self.layout.governing(place)
            if governing is not None:
                start, span = int(self.starts[governing]), self.layout.spans[governing]
                gates[start : start + span.levels - span.missing, number], ungated[number] = 1.0, 0.0
        gates[list(self.closed)] = 0.0
        return gates[self.numbers :], ungated

    def closing(self, rows: Rows) -> tuple[int, ...]:
        """The places of levels under which no row has a number other than 0 beside them."""
        varying = self.layout.varying(rows).values()
        return tuple(int(self.starts[above]) + level for above, varies in varying for level in np.flatnonzero(~varies).tolist())

    def codes(self, rows: Rows) -> torch.Tensor:
        """The levels of rows as places in the vector, four bytes each."""
        return torch.from_numpy((rows.codes[:, self.choices] + self.starts[self.choices]).astype(np.int32))

    def spread(self, codes: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """The vectors of rows: their values, and 1 at the places of their levels."""
        vectors = torch.zeros(len(codes), self.width)
        vectors[:, : self.numbers] = values
        return vectors.scatter_(1, codes.long(), 1.0)

    def activate(self, raw: torch.Tensor) -> torch.Tensor:
        """What a generator returns, as a row that a critic can be shown: numbers in (-1, 1), levels by Gumbel softmax."""
        parts = []
        levels = raw[:, self.numbers :]
        levels = (levels - torch.empty_like(levels).exponential_().log_()) / TEMPERATURE
        for start, spans, size in self.groups:
            first = start - self.numbers
            parts.append(levels[:, first : first + spans * size].reshape(-1, spans, size).softmax(2).flatten(1))
        chosen = torch.cat(parts, 1) if parts else levels
        return torch.cat([raw[:, : self.numbers].tanh() * (chosen @ self.gates + self.ungated), chosen], 1)

    def drawn(self, raw: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Places of the levels drawn, by the softmax of what the generator returns, and the values of numbers."""
        levels = raw[:, self.numbers :]
        levels = levels - torch.empty_like(levels).exponential_().log_()
        places = []
        for start, spans, size in self.groups:
            first = start - self.numbers
            best = levels[:, first : first + spans * size].reshape(-1, spans, size).argmax(2)
            places.append(best + start + size * torch.arange(spans))
        chosen = torch.cat(places, 1) if places else torch.zeros(len(raw), 0, dtype=torch.int64)
        return chosen, raw[:, : self.numbers].tanh() * (self.gates[chosen - self.numbers].sum(1) + self.ungated)

    def rows(self, places: torch.Tensor, values: torch.Tensor) -> Rows:
        """Levels and values as the layout has them."""
        codes = np.zeros((len(places), len(self.layout.spans)), np.int64)
        codes[:, self.choices] = places.numpy() - self.starts[self.choices]
        return Rows(codes, values.numpy())
