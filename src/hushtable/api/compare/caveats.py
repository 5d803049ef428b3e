"""What a recommendation does not say: what choosing by looking costs, what is hardly known, and what the comparison left aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hushtable.api.compare.choice import Cell
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.unit import Unit
from hushtable.report.compare_text import WIDE

PROVISO = "would be proven had it been named before looking"
GAP = "The proof of its source has a gap: "


@dataclass(frozen=True)
class Setting:
    """What the words need to know beside the cells."""

    label: str
    """Of the score."""
    public: bool
    """Whether the table is public, or other people's: choosing by it then tells nothing about those who will be released."""
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
    """A key column whose values repeat, where nobody said that it tells persons apart."""
    guess: float | None = None
    """The score of guessing."""
    searched: bool = False
    capped: bool = False
    """Whether there are more rows than were attacked."""
    runs: int = 1
    rows: int = 0
    whole: int = 0
    """Rows of the whole table, of which ``rows`` were used."""


def provided(cell: Cell, *, public: bool) -> Cell:
    """The cell as one chosen by looking at private rows is told: its proof with the condition that it rests on."""
    return cell if public else cell | {"promise": cell["promise"].replace("(proven)", f"({PROVISO})")}


def unpaid(cell: Cell, setting: Setting) -> bool:
    """Whether what it proves is void because it is chosen by looking at private rows."""
    return bool(cell["assurance"] == "proven" and not setting.public)


def number(score: Mapping[str, float]) -> str:
    """A score with its interval."""
    return f"{score['value']:.3f} ({score['low']:.3f} to {score['high']:.3f})"


def caveats(take: Cell, setting: Setting) -> list[str]:
    """What the release to take does not say about itself, the gravest first."""
    told = _vague(take, setting)
    if take["alarms"]:
        told.append(
            f"{take['alarms']} of {take['tests']} tests raise an alarm: it tells more about people in the table than about others. "
            "The constraints allow that."
        )
    if take["assurance"] == "claimed":
        gaps = [note for note in take["notes"] if note.startswith(GAP)]
        more = f" ({len(gaps) - 1} more in its notes)" if len(gaps) > 1 else ""
        told += [f"{gap}{more}." for gap in gaps[:1]]
        if (twin := f"{take['recipe']}-certified") in recipes.names():
            told.append(f"{twin} is hushtable's variant with a proof that holds.")
    elif take["assurance"] == "verified" and take["guarantee"]["k"]:
        told.append(
            "Verified holds for the released table and the columns named, and not against somebody who knows other columns. It is "
            "measured on the release itself, so that choosing k by looking at the rows does not void it."
        )
    elif take["assurance"] == "verified":
        told.append(
            "What was verified holds for the columns named, or for the table that this one was made from. It is no k-anonymity of "
            "the release over all quasi-identifiers: rows of it may stand alone."
        )
    told.append(
        "Measured risks say what these attacks could do to this release; another attack may do more, and no alarm is no proof."
    )
    if take["assurance"] == "proven" and setting.public:
        told.append(
            "A proof holds against every attack, known or not, under the assumptions on the card of the release. The choice was "
            "made on rows that were said to be public or of other people (--public), so it costs nothing. If that is not so, the "
            "proof is void."
        )
    return told


def _vague(cell: Cell, setting: Setting) -> list[str]:
    """What is hardly known of a cell."""
    told = list[str]()
    risk, score = cell["risk"], cell["score"]
    if risk and risk["high"] - risk["value"] > WIDE:
        told.append(f"Its risk is hardly known: {risk['value']:.3f} was measured, and up to {risk['high']:.3f} cannot be excluded.")
    if score and setting.guess is not None and score["value"] <= setting.guess:
        told.append(f"Its score is no better than guessing, whose {setting.label} is {setting.guess:g}.")
    elif score and score["high"] - score["low"] > WIDE:
        told.append(f"Its score is hardly known: {number(score)}.")
    return told


def common(setting: Setting) -> list[str]:
    """What holds for the whole comparison, whatever is taken."""
    told = list[str]()
    if setting.repeated:
        told.append(
            f"Values of the key {setting.repeated} repeat: if it tells persons apart, rows of one person may lie on both sides of "
            f"the split, and the numbers here mislead. Then compare with --person {setting.repeated} --rows-per-person N."
        )
    if setting.runs == 1:
        told.append("Each release was made once: how much another run would differ is not known (--runs 3 tells).")
    if setting.rows < setting.whole:
        told.append(
            f"Only {setting.rows:,} of {setting.whole:,} rows were used. With all of them differential privacy costs less utility, "
            "and bounds are narrower."
        )
    return told


def by_chance(cells: Sequence[Cell]) -> list[str]:
    """What many audits do to releases that leak nothing, where alarms excluded some."""
    if not any(miss.startswith("alarms: ") for cell in cells for miss in cell["misses"]):
        return []
    made = sum(cell["runs"] for cell in cells if not cell["failed"])
    return [
        "One audit in twenty of a release that leaks nothing raises an alarm. Tests are corrected within each audit and not across "
        f"the {made:,} audits here, so that chance alone may have excluded safe releases, the more of them the more are tried."
    ]


def tuned(named: Sequence[Cell], setting: Setting) -> list[str]:
    """That a proof is void if it was chosen by looking at private rows, where one is taken or named."""
    if not any(unpaid(cell, setting) for cell in named):
        return []
    pay = (
        f"hush release --best-of {','.join(setting.payable)} makes about five releases, scores each privately and keeps the best, "
        "for one budget (Papernot and Steinke 2022); each of them is made with about half of it. Set epsilon by policy, not by "
        "this page."
        if len(setting.payable) > 1
        else "hush release --best-of pays for a choice among several private recipes. Of a single one there is nothing to choose, "
        "and half of the budget would be lost: name it beforehand."
    )
    return [
        "Choosing a private recipe, or its epsilon, by looking at private rows is not free: the choice itself tells something "
        "about them, and no budget has paid for it. The recipe file says 'tuned: private', and a release made with it proves "
        "nothing.",
        "Way out 1: compare on public or older rows of the same kind (--public), and release with what is best there. "
        "Way out 2: name recipe and epsilon before looking, and release with those whatever this page says. "
        f"Way out 3: pay. {pay}",
    ]
