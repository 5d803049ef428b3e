"""The recommendation in words: what to take and why, what it trades, what it does not show, and what another promise would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hushtable.api.compare.caveats import Setting, caveats, chance_caveat, common_caveats, points, target_caveats, with_interval
from hushtable.api.compare.cell import Cell, WorstGain
from hushtable.api.compare.choice import chosen, undecided
from hushtable.api.compare.comparison import Alternative, Recommendation
from hushtable.api.compare.knee import KIND, RATE, Step
from hushtable.api.compare.making import Making
from hushtable.api.compare.uses import weakness
from hushtable.api.compare.ways_out import nearest_release, ways_out
from hushtable.evidence.condition import Condition
from hushtable.evidence.verdict import STRENGTH
from hushtable.privacy.guarantee import PROVISO, Assurance, odds
from hushtable.report.attacks import OF_WHOM

NEEDS = {
    Assurance.PROVEN: "a proof (differential privacy)",
    Assurance.VERIFIED: "a verified promise",
    Assurance.NONE: "the score more than a promise",
}


def recommend(cells: Sequence[Cell], conditions: Sequence[Condition], setting: Setting, files: Mapping[str, str]) -> Recommendation:
    """The recommendation among judged cells; ``files`` are the recipe files by cell."""
    take, best = chosen(cells, conditions)
    if take is None:
        return _nothing(cells, conditions, setting)
    making = Making.of(take, cells, setting, files.get(take.id, ""))
    others = _others(cells, take, setting)
    named = [c for c in cells if c.id in (take.id, *(other.id for other in others))]
    numbers = _numbers(take, setting)
    if making.promise and take.score:
        numbers[0] = f"Of {take.id}, {numbers[0]}"
    words = [making.headline, *numbers, take.promise_sentence]
    if not setting.unpaid(take):
        words += _proviso(cells, setting)
    return Recommendation(
        id=take.id,
        words=tuple(words),
        why=tuple(_why(cells, take, best, conditions, setting)),
        caveats=(
            *target_caveats(setting),
            *_tuning(named, making, setting),
            *caveats(take, setting),
            *common_caveats(setting),
            *chance_caveat(cells),
        ),
        command=making.command,
        made=making.promise,
        others=tuple(others),
    )


def _numbers(cell: Cell, setting: Setting, of: str = "") -> list[str]:
    """Its score and what attacks gained; ``of`` begins each sentence."""
    lines = []
    if cell.score:
        lines.append(f"{of}{setting.label} is {with_interval(cell.score)}.")
    start = f"{of}the" if of else "The"
    if cell.gain:
        chance = "" if cell.gain.alarm else ", which chance explains"
        lines.append(
            f"{start} worst attack measured, “{cell.gain.name}”, succeeds on {points(cell.gain.value)} more of 100 people in the "
            f"table than of 100 outside{chance}; {_excluded(cell.gain)}."
        )
    elif cell.risk:
        lines.append(
            f"{start} attack with the largest upper bound is “{cell.risk.name}”: it succeeds on a "
            f"share of {cell.risk.value:.3f} {OF_WHOM}, and with about 97.5 % confidence on no more than {cell.risk.upper:.3f}."
        )
    return lines


def _excluded(gain: WorstGain) -> str:
    """What cannot be excluded of any attack, and why it is no less."""
    if gain.upper > gain.widest:
        return f"an audit of this size cannot exclude {points(gain.upper)} more, even where nothing leaks"
    by = f"“{gain.bounded_by or gain.name}”, with about 97.5 % confidence"
    return f"the largest upper bound of any attack is {points(gain.upper)} more ({by})"


def _proviso(cells: Sequence[Cell], setting: Setting) -> list[str]:
    return [f"What is called proven below {PROVISO}."] if any(map(setting.unpaid, cells)) else []


def _tuning(named: Sequence[Cell], making: Making, setting: Setting, *, shown: bool = True) -> list[str]:
    """That a proof is void if it was chosen by looking at private rows, where one is taken or named; and how it is kept."""
    if not any(setting.unpaid(cell) for cell in named):
        return []
    start = "The command here keeps the proof; the" if shown and setting.unpaid(making.take) else "The"
    return [
        "Choosing a private recipe, or its epsilon, by looking at private rows is not free: the choice itself reveals something "
        f"about them, and no budget has paid for it, so the proof is void. {start} files of private recipes beside this "
        "page, marked 'tuned: private', do not keep it.",
        making.keeps(shown=shown),
    ]


def _why(cells: Sequence[Cell], take: Cell, best: Cell | None, conditions: Sequence[Condition], setting: Setting) -> list[str]:
    tried, fitting = [c for c in cells if not c.failed], [c for c in cells if c.fits]
    asked = "; ".join(condition.description for condition in conditions)
    if len(fitting) == 1:
        lines = [f"It is the only one of {len(tried)} releases that meets every condition in a valid audit: {asked}."]
    else:
        lines = [
            f"It is one of {len(fitting)} releases, of {len(tried)} tried, that meet every condition in a valid audit: {asked}."
        ]
    if best is None or best.score is None or take.score is None:
        lines.append("None of these has a score, so the strictest promise decided.")
    elif undecided(conditions) and len(fitting) > 1:
        lines.append(
            "No condition says what is wanted, so it is the knee of what was tried: the strictest release from which no step to a "
            f"better score is worth what it gives up. A doubling of epsilon or of what attacks may gain, or a halving of k, must "
            f"add {RATE:g} of {setting.label}; a weaker kind of evidence {KIND:g}."
        )
    elif best.id == take.id:
        if len(fitting) > 1:
            lines.append(f"None of the others that do has a larger {setting.label}.")
    else:
        stricter = "is stricter"
        if take.strength > best.strength:
            evidence = PROVISO if setting.unpaid(take) else f"is {take.assurance}"
            stricter = f"{evidence}, and that one's is {best.assurance}"
        lines.append(
            f"{best.id} has {setting.label} {best.score.value:.3f}, which cannot be distinguished from {take.score.value:.3f} "
            f"here; the promise of {take.id} {stricter}."
        )
    lines += _trades(cells, take, best, setting)
    lines += _weakest(cells, take, setting)
    if take.front:
        lines.append("Nothing that was tried has both a smaller upper bound of what attacks gain and a larger score.")
    return lines


def _trades(cells: Sequence[Cell], take: Cell, best: Cell | None, setting: Setting) -> list[str]:
    """What the next weaker and the next stricter setting of its recipe would add or cost, and the best score of all that fit."""
    same = [c for c in cells if c.recipe == take.recipe and c.score and not c.failed and c.assurance is take.assurance]
    weaker = max((c for c in same if c.strictness < take.strictness), key=lambda c: c.strictness, default=None)
    stricter = min((c for c in same if c.strictness > take.strictness), key=lambda c: c.strictness, default=None)
    steps = {c.id: Step(take, c) for c in (weaker, best, stricter) if c is not None and c.id != take.id}
    return [_trade(step, setting) for step in steps.values()] if take.score else []


def _trade(step: Step, setting: Setting) -> str:
    """One step from the release to take, in words: what it adds or costs, and what it gives up."""
    noise = " (within noise)" if step.noise else ""
    amount = f"{'add' if step.grown >= 0 else 'cost'} {abs(step.grown):.3f} of {setting.label}{noise}"
    given_up = _given_up(step.start, step.stop)
    failing = "" if step.stop.fits else f"; it fails a condition ({step.stop.misses[0]})" if step.stop.misses else ""
    return f"{step.stop.id} would {amount}{f' and {given_up}' if given_up else ''}{failing}."


def _given_up(start: Cell, stop: Cell) -> str:
    """What the second promises less than the first, or what attacks may gain more; empty if it is neither."""
    if stop.strength < start.strength:
        return f"give up what is {start.assurance}: its promise is {stop.assurance}"
    parts = []
    if stop.strictness < start.strictness and start.assurance is Assurance.PROVEN:
        before, after = odds(start.guarantee.epsilon or 0.0), odds(stop.guarantee.epsilon or 0.0)
        parts.append(f"allow what is concluded about a person to become {after} times as likely instead of {before} times")
    elif stop.strictness < start.strictness and start.guarantee.k and stop.guarantee.k:
        parts.append(f"hide each person among {stop.guarantee.k:g} instead of {start.guarantee.k:g}")
    if stop.gain and start.gain and Step(start, stop).exposes:
        parts.append(f"let attacks gain up to {points(stop.gain.upper)} of 100 people instead of {points(start.gain.upper)}")
    return " and ".join(parts)


def _weakest(cells: Sequence[Cell], take: Cell, setting: Setting) -> list[str]:
    """For which use the release to take is worst."""
    weak = None if setting.axis is None else weakness(take, cells, setting.axis)
    if weak is None:
        return []
    real = "" if weak.baseline is None else f"; fresh real rows have {weak.baseline:.3f}"
    return [
        f"Its weakest point is {weak.label}: {weak.value:.3f}, where the best that was tried, {weak.best.id}, has "
        f"{weak.best_value:.3f}{real}."
    ]


def _others(cells: Sequence[Cell], take: Cell, setting: Setting) -> list[Alternative]:
    """The best cell of every other kind of evidence, and a stricter promise of the same kind, with what it costs."""
    valid = [c for c in cells if not c.failed and not c.void and c.score and c.id != take.id]
    others = []
    for kind, need in NEEDS.items():
        if STRENGTH[kind] == take.strength:
            continue
        best = _best([c for c in valid if c.strength == STRENGTH[kind]])
        if best:
            others.append(Alternative(best.id, f"if you need {need}: {_cost(best, take, setting)}"))
    stricter = _best([c for c in valid if _stricter(c, take)])
    if stricter:
        others.append(Alternative(stricter.id, f"if you need a stricter promise: {_cost(stricter, take, setting)}"))
    return others


def _best(cells: Sequence[Cell]) -> Cell | None:
    """The best score, of those that fit if any does."""
    return max(cells, key=lambda c: (c.fits, c.score.value if c.score else 0.0), default=None)


def _stricter(cell: Cell, take: Cell) -> bool:
    """Whether a cell has evidence of the same kind for a stricter promise: a smaller epsilon, or a larger k."""
    if cell.assurance is not take.assurance:
        return False
    if take.assurance is Assurance.PROVEN:
        return (cell.guarantee.epsilon or 0.0) < (take.guarantee.epsilon or 0.0) * 0.99
    return take.assurance is Assurance.VERIFIED and (cell.guarantee.k or 0) > (take.guarantee.k or 0)


def _cost(one: Cell, take: Cell, setting: Setting) -> str:
    rest = "" if one.fits else f", but it fails a condition ({one.misses[0]})"
    if one.alarms and one.gain:
        rest += f", and attacks gain {points(one.gain.value)} of 100 people"
    if setting.unpaid(one):
        rest += f"; it {PROVISO}"
    if not take.score or not one.score:
        return f"{one.id}{rest}"
    step = Step(take, one)
    if step.noise:
        return f"{one.id}, whose {setting.label} of {one.score.value:.3f} cannot be distinguished from {take.score.value:.3f}{rest}"
    gap = -step.grown
    return f"{one.id} {f'costs {gap:.3f}' if gap > 0 else f'gains {-gap:.3f}'} of {setting.label}{rest}"


def _nothing(cells: Sequence[Cell], conditions: Sequence[Condition], setting: Setting) -> Recommendation:
    """Where nothing keeps all constraints: which excludes most, what comes nearest, and what would help."""
    near, words = nearest_release(cells, conditions)
    why, tuning = list[str](), list[str]()
    if near is not None:
        words += _proviso(cells, setting)
        why = _numbers(near, setting, "Of the nearest release, ")
        tuning = _tuning([near], Making.of(near, cells, setting, ""), setting, shown=False)
    return Recommendation(
        words=tuple(words),
        why=tuple(why),
        caveats=(
            *ways_out(cells, conditions, setting),
            *target_caveats(setting),
            *tuning,
            *common_caveats(setting),
            *chance_caveat(cells),
        ),
    )
