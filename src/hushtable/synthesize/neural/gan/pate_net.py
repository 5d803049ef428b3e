"""The generator in PyTorch, and its training against students."""

from __future__ import annotations

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used

from hushtable.learn.loop import seeded
from hushtable.synthesize.neural.gan.residual import NOISE, Condition, spans
from hushtable.synthesize.neural.gan.start import Start
from hushtable.synthesize.neural.gan.student import Student
from hushtable.synthesize.neural.gan.teachers import GRID
from hushtable.table.arrays import Singles

HIDDEN = 64
BATCH = 256
POOL = 20_000
LEAST = 0.1


class Generator(torch.nn.Module):
    """Logits of the tables, and what is added to them given noise and a condition; nothing at first."""

    def __init__(self, start: Start, condition: Condition, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.spans = list(spans(start.sizes))
        self.held = set(condition.places)
        last = torch.nn.Linear(hidden, sum(start.sizes))
        torch.nn.init.zeros_(last.weight)
        torch.nn.init.zeros_(last.bias)
        first = torch.nn.Linear(NOISE + condition.width, hidden)
        self.net = torch.nn.Sequential(first, torch.nn.ReLU(), torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), last)

    def forward(self, cells: torch.Tensor, embedded: torch.Tensor, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows level by level, straight through (a level each, with the gradient of its softmax), and how far they are from the tables."""
        added = self.net(torch.cat([torch.randn(len(cells), NOISE), embedded], dim=1))
        parts, away = [], torch.zeros(len(cells))
        for place, span in enumerate(self.spans):
            if place in self.held:
                parts.append(torch.nn.functional.one_hot(cells[:, place], span.stop - span.start).float())
                continue
            before = torch.log_softmax(logits[:, span], dim=1)
            after = torch.log_softmax(logits[:, span] + added[:, span], dim=1)
            away = away + (after.exp() * (after - before)).sum(1)
            parts.append(torch.nn.functional.gumbel_softmax(after, tau=0.5, hard=True))
        return torch.cat(parts, dim=1), away

    def layers(self) -> tuple[Singles, ...]:
        """Weights and biases in turn."""
        return tuple(p.detach().numpy().astype(np.float32).copy() for p in self.net.parameters())


class Trained:
    """A generator, and the rows of the tables that it conditions on."""

    def __init__(self, start: Start, condition: Condition, seed: int) -> None:
        self.start, self.condition, self.seed = start, condition, seed
        with seeded(seed):
            self.generator = Generator(start, condition)
        cells = start.draw(POOL, np.random.default_rng(seed))
        self.cells = torch.from_numpy(cells)
        self.embedded = torch.from_numpy(condition.embed(cells))
        self.logits = torch.from_numpy(start.logits(cells)).float()
        self.turn = 0

    def layers(self) -> tuple[Singles, ...]:
        """Of the generator."""
        return self.generator.layers()

    def please(self, students: list[Student], steps: int, rate: float = 3e-3, doubt: float = 0.7) -> None:
        """Raise what the students together say of its rows, less how far it has gone from the tables."""
        self.turn += 1
        with seeded(self.seed + self.turn):
            judge = _Judge(students, sum(self.start.sizes))
            optimizer = torch.optim.Adam(self.generator.parameters(), lr=rate)
            for _ in range(steps):
                rows = torch.randint(len(self.cells), (BATCH,))
                drawn, away = self.generator(self.cells[rows], self.embedded[rows], self.logits[rows])
                loss = (doubt * away - judge(drawn)).mean()
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
                optimizer.step()


class _Judge:
    """The sum of students, on rows level by level."""

    def __init__(self, students: list[Student], width: int) -> None:
        self.parts = []
        for student in students:
            kernel, places = student.kernel, student.queries + student.kernel.starts
            equal, other = kernel.equal[places] / GRID, kernel.other[places] / GRID
            linear, square = np.zeros((width, len(places))), np.zeros((width, len(places)))
            at = np.broadcast_to(np.arange(len(places))[:, None], places.shape)
            linear[places, at], square[places, at] = equal - other, equal**2 - other**2
            tensors = (linear, other.sum(1), square, (other**2).sum(1), student.weights)
            self.parts.append([torch.from_numpy(np.ascontiguousarray(t)).float() for t in tensors])

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        whole = torch.zeros(len(rows))
        for linear, constant, square, squares, weights in self.parts:
            sums = rows @ linear + constant
            excess = ((sums * sums - (rows @ square + squares)) / 2) @ weights
            whole = whole + (1 + excess).clamp(min=LEAST).log()
        return whole
