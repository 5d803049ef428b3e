"""How a network was trained: its loss epoch by epoch on the rows that it learnt from and on those held out, and what was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hushtable.report.charts.ground import tick_texts
from hushtable.report.charts.plots import LETTER, Scale, legend, svg, text, titled
from hushtable.report.html import Child, Html, element
from hushtable.report.words import number, wide
from hushtable.table import lenient

WIDTH, HEIGHT = 420.0, 216.0
KEY = "training"
"""Where the result of a step holds the curve."""


@dataclass(frozen=True)
class Curve:
    """The losses of each epoch; None where there is no number."""

    loss: Sequence[float | None]
    held: Sequence[float | None]
    planned: int | None = None
    """The epochs that there would have been, had nothing stopped it early."""
    judged: str = ""
    """By what held-out rows are judged, where that is not the loss: it then has a scale of its own."""
    copying: Mapping[str, float] = field(default_factory=dict)
    """Epochs after which drawn rows were compared with training rows, with the value of Q-delta."""
    chance: float | None = None
    """What Q-delta stays below by chance, 19 times of 20."""

    @classmethod
    def of(cls, result: object) -> Curve | None:
        """The curve in a step's result, if it has one that can be drawn. What is of another kind is left out, never an error."""
        plain = lenient.mapping(lenient.mapping(result).get(KEY))
        loss, held = (_numbers(plain.get(name)) for name in ("loss", "held"))
        known = [value for value in (*loss, *held) if value is not None]
        if not known:
            return None
        values = {epoch: lenient.finite(value) for epoch, value in lenient.mapping(plain.get("q_delta")).items()}
        copying = {epoch: value for epoch, value in values.items() if value is not None}
        chance = lenient.finite(plain.get("q_delta_threshold"))
        return cls(loss, held, lenient.whole(plain.get("epochs")), lenient.text(plain.get("judged")), copying, chance)

    @property
    def epochs(self) -> int:
        """How many there were."""
        return max(len(self.loss), len(self.held))

    @property
    def best(self) -> int | None:
        """The epoch after which it was best on held-out rows, whose weights were kept; None where nothing was held out."""
        judged = [(value, epoch) for epoch, value in enumerate(self.held, 1) if value is not None]
        return min(judged)[1] if judged else None

    def sentence(self) -> str:
        """How long it took, and what was kept of it."""
        early = self.planned is not None and self.epochs < self.planned
        epochs = f"{number(self.epochs)} epoch{'' if self.epochs == 1 else 's'}"
        took = f"Stopped after {number(self.epochs)} of {number(self.planned)} epochs" if early else f"Trained for {epochs}"
        if self.best is None:
            return f"{took}; no rows were held out to judge it by."
        return f"{took}; best on held-out rows after epoch {number(self.best)}, whose weights were kept."


def _compared(curve: Curve) -> Html | None:
    """What was found where drawn rows were compared with training rows, if they were."""
    if not curve.copying or curve.chance is None:
        return None
    values = ", ".join(f"{number(value)} after epoch {epoch}" for epoch, value in curve.copying.items())
    return element(
        "p",
        "Drawn rows were compared with training rows by Q-delta, how much more often they lie among the nearest than other real "
        f"rows do: {values}. Between real rows it stays below {number(curve.chance)} in 19 of 20 cases.",
    )


def is_training(result: object) -> bool:
    """Whether a step's result has a curve that can be drawn."""
    return Curve.of(result) is not None


def section(result: Mapping[str, Any]) -> Html:
    """The curve with its sentence."""
    curve = Curve.of(result)
    assert curve is not None
    entries = [("hue5", "rows that it learnt from")] if any(v is not None for v in curve.loss) else []
    entries += [("hue0", curve.judged or "rows held out of training")] if curve.best is not None else []
    apart = bool(curve.judged) and len(entries) == 2
    alone = replace(curve, held=[]), replace(curve, loss=[None] * curve.epochs)
    where = f"Upwards: the loss, and below it the {curve.judged}" if apart else "Upwards: the loss"
    return element(
        "figure",
        element("p", curve.sentence()),
        _compared(curve),
        legend(*entries),
        [drawing(panel, curve.sentence()) for panel in (alone if apart else [curve])],
        element("figcaption", f"{where}; to the right: epochs, passes over the rows. {_meaning(curve)}"),
        class_="training",
    )


def _meaning(curve: Curve) -> str:
    if curve.best is None:
        return "Without held-out rows it says how training went, and little of how good the release is."
    if curve.judged:
        return "The loss is that of two networks against each other and says little by itself; of the distance less is better."
    return "Less is better. Where the line of held-out rows turns upwards, the network begins to learn single rows by heart."


def drawing(curve: Curve, sentence: str) -> Html:
    """Both lines over the epochs, and a mark at what was kept."""
    known = [value for value in (*curve.loss, *curve.held) if value is not None]
    low, high = min(known), max(known)
    room = 0.06 * (high - low) or max(0.05 * abs(high), 0.05)
    top, bottom = 24.0, HEIGHT - 40.0
    up = Scale(low - room, high + room, bottom, top)
    ticks = up.ticks(5)
    texts = tick_texts(ticks)
    left = 10.0 + max((wide(shown, LETTER) for shown in texts), default=0.0)
    along = Scale(1.0, max(curve.epochs, 2), left + 8, WIDTH - 12)
    marks: list[Child] = []
    for tick, shown in zip(ticks, texts, strict=True):
        marks.append(element("line", class_="grid", x1=left, x2=WIDTH, y1=up(tick), y2=up(tick)))
        marks.append(text(left - 5, up(tick) + 4, shown, anchor="end"))
    marks.append(element("line", class_="axis", x1=left, x2=WIDTH, y1=bottom, y2=bottom))
    marks += [text(along(epoch), bottom + 15, number(epoch), anchor="middle") for epoch in _epochs(curve.epochs)]
    if curve.best is not None:
        marks.append(_kept(along(curve.best), curve.best, top, bottom))
    marks += [_line("learnt from", curve.loss, 5, along, up), _line("held out", curve.held, 0, along, up)]
    name = curve.judged if curve.judged and curve.best is not None else "loss"
    marks.append(text(0, 11, name, class_="small"))
    marks.append(text(WIDTH, HEIGHT - 6, "epoch", anchor="end", class_="small"))
    return svg(WIDTH, HEIGHT, f"{name} by epoch. {sentence}", marks)


def _kept(x: float, epoch: int, top: float, bottom: float) -> Html:
    anchor, shift = ("end", -5.0) if x > WIDTH / 2 else (None, 5.0)
    return titled(
        f"best on held-out rows after epoch {number(epoch)}: these weights were kept",
        element("line", class_="diagonal", x1=x, x2=x, y1=top - 8, y2=bottom),
        text(x + shift, top - 4, f"kept: epoch {number(epoch)}", anchor=anchor, class_="small"),
    )


def _line(name: str, values: Sequence[float | None], hue: int, along: Scale, up: Scale) -> list[Child]:
    """A line through the epochs that have a number, each of which says it on hovering."""
    places = [(epoch, value) for epoch, value in enumerate(values, 1) if value is not None]
    if not places:
        return []
    steps = "L".join(f"{along(epoch):.2f} {up(value):.2f}" for epoch, value in places)
    marks: list[Child] = [element("path", class_=f"curve thick stroke{hue}", d=f"M{steps}")]
    for epoch, value in places:
        dot = element("circle", class_=f"hue{hue}", cx=along(epoch), cy=up(value), r=2.4 if len(places) <= 60 else 1.2)
        marks.append(titled(f"epoch {number(epoch)}, rows {name}: {number(value)}", dot))
    return marks


def _epochs(count: int) -> list[int]:
    """The first, the last, and round ones between them that are not too near to either."""
    between = [int(tick) for tick in Scale(0, count, 0, 1).ticks(6) if tick == int(tick) and 1 < tick < count]
    apart = count / 12
    return [1, *(epoch for epoch in between if epoch - 1 >= apart and count - epoch >= apart), *([count] if count > 1 else [])]


def _numbers(values: object) -> list[float | None]:
    """Finite numbers, and None for anything else."""
    return [lenient.finite(value) for value in values] if isinstance(values, (list, tuple)) else []
