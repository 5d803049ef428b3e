"""What a recommendation does not show: what choosing by looking costs, what is hardly known, and what was left aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hushtable.api.compare.cell import GAP, Cell, Estimate
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
    searched: bool = False
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
    """A score with its interval."""
    return f"{score.value:.3f} ({score.lower:.3f} to {score.upper:.3f})"


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
    risk, score = cell.risk, cell.score
    if risk and risk.hardly_known:
        lines.append(f"Its risk is hardly known: {risk.value:.3f} was measured, and up to {risk.upper:.3f} cannot be excluded.")
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
            f"the split, and the numbers here mislead. Then compare with --person {setting.repeated} --rows-per-person N."
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


def tuning_caveats(named: Sequence[Cell], setting: Setting) -> list[str]:
    """That a proof is void if it was chosen by looking at private rows, where one is taken or named."""
    if not any(setting.unpaid(cell) for cell in named):
        return []
    if len(setting.payable) > 1:
        pay = (
            f"hush release --best-of {','.join(setting.payable)} makes about five releases, scores each privately and keeps the "
            "best, for one budget (Papernot and Steinke 2022); each of them is made with about half of it. Set epsilon by policy, "
            "not by this page."
        )
    else:
        pay = (
            "hush release --best-of pays for a choice among several private recipes. Of a single one there is nothing to choose, "
            "and half of the budget would be lost: name it beforehand."
        )
    return [
        "Choosing a private recipe, or its epsilon, by looking at private rows is not free: the choice itself reveals something "
        "about them, and no budget has paid for it. The recipe file says 'tuned: private', and for a release made with it "
        "nothing is proven.",
        "To keep a proof, do one of three things. (1) Compare on public or older rows of the same kind (--public), and release "
        "with what is best there. (2) Name recipe and epsilon before looking, and release with those whatever this page says. "
        f"(3) Pay for the choice: {pay}",
    ]
