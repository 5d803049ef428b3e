"""The vectors that generator and critic exchange: numbers first, then levels, spans of as many levels side by side.

So one softmax serves all columns of as many levels, and the levels of a batch are spread out by one scatter.
"""

from __future__ import annotations

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.synthesize.neural.layout import Layout, Rows

TEMPERATURE = 0.2
"""Of the Gumbel softmax (Xu et al. 2019)."""


class Wires:
    """Where the spans of a layout are in a vector."""

    def __init__(self, layout: Layout) -> None:
        places = [place for place, span in enumerate(layout.spans) if span.levels]
        self.layout = layout
        self.numbers = len(layout.numbers)
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
        self.width = end

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
        parts = [raw[:, : self.numbers].tanh()]
        levels = raw[:, self.numbers :]
        levels = (levels - torch.empty_like(levels).exponential_().log_()) / TEMPERATURE
        for start, spans, size in self.groups:
            first = start - self.numbers
            parts.append(levels[:, first : first + spans * size].unflatten(1, (spans, size)).softmax(2).flatten(1))
        return torch.cat(parts, 1)

    def drawn(self, raw: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Places of the levels drawn, by the softmax of what the generator returns, and the values of numbers."""
        levels = raw[:, self.numbers :]
        levels = levels - torch.empty_like(levels).exponential_().log_()
        places = []
        for start, spans, size in self.groups:
            first = start - self.numbers
            best = levels[:, first : first + spans * size].unflatten(1, (spans, size)).argmax(2)
            places.append(best + start + size * torch.arange(spans))
        values = raw[:, : self.numbers].tanh()
        return torch.cat(places, 1) if places else torch.zeros(len(raw), 0, dtype=torch.int64), values

    def rows(self, places: torch.Tensor, values: torch.Tensor) -> Rows:
        """Levels and values as the layout has them."""
        codes = np.zeros((len(places), len(self.layout.spans)), np.int64)
        codes[:, self.choices] = places.numpy() - self.starts[self.choices]
        return Rows(codes, values.numpy())
