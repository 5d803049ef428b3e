"""Where nothing keeps all conditions: which excludes most, what comes nearest, and what would be needed, condition by condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hushtable.api.compare.caveats import Setting, points
from hushtable.api.compare.cell import Cell, Miss, MissKind, WorstGain
from hushtable.api.compare.choice import strictest
from hushtable.api.compare.enough import least_bound, rows_needed
from hushtable.display import listed
from hushtable.evidence.condition import ATTACKED, GAINS, RISKS, UPPER, Condition, joined
from hushtable.privacy.guarantee import Assurance

PRIVATE = "a differentially private recipe (--recipes aim,mst --epsilon 1)"
FAR = 1e6
"""The distance from a limit of what has no number."""
FALLS = 0.5
"""Alarms fall with k if those at the largest k are at most this share of those at the smallest."""


def nearest(cells: Sequence[Cell], conditions: Sequence[Condition]) -> Cell | None:
    """The cell that misses the fewest conditions, of these the one that comes nearest to their limits; None if there is none."""
    asked = {condition.name: condition for condition in conditions}

    def distance(cell: Cell, miss: Miss) -> float:
        """How far it is from the limit, as a share of it."""
        condition = asked.get(miss.condition)
        value = None if condition is None else reached(cell, condition)
        if condition is None or value is None or not isinstance(condition.limit, float):
            return FAR
        return min(FAR, abs(value - condition.limit) / max(abs(condition.limit), 1e-9))

    def order(cell: Cell) -> tuple[float, ...]:
        far = sum(distance(cell, miss) for miss in cell.misses)
        return len(cell.misses), far, 0.0 if cell.score is None else -cell.score.value

    return min((c for c in cells if not c.failed), key=order, default=None)


def nearest_release(cells: Sequence[Cell], conditions: Sequence[Condition]) -> tuple[Cell | None, list[str]]:
    """The release that comes nearest, and in words which condition excludes most and what the nearest fails."""
    tried = [c for c in cells if not c.failed]
    if not tried:
        return None, ["Nothing could be released; each line says why."]
    words = ["Nothing that was tried meets all conditions."]
    expression, count = strictest(cells, conditions)
    if expression:
        words.append(f"The condition that excludes most is {expression}: {count} of {len(tried)} releases fail it.")
    near = nearest(cells, conditions)
    if near is not None:
        words.append(f"The nearest is {near.id}, which fails {'; '.join(map(str, near.misses))}.")
    return near, words


def ways_out(cells: Sequence[Cell], conditions: Sequence[Condition], setting: Setting) -> list[str]:
    """What would help: of each condition that none keeps what it needs; where each is kept by some, which of them collide."""
    tried = [c for c in cells if not c.failed]
    if not tried:
        return []
    stuck = [_Stuck(condition, tried, setting) for condition in conditions if all(_misses(c, condition) for c in tried)]
    lines = [line for one in stuck for line in one.lines()]
    if not stuck:
        lines = _collisions(tried, conditions)
    if any(c.void for c in tried):
        lines.append(f"An audit that does not count keeps no condition: {next(c.void[0] for c in tried if c.void)}.")
    return lines


@dataclass(frozen=True)
class _Stuck:
    """A condition that no release keeps."""

    condition: Condition
    tried: Sequence[Cell]
    setting: Setting

    @property
    def near(self) -> tuple[Cell, float] | None:
        """The release that comes nearest to it, and its number."""
        known = [(cell, value) for cell in self.tried if (value := reached(cell, self.condition)) is not None]
        sign = 1.0 if self.condition.sign in UPPER else -1.0
        return min(known, key=lambda pair: (sign * pair[1], 0.0 if pair[0].score is None else -pair[0].score.value), default=None)

    @property
    def limit(self) -> float | None:
        return self.condition.limit if isinstance(self.condition.limit, float) else None

    def lines(self) -> list[str]:
        """What would be needed, in sentences."""
        lines = [f"{self.condition.expression} is kept by none{self._nearest()}. {self._needed()}".strip()]
        if self.condition.name == "alarms":
            lines += _useless_k(self.tried)
        return lines

    def _nearest(self) -> str:
        near = self.near
        return f"; the nearest is {near[0].id} with {near[1]:.3g}" if near else ""

    def _needed(self) -> str:
        name, limit = self.condition.name, self.limit
        proven = [c for c in self.tried if c.assurance is Assurance.PROVEN]
        if name == "promise":
            ask = PRIVATE if self.condition.limit is Assurance.PROVEN else "a recipe with a verified k (--recipes mdav,k-anonymity)"
            return f"Try {ask}."
        if name == "epsilon" and limit is not None:
            return f"Try --epsilon {limit:g}{'' if proven else ' with --recipes aim,mst'}."
        if name == "k" and limit is not None:
            recipe = next((c.recipe for c in self.tried if c.guarantee.k), "mdav")
            return f"Try --recipes {recipe} --grid {recipe}.k={limit:g}."
        if name == "score" and limit is not None:
            return self._score(limit)
        if name in ATTACKED and limit is not None:
            return self._attacked(limit)
        return self._stricter() if name == "alarms" else ""

    def _stricter(self) -> str:
        epsilons = [c.nominal_epsilon for c in self.tried if c.assurance is Assurance.PROVEN and c.nominal_epsilon is not None]
        if not epsilons:
            return f"Try {PRIVATE}: it hides whether any single person is in the table, and leaves attacks little to find."
        return f"Try a smaller epsilon than {min(epsilons):g}."

    def _score(self, limit: float) -> str:
        baseline = None if self.setting.axis is None else self.setting.axis.baseline
        if baseline is not None and limit > baseline:
            return f"The real rows themselves reach {baseline:.3f}, so no release can be expected to keep it."
        best = max((c.score.value for c in self.tried if c.score), default=None)
        if best is not None and best >= limit:
            return f"Measured it was {best:.3f}, and only its lower bound is below: more rows, or --runs 3, would narrow it."
        return "Only a weaker promise (a larger epsilon, a smaller k) or more rows keep more."

    def _attacked(self, limit: float) -> str:
        """For a limit of what attacks achieve: whether releases leak, or rows are too few to show that they do not.

        Of many attacks some gain more than the limit by chance alone, so that alarms decide which it is.
        """
        calm = [c for c in self.tried if self._calm(c)]
        if not calm:
            return f"Attacks gained more than chance explains from every release, so more rows do not help. {self._stricter()}"
        count = f"{len(calm)} of {len(self.tried)} releases"
        blind = f"What attacks gained from {count} is no more than chance explains, and only upper bounds are too large."
        if self.condition.name not in GAINS:
            return f"{blind} {self._as_gain(calm)}".strip()
        worst = min((g for c in calm if (g := _gain(c, self.condition)) is not None), key=lambda g: g.widest, default=None)
        if worst is None or not self.setting.control:
            return blind
        least, needed = least_bound(worst), rows_needed(worst, limit, self.setting.control)
        how = "--hold-out, --attacked" if self.setting.capped else "--hold-out"
        if least < limit:
            return (
                f"{blind} About {needed:,} control rows instead of {self.setting.control:,} ({how}, or more rows) would show less."
            )
        return (
            f"No release at all could keep it here: with {self.setting.control:,} control rows an attack that succeeds on "
            f"{points(worst.outside or 0.0)} of 100 people outside (“{worst.bounded_by}”) has an upper bound of {points(least)} of "
            f"100 even if it gains nothing. About {needed:,} control rows are needed ({how}, or more rows)."
        )

    def _calm(self, cell: Cell) -> bool:
        """Whether chance explains what attacks of this kind gained; where no gain is known, whether it lies below the limit."""
        gained = _gain(cell, self.condition)
        miss = _miss(cell, self.condition)
        return not gained.alarm if gained is not None else miss is not None and miss.kind is MissKind.BLIND

    def _as_gain(self, calm: Sequence[Cell]) -> str:
        gains = [g.widest for c in calm if (g := _gain(c, self.condition)) is not None]
        if not gains:
            return ""
        name = next(n for n, kind in GAINS.items() if kind is RISKS.get(self.condition.name))
        return (
            f"A residual risk is a share of those whom an attack misses outside, and where it misses few it is hardly known: ask "
            f"for the gain instead ({name}<{1.05 * min(gains):.2g} is kept by the nearest)."
        )


def reached(cell: Cell, condition: Condition) -> float | None:
    """The number of a cell that a condition is judged by; None where it has none."""
    name = condition.name
    if name in GAINS:
        gained = _gain(cell, condition)
        return None if gained is None else gained.widest
    if name == "max_risk" or name in RISKS:
        worst = cell.risk if name == "max_risk" else cell.risks.get(str(RISKS[name]))
        return None if worst is None else worst.upper
    numbers = {
        "alarms": float(cell.alarms) if cell.tests else None,
        "epsilon": cell.guarantee.epsilon,
        "k": cell.guarantee.k,
        "score": None if cell.score is None else cell.score.lower,
    }
    if name in numbers:
        return numbers[name]
    return next((measure.value for one, measure in cell.measures.items() if joined(one) == name), None)


def _gain(cell: Cell, condition: Condition) -> WorstGain | None:
    """What attacks gained of the kind that a condition is about."""
    kind = GAINS.get(condition.name) or RISKS.get(condition.name)
    return cell.gain if kind is None else cell.gains.get(str(kind))


def _miss(cell: Cell, condition: Condition) -> Miss | None:
    return next((miss for miss in cell.misses if miss.condition == condition.name), None)


def _misses(cell: Cell, condition: Condition) -> bool:
    return _miss(cell, condition) is not None


def _useless_k(tried: Sequence[Cell]) -> list[str]:
    """Recipes whose alarms do not fall as k grows: what leaks is not what k protects."""
    lines = []
    for recipe in dict.fromkeys(c.recipe for c in tried):
        line = sorted(
            (c.guarantee.k, c.alarms) for c in tried if c.recipe == recipe and c.guarantee.k and c.assurance is Assurance.VERIFIED
        )
        if len(line) > 1 and line[-1][1] > FALLS * line[0][1]:
            ks, alarms = listed([f"{k:g}" for k, _ in line]), listed([str(count) for _, count in line])
            lines.append(
                f"A larger k hardly helps {recipe}: it raises {alarms} alarms at k = {ks}. What leaks lies in columns that k does "
                "not cover: give those that others may know the role quasi, coarsen them or drop them."
            )
    return lines


def _collisions(tried: Sequence[Cell], conditions: Sequence[Condition]) -> list[str]:
    """Where each condition is kept by some release and all by none: who keeps which, and which limit would let the nearest in."""
    keepers = []
    for condition in conditions:
        fitting = [c for c in tried if not _misses(c, condition)]
        best = max(fitting, key=lambda c: (-len(c.misses), c.score.value if c.score else 0.0), default=None)
        if best is not None and len(fitting) < len(tried):
            keepers.append(f"{condition.expression} by {best.id}")
    lines = (
        [f"Each condition is kept by some release, but all by none: {'; '.join(keepers)}. Allow more of one of them."]
        if keepers
        else []
    )
    near = nearest(tried, conditions)
    if near is None or len(near.misses) != 1:
        return lines
    missed = next((condition for condition in conditions if condition.name == near.misses[0].condition), None)
    value = None if missed is None else reached(near, missed)
    if missed is not None and value is not None:
        lines.append(f"{near.id} fails {missed.expression} alone, with {value:.3g}.")
    return lines
