"""What chapter 3 of Plasencia Palacios (2025) says in words, and what our numbers say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hushtable.api.certificate import Curve
from hushtable.evidence.confidence import Rate
from hushtable.studies.attacks_published import FIRST, INFERENCES, LINKS
from hushtable.studies.plasencia import ADULT, TEXAS, above, mean, shown
from hushtable.studies.report import Statement, Verdict
from hushtable.studies.risk_curves import at, ends, line_of, rising
from hushtable.studies.verdicts import all_of

Found = Mapping[str, Mapping[str, Mapping[str, Sequence[Rate]]]]
"""By table, generator and metric the numbers of the runs."""
Pair = tuple[Rate | None, Rate | None]
"""The plain attack and the contrastive one."""
GENERATORS = ("CTGAN", "DPCTGAN", "RTF")
NEAR_ZERO = 0.05
"""A score of the distance below this is called near zero."""


def about_releases(found: Found) -> list[Statement]:
    """Tables 3.1, 3.3 and 3.4."""
    cells = [(data, method) for data in (ADULT, TEXAS) if data in found for method in GENERATORS]
    singled = {cell: _pair(found, *cell, FIRST[:2]) for cell in cells}
    near = {cell: _pair(found, *cell, FIRST[2:]) for cell in cells}
    links, guesses = ({cell: _pair(found, *cell, m) for cell in cells if cell[0] == ADULT} for m in (LINKS, INFERENCES))
    larger = {cell: pair for cell, pair in singled.items() if cell == (TEXAS, "RTF")}
    smaller = {cell: pair for cell, pair in singled.items() if cell not in larger}
    advantage = [above(*pair[::-1]) if cell[1] == "RTF" else _overlap(pair) for cell, pair in links.items()]
    return [
        _stated(
            "For REaLTabFormer on the larger tables contrastive singling out identifies a higher risk than plain singling out.",
            all_of(above(*pair[::-1]) for pair in larger.values()),
            larger,
        ),
        _stated(
            "For CTGAN and DPCTGAN, and for REaLTabFormer on Adult, it reports a lower risk.",
            all_of(above(*pair) for pair in smaller.values()),
            smaller,
        ),
        _stated(
            "The contrastive score of the distance is near zero, and similar to the plain one or slightly lower.",
            all_of(_no_higher(pair) for pair in near.values()),
            near,
        ),
        _stated(
            "The intervals of contrastive and plain linkability overlap but for REaLTabFormer, where the contrastive is higher.",
            all_of(advantage),
            links,
        ),
        _stated(
            "The intervals of contrastive and plain inference overlap for all generators.",
            all_of(map(_overlap, guesses.values())),
            guesses,
        ),
    ]


def about_leaks(curves: Mapping[str, Mapping[str, Curve]]) -> list[Statement]:
    """Figures 3.4 to 3.7."""
    statements = []
    for title, own in curves.items():
        for curve in own.values():
            if curve.model == "overfit":
                statements += _about_overfit(title, curve)
            else:
                statements += _about_leak(title, curve)
    return statements


def _about_overfit(title: str, curve: Curve) -> list[Statement]:
    statements = [
        _rise(f"{title}: singling out, plain and contrastive, and the distance rise with the overfit ratio.", curve, FIRST[:3]),
        _flat(f"{title}: the contrastive score of the distance stays near zero whatever the overfit ratio.", curve),
    ]
    if title == TEXAS:
        says = f"{title}: at the largest overfit ratio contrastive singling out is higher than plain singling out."
        statements.append(_higher(says, curve, FIRST[:2], last=True))
    return statements


def _about_leak(title: str, curve: Curve) -> list[Statement]:
    noise = "" if curve.model == "leaky" else f" (noise {curve.name})"
    statements = [
        _rise(f"{title}{noise}: singling out and distances, plain and contrastive, rise with the leak.", curve, FIRST),
        _higher(f"{title}{noise}: contrastive singling out detects a higher risk than plain singling out.", curve, FIRST[:2]),
    ]
    if title == ADULT:
        statements += [
            _higher(f"{title}{noise}: contrastive linkability is higher than plain linkability.", curve, LINKS),
            _higher(f"{title}{noise}: contrastive inference is no lower than plain inference.", curve, INFERENCES, least=False),
        ]
    return statements


def about_seconds(seconds: Mapping[str, Mapping[str, float]]) -> list[Statement]:
    """Tables 3.2 to 3.4: of ours, those that were measured side by side."""
    said = (
        (ADULT, FIRST[:2], 1 / 3.3, "contrastive singling out is faster than plain singling out, by a factor of 3.3"),
        (TEXAS, FIRST[:2], 3.1, "contrastive singling out is slower than plain singling out, 1176 s against 376"),
        (ADULT, LINKS, 26.0, "contrastive linkability takes 26 times as long as plain linkability"),
        (ADULT, INFERENCES, 50.0, "contrastive inference takes over 50 times as long as plain inference"),
    )
    statements = []
    for title, (plain, contrastive), factor, says in said:
        own = seconds.get(title, {})
        if plain in own and contrastive in own:
            ours = own[contrastive] / max(own[plain], 1e-3)
            verdict = Verdict.CONFIRMED if (ours > 1) == (factor > 1) else Verdict.CONTRADICTED
            because = f"{own[contrastive]:.3g} s against {own[plain]:.3g} s: {ours:.3g} times as long"
            statements.append(Statement(says=f"{title}: {says}.", verdict=verdict, because=because))
    return statements


def _pair(found: Found, data: str, method: str, metrics: Sequence[str]) -> Pair:
    own = found.get(data, {}).get(method, {})
    plain, contrastive = (mean(own.get(metric, ())) for metric in metrics)
    return plain, contrastive


def _stated(says: str, verdict: Verdict, pairs: Mapping[tuple[str, str], Pair]) -> Statement:
    measured = [
        f"{data}, {method}: contrastive {shown(contrastive)}, plain {shown(plain)}"
        for (data, method), (plain, contrastive) in pairs.items()
        if plain is not None and contrastive is not None
    ]
    return Statement(says=says, verdict=verdict, because="; ".join(measured) or "nothing was measured")


def _overlap(pair: Pair) -> Verdict:
    plain, contrastive = pair
    if plain is None or contrastive is None:
        return Verdict.UNDECIDED
    apart = plain.low > contrastive.high or contrastive.low > plain.high
    return Verdict.CONTRADICTED if apart else Verdict.CONFIRMED


def _no_higher(pair: Pair) -> Verdict:
    """Whether the contrastive score lies near zero and not above the plain one."""
    plain, contrastive = pair
    if plain is None or contrastive is None:
        return Verdict.UNDECIDED
    if contrastive.low > min(NEAR_ZERO, plain.high):
        return Verdict.CONTRADICTED
    return Verdict.CONFIRMED if contrastive.high < NEAR_ZERO else Verdict.UNDECIDED


def _rise(says: str, curve: Curve, metrics: Sequence[str]) -> Statement:
    lines = {metric: line_of(curve, metric) for metric in metrics}
    measured = [f"{metric}: {ends(line)}" for metric, line in lines.items() if line is not None]
    return Statement(says=says, verdict=all_of(map(rising, lines.values())), because="; ".join(measured) or "nothing was measured")


def _flat(says: str, curve: Curve) -> Statement:
    line = line_of(curve, FIRST[3])
    if line is None:
        return Statement(says=says, verdict=Verdict.UNDECIDED, because="nothing was measured")
    verdict = Verdict.CONFIRMED if max(line.high) < NEAR_ZERO else Verdict.UNDECIDED
    verdict = Verdict.CONTRADICTED if max(line.low) > NEAR_ZERO else verdict
    return Statement(says=says, verdict=verdict, because=ends(line))


def _higher(says: str, curve: Curve, metrics: Sequence[str], *, last: bool = False, least: bool = True) -> Statement:
    """Whether the contrastive attack is above the plain one at every level but the first; or (``least`` off) never below it."""
    plain, contrastive = (line_of(curve, metric) for metric in metrics)
    if plain is None or contrastive is None:
        return Statement(says=says, verdict=Verdict.UNDECIDED, because="nothing was measured")
    levels = plain.levels[-1:] if last else plain.levels[1:]
    pairs = {level: (at(contrastive, level), at(plain, level)) for level in levels}
    verdicts = [above(*pair) for pair in pairs.values()]
    if not least:
        verdicts = [Verdict.CONFIRMED if verdict is Verdict.UNDECIDED else verdict for verdict in verdicts]
    measured = [
        f"at {level:.3g} contrastive {shown(one)}, plain {shown(other)}" for level, (one, other) in pairs.items() if one and other
    ]
    return Statement(says=says, verdict=all_of(verdicts), because="; ".join(measured))
