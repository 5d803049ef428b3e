"""What a recommendation does not show: what choosing by looking costs, what is hardly known, and what was left aside."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from hushtable.api.compare.axis import Axis
from hushtable.api.compare.cell import GAP, Cell, Estimate
from hushtable.api.compare.follows import PERFECT
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Unit


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the recommendation depends on besides the cells."""

    label: str
    """Of the score."""
    public: bool
    """Whether the table is public, or other people's: choosing by it then reveals nothing about those who will be released."""
    data: str = "DATA"
    schema: str = "SCHEMA"
    folder: str = "DIR"
    delta: float | None = None
    private: tuple[str, ...] = ()
    """The differentially private recipes that were tried."""
    payable: tuple[str, ...] = ()
    """The differentially private recipes that were tried and that ``--best-of`` can pay for."""
    budgets: int = 0
    """How many different epsilons were tried: one alone was named before looking."""
    unit: Unit = field(default_factory=Unit)
    """Whom the release to take protects."""
    repeated: str = ""
    """A key column whose values repeat, where nobody said that it identifies persons."""
    guess: float | None = None
    """The score of guessing."""
    axis: Axis | None = None
    """The measure that is the score, with that of the real rows."""
    follows: str = ""
    """That the target follows from another column, in words; empty if it does not."""
    control: int = 0
    """Rows that were set aside and attacked."""
    capped: bool = False
    """Whether there are more rows than were attacked."""
    runs: int = 1
    rows: int = 0
    whole: int = 0
    """Rows of the whole table, of which ``rows`` were used."""

    def unpaid(self, cell: Cell) -> bool:
        """Whether the proof of a cell is void if it is chosen here: by looking at private rows, which no budget paid for."""
        return cell.assurance is Assurance.PROVEN and not self.public


def with_interval(score: Estimate) -> str:
    """A score with its interval, where it has one."""
    between = f"{score.lower:.3f} to {score.upper:.3f}"
    return f"{score.value:.3f}" if score.lower == score.upper else f"{score.value:.3f} ({between})"


def points(share: float) -> str:
    """A share as so many of 100 people, with two digits that count."""
    value = 100 * share
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def target_caveats(setting: Setting) -> list[str]:
    """That the score says nothing, where its column follows from another one or the real rows predict it without an error."""
    baseline = None if setting.axis is None else setting.axis.baseline
    if setting.follows:
        return [setting.follows]
    if setting.guess is not None and baseline is not None and baseline >= PERFECT:
        return [
            f"{setting.label} of the real rows is {baseline:.3f}: other columns determine it, so its score says little about a "
            "release. Choose another target (--target), or drop the columns that repeat it."
        ]
    return []


def caveats(take: Cell, setting: Setting) -> list[str]:
    """What must be known about the release to take, the gravest first."""
    lines = _hardly_known(take, setting)
    if take.alarms:
        lines.append(
            f"{take.alarms} of {take.tests} tests raise an alarm: the release reveals more about people in the table than about "
            "others. The constraints allow that."
        )
    if take.assurance is Assurance.CLAIMED:
        more = f" ({len(take.gaps) - 1} more in its notes)" if len(take.gaps) > 1 else ""
        lines += [f"{GAP}{gap}{more}." for gap in take.gaps[:1]]
        twin = f"{take.recipe}-certified"
        if twin in recipes.names():
            lines.append(f"{twin} is hushtable's variant with a proof that holds.")
    elif take.assurance is Assurance.VERIFIED and take.guarantee.k:
        lines.append(
            "Verified holds for the released table and the columns named, and not against somebody who knows other columns. It is "
            "measured on the release itself, so that choosing k by looking at the rows does not void it."
        )
    elif take.assurance is Assurance.VERIFIED:
        lines.append(
            "What was verified holds for the columns named, or for the table that this one was made from. It is no k-anonymity of "
            "the release over all quasi-identifiers: rows of it may stand alone."
        )
    lines.append(
        "Measured risks say what these attacks could do to this release; another attack may do more, and no alarm is no proof."
    )
    if take.assurance is Assurance.PROVEN and setting.public:
        lines.append(
            "A proof holds against every attack, known or not, under the assumptions on the card of the release. The choice was "
            "made on rows that were said to be public or of other people (--public), so it costs nothing. If that is not so, the "
            "proof is void."
        )
    return lines


def _hardly_known(cell: Cell, setting: Setting) -> list[str]:
    lines = list[str]()
    risk, score = cell.worst, cell.score
    if risk and risk.hardly_known:
        what = "What attacks gain from it" if cell.gain else "Its residual risk"
        lines.append(
            f"{what} is hardly known: {points(risk.value)} of 100 people were measured, and up to {points(risk.upper)} cannot be "
            "excluded."
        )
    if score and setting.guess is not None and score.value <= setting.guess:
        lines.append(f"Its score is no better than guessing, whose {setting.label} is {setting.guess:g}.")
    elif score and score.hardly_known:
        lines.append(f"Its score is hardly known: {with_interval(score)}.")
    return lines


def common_caveats(setting: Setting) -> list[str]:
    """What holds for the whole comparison, whatever is taken."""
    lines = list[str]()
    if setting.repeated:
        lines.append(
            f"Values of the key {setting.repeated} repeat: if it identifies persons, rows of one person may lie on both sides of "
            "the split, and the numbers here mislead. Then compare with "
            f"--person {shlex.quote(setting.repeated)} --rows-per-person N."
        )
    if setting.runs == 1:
        lines.append("Each release was made once: how much another run would differ is not known (--runs 3 shows it).")
    if setting.rows < setting.whole:
        lines.append(
            f"Only {setting.rows:,} of {setting.whole:,} rows were used. With all of them differential privacy costs less utility, "
            "and bounds are narrower."
        )
    return lines


def chance_caveat(cells: Sequence[Cell]) -> list[str]:
    """How often chance alone excludes a release that leaks nothing, where alarms excluded some."""
    if not any(miss.condition == "alarms" for cell in cells for miss in cell.misses):
        return []
    audits = sum(cell.runs for cell in cells if not cell.failed)
    return [
        "One audit in twenty of a release that leaks nothing raises an alarm. Tests are corrected within each audit and not across "
        f"the {audits:,} audits here, so chance alone may have excluded safe releases: the more are tried, the more often."
    ]
