"""The distribution that fits noisy marginals best.

Of all distributions, those with the least sum over measurements of |expected counts - noisy counts|^2 / (2 sigma^2), and of
those the one of largest entropy: a product of potentials on the measured columns (McKenna, Sheldon, Miklau 2019). Entropic
mirror descent with momentum leads there: the potentials move against the residuals. By default it stops on the way, where what
is left of the loss is what the noise explains (Morozov's discrepancy principle): the large cells are right by then, and
the rest of the way would only fit the noise of the small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from hushtable.errors import InputError
from hushtable.synthesize.marginal.graphical import Graphical
from hushtable.synthesize.marginal.junction import triangulated
from hushtable.synthesize.marginal.measurement import Measurement, combined, noisy_total
from hushtable.table.arrays import Floats, Mask

Group = tuple[str, ...]

PATIENCE = 10
GROWTH = 1.1
CUT = 3.0
SPAN = 5.0
"""Noise levels farther apart than this are fitted in stages."""
STAGES = 8


@dataclass(frozen=True)
class Stopping:
    """When the descent ends; with ``noise`` 0 and a small ``tolerance`` it goes on to the least loss."""

    steps: int = 1000
    """The most steps."""
    tolerance: float = 1e-4
    """Stop when the loss falls by less than this share of it in ``PATIENCE`` steps."""
    noise: float = 0.95
    """Stop when the loss is this share of what the noise alone would make of it, and no single measurement fits badly:
    going on to the least loss would only fit the noise."""


UNTIL_NOISE = Stopping()


def estimate(
    sizes: Mapping[str, int],
    measurements: Sequence[Measurement],
    *,
    total: float | None = None,
    zeros: Mapping[Group, Mask] | None = None,
    start: Graphical | None = None,
    stopping: Stopping = UNTIL_NOISE,
) -> Graphical:
    """Fit a graphical model to measurements. ``total`` is taken from them unless it is given.

    ``zeros`` marks combinations that are impossible; ``start`` is an earlier estimate to go on from.
    """
    _require_shapes(sizes, measurements)
    total = noisy_total(measurements) if total is None else total
    tree = triangulated(sizes, [m.columns for m in measurements] + list(zeros or {}))
    place = {name: i for i, name in enumerate(tree.order)}
    targets = combined(measurements, place)
    model = Graphical(sizes, {m.columns: np.zeros(m.counts.shape) for m in targets}, total, zeros, tree)
    if not targets:
        return model
    theta = descended(model.propagation, targets, total, _resumed(start, targets), stopping)
    fitted = dict(zip(model.potentials, model.propagation.group_arrays(theta), strict=True))
    return Graphical(sizes, fitted, total, zeros, tree)


class Marginals(Protocol):
    """A distribution as a function of potentials: belief propagation on a junction tree, or the weights of a pool of rows."""

    def beliefs(self, potentials: Floats) -> Any:
        """The distribution."""
        ...

    def group_marginals(self, beliefs: Any) -> Floats:
        """The probabilities of the cells of every measured group, one behind the other."""
        ...


def descended(machine: Marginals, targets: Sequence[Measurement], total: float, theta: Floats, stopping: Stopping) -> Floats:
    """The potentials, from ``theta`` on, that fit measurements in the order of the machine's groups."""
    for floor in _floors([m.sigma for m in targets]):
        blurred = [replace(m, sigma=max(m.sigma, floor)) for m in targets]
        theta = _Descent(machine, blurred, total).minimum(theta, stopping)
    return theta


def loss_of(model: Graphical, measurements: Sequence[Measurement]) -> float:
    """The loss that is minimized: the sum of |expected - noisy counts|^2 / (2 sigma^2)."""
    expected = model.project_all([m.columns for m in measurements])
    return float(sum(((p - m.counts) ** 2).sum() / (2 * m.sigma**2) for p, m in zip(expected, measurements, strict=True)))


def _floors(sigmas: Sequence[float]) -> list[float]:
    """Noise levels to pretend at least, from one stage to the next; 0 at the end.

    Steps are as short as the most precise measurement needs, which is too short for the others where noise levels lie far apart.
    So the others are fitted first, with the precise ones taken for less precise than they are.
    """
    floor, floors = max(sigmas) / SPAN, []
    while floor > min(sigmas):
        floors.append(floor)
        floor /= SPAN
    return [*floors[:STAGES], 0.0]


class _Descent:
    """The loss as a function of the potentials, all in one vector."""

    def __init__(self, machine: Marginals, targets: Sequence[Measurement], total: float) -> None:
        self.machine, self.total = machine, total
        self.cells = np.array([m.counts.size for m in targets])
        self.starts = np.cumsum(self.cells) - self.cells
        self.noisy = np.concatenate([m.counts.ravel() for m in targets])
        self.weights = np.repeat([m.sigma**-2 for m in targets], self.cells)
        # Relative to the entropy, the loss bends no more than the sum over all measurements of total / sigma^2.
        self.size = 4 / (total * sum(m.sigma**-2 for m in targets))

    def at(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """The loss, its gradient by the expected counts, and the loss of each measurement."""
        beliefs = self.machine.beliefs(theta)
        residual = self.machine.group_marginals(beliefs) * self.total - self.noisy
        gradient = self.weights * residual
        losses = np.add.reduceat(gradient * residual, self.starts) / 2
        return float(losses.sum()), gradient, losses

    def minimum(self, theta: Floats, stopping: Stopping) -> Floats:
        """Mirror descent with momentum. Steps grow until the loss rises; then momentum starts anew, with shorter steps."""
        # The loss of a measurement by noise alone is half a chi-square: its mean, and the mean plus four standard deviations.
        enough, most = stopping.noise * self.cells.sum() / 2, self.cells / 2 + 4 * np.sqrt(self.cells / 2)
        size, growth = self.size, GROWTH
        loss, gradient, losses = self.at(theta)
        before, speed = theta, 1.0
        history = [loss]
        for _ in range(stopping.steps):
            if loss <= enough and (losses <= most).all():
                break
            after = theta - size * gradient
            faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
            ahead = after + (speed - 1) / faster * (after - before)
            tried = self.at(ahead)
            if tried[0] <= loss:
                before, theta, speed = after, ahead, faster
                loss, gradient, losses = tried
                size *= growth
            else:
                size /= CUT if growth > 1 else 2.0
                before, speed, growth = theta, 1.0, 1.0
            history.append(loss)
            if len(history) > PATIENCE and history[-PATIENCE - 1] - loss <= stopping.tolerance * loss:
                break
        return theta


def _resumed(start: Graphical | None, targets: Sequence[Measurement]) -> Floats:
    """Potentials to begin with: those of ``start``, each added to the smallest measured group that holds its columns."""
    arrays = [np.zeros(m.counts.shape) for m in targets]
    for columns, potential in (start.potentials if start is not None else {}).items():
        around = [i for i, m in enumerate(targets) if set(columns) <= set(m.columns)]
        if not around:
            continue
        i = min(around, key=lambda i: targets[i].counts.size)
        ordered = [name for name in targets[i].columns if name in columns]
        shape = [size if name in columns else 1 for name, size in zip(targets[i].columns, targets[i].counts.shape, strict=True)]
        arrays[i] = arrays[i] + potential.transpose([columns.index(name) for name in ordered]).reshape(shape)
    return np.concatenate([array.ravel() for array in arrays])


def _require_shapes(sizes: Mapping[str, int], measurements: Sequence[Measurement]) -> None:
    for m in measurements:
        if any(name not in sizes for name in m.columns) or m.counts.shape != tuple(sizes[name] for name in m.columns):
            raise InputError(f"the counts of {', '.join(m.columns)} do not have the shape of their columns", where="estimate")
