"""The recommendation in words: what to take and why, what it does not show, and what a stricter promise would cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from hushtable.api.compare.caveats import Setting, caveats, chance_caveat, common_caveats, tuning_caveats, with_interval
from hushtable.api.compare.cell import Cell, MissKind
from hushtable.api.compare.choice import chosen, nearest, strictest
from hushtable.api.compare.comparison import Alternative, Recommendation
from hushtable.evidence.condition import Condition
from hushtable.evidence.verdict import STRENGTH
from hushtable.privacy.guarantee import PROVISO, Assurance
from hushtable.privacy.unit import Relation
from hushtable.report.attacks import OF_WHOM

NEEDS = {
    Assurance.PROVEN: "a proof (differential privacy)",
    Assurance.VERIFIED: "a verified promise",
    Assurance.NONE: "no promise at all",
}


def recommend(cells: Sequence[Cell], conditions: Sequence[Condition], setting: Setting, files: Mapping[str, str]) -> Recommendation:
    """The recommendation among judged cells; ``files`` are the recipe files by cell."""
    take, best = chosen(cells)
    if take is None:
        return _nothing(cells, conditions, setting)
    others = _others(cells, take, setting)
    named = [c for c in cells if c.id in (take.id, *(other.id for other in others))]
    words = [f"Take {take.id}.", *_numbers(take, setting), take.promise_sentence]
    if not setting.unpaid(take):
        words += _proviso(cells, setting)
    return Recommendation(
        id=take.id,
        words=tuple(words),
        why=tuple(_why(cells, take, best, conditions, setting)),
        caveats=(
            *tuning_caveats(named, setting),
            *caveats(take, setting),
            *common_caveats(setting),
            *chance_caveat(cells),
        ),
        command=_command(take, setting, files.get(take.id, "")),
        others=tuple(others),
    )


def _numbers(cell: Cell, setting: Setting, of: str = "") -> list[str]:
    """Its score and its worst attack; ``of`` begins each sentence."""
    lines = []
    if cell.score:
        lines.append(f"{of}{setting.label} is {with_interval(cell.score)}.")
    if cell.risk:
        lines.append(
            f"{f'{of}the' if of else 'The'} attack with the largest upper bound is “{cell.risk.name}”: it succeeds on a "
            f"share of {cell.risk.value:.3f} {OF_WHOM}, and with about 97.5 % confidence on no more than {cell.risk.upper:.3f}."
        )
    return lines


def _proviso(cells: Sequence[Cell], setting: Setting) -> list[str]:
    return [f"What is called proven below {PROVISO}."] if any(map(setting.unpaid, cells)) else []


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
    if take.front:
        lines.append("Nothing that was tried has both a smaller risk and a larger score.")
    return lines


def _command(take: Cell, setting: Setting, file: str) -> str:
    """The command that makes the release to take; empty where no command could keep its promise."""
    words = ["hush", "release", setting.data, "--schema", setting.schema]
    if setting.unpaid(take):
        if len(setting.payable) < 2:
            return ""
        words += ["--best-of", ",".join(setting.payable)]
    else:
        words += ["--recipe", file]
    note = ""
    if take.epsilon is not None:
        # One budget alone was named before looking.
        if setting.public or setting.budgets == 1:
            words += ["--epsilon", f"{take.epsilon:g}"]
        else:
            words += ["--epsilon", "EPSILON"]
            note = "  # set EPSILON by policy, not by what was measured here"
        if setting.delta is not None:
            words += ["--delta", f"{setting.delta:g}"]
    if setting.unit.relation is Relation.REPLACE_ONE:
        words += ["--relation", str(setting.unit.relation)]
    if setting.unit.by is not None:
        words += ["--person", setting.unit.by, "--rows-per-person", str(setting.unit.rows)]
    return shlex.join([*words, "--out", "release", "--hold-out", "0.2"]) + note


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
    if setting.unpaid(one):
        rest += f"; it {PROVISO}"
    if not take.score or not one.score:
        return f"{one.id}{rest}"
    if one.score.overlaps(take.score):
        return f"{one.id}, whose {setting.label} of {one.score.value:.3f} cannot be distinguished from {take.score.value:.3f}{rest}"
    gap = take.score.value - one.score.value
    return f"{one.id} {f'costs {gap:.3f}' if gap > 0 else f'gains {-gap:.3f}'} of {setting.label}{rest}"


def _nothing(cells: Sequence[Cell], conditions: Sequence[Condition], setting: Setting) -> Recommendation:
    """Where nothing keeps all constraints: which excludes most, what comes nearest, and what would help."""
    tried = [c for c in cells if not c.failed]
    if not tried:
        return Recommendation(
            words=("Nothing could be released; each line says why.",), caveats=tuple(_ways_out(cells, [], setting))
        )
    words = ["Nothing that was tried meets all conditions."]
    expression, count = strictest(cells, conditions)
    if expression:
        words.append(f"The condition that excludes most is {expression}: {count} of {len(tried)} releases fail it.")
    why, named = list[str](), list[Cell]()
    near = nearest(cells)
    if near is not None:
        words.append(f"The nearest is {near.id}, which fails {'; '.join(map(str, near.misses))}.")
        words += _proviso(cells, setting)
        why, named = _numbers(near, setting, "Of the nearest release, "), [near]
    return Recommendation(words=tuple(words), why=tuple(why), caveats=tuple(_ways_out(cells, named, setting)))


def _ways_out(cells: Sequence[Cell], named: Sequence[Cell], setting: Setting) -> list[str]:
    between = "" if setting.searched else ", or let --search look between them"
    rows = "--hold-out, --attacked" if setting.capped else "--hold-out"
    ways = [
        *tuning_caveats(named, setting),
        f"Allow more, or try stricter settings (--grid, --epsilon){between}.",
        f"Upper bounds shrink with more control rows ({rows}): a risk that is not known to be small does not pass.",
        *common_caveats(setting),
        *chance_caveat(cells),
    ]
    tried = [c for c in cells if not c.failed]
    blind = sum(any(miss.kind is MissKind.BLIND for miss in c.misses) for c in tried)
    if blind:
        ways.append(
            f"What attacks gained from {blind} of {len(tried)} releases lies below the limit, and only its upper bound does not. "
            "On a small table, or for a column that nobody guesses wrong, no release at all may keep so small a limit."
        )
    return ways
