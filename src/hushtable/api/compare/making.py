"""How the recommended release is made: its words and its command say the same, because both are written here."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hushtable.api.best_of import payable
from hushtable.api.compare.caveats import Setting
from hushtable.api.compare.cell import Cell
from hushtable.api.compare.grid import EPSILON
from hushtable.display import listed
from hushtable.errors import HushError
from hushtable.pipeline import recipe as recipes
from hushtable.privacy.guarantee import Assurance
from hushtable.privacy.unit import Relation, default_delta

if TYPE_CHECKING:
    from hushtable.api.compare.comparison import Comparison
    from hushtable.table.schema import Schema

BY_POLICY = "EPSILON"
"""What stands in a command for an epsilon that must not be taken from what was measured."""


class Way(StrEnum):
    """How a release is made so that its promise holds."""

    FILE = "file"
    """From the recipe file of the comparison: looking costs it nothing, because it promises no proof or the rows are public."""
    PAY = "pay"
    """As the best of several private recipes, for one budget that pays for the choice."""
    NAME = "name"
    """By the only private recipe that was tried, which was named before looking."""
    PUBLIC = "public"
    """By none yet: the choice must be made on public rows."""


@dataclass(frozen=True)
class Making:
    """The way to make a cell, in words and as a command."""

    take: Cell
    setting: Setting
    way: Way
    file: str = ""
    knobs: tuple[tuple[str, str], ...] = ()
    """Of the recipe that is named, where it has any besides epsilon; in capitals where several values were tried."""

    @classmethod
    def of(cls, take: Cell, cells: Sequence[Cell], setting: Setting, file: str) -> Making:
        """The way for a cell that was chosen here."""
        if not setting.unpaid(take):
            return cls(take, setting, Way.FILE, file)
        # It takes recipes as they come: one whose knobs were tried, or whose price does not add up, it cannot make.
        if len(setting.payable) > 1 and take.recipe in setting.payable and set(take.settings) <= {EPSILON}:
            return cls(take, setting, Way.PAY)
        private = {cell.recipe for cell in cells if cell.epsilon is not None}
        if private == {take.recipe} and take.recipe in recipes.names():
            same = [cell for cell in cells if cell.recipe == take.recipe]
            tried = {knob: {cell.settings.get(knob) for cell in same} for knob in take.settings if knob != EPSILON}
            knobs = ((knob, take.settings[knob] if len(values) == 1 else knob.upper()) for knob, values in tried.items())
            return cls(take, setting, Way.NAME, knobs=tuple(knobs))
        return cls(take, setting, Way.PUBLIC)

    @property
    def fixed(self) -> bool:
        """Whether its epsilon was named before looking (one alone was tried), or costs nothing to choose (the rows are public)."""
        return self.setting.public or self.setting.budgets == 1

    @property
    def headline(self) -> str:
        """What to take, in one sentence: what the command makes."""
        take = self.take
        here = f"here {take.id} is the best trade"
        if self.way is Way.PAY:
            either = " or ".join(self.setting.payable)
            at = f"epsilon {take.epsilon:g}" if self.fixed else "an epsilon that you set by policy"
            return f"Take the best of a few releases by {either}, chosen privately (--best-of), at {at}; {here}."
        if self.way is Way.PUBLIC:
            return f"Choose on public rows (--public) before you take one; {here}."
        if self.way is Way.NAME and not (self.fixed and not self.open_knobs):
            names = [*self.open_knobs, *([] if self.fixed else [EPSILON])]
            return f"Take {take.recipe} with {listed(names)} set by policy; {here}."
        return f"Take {take.id}."

    @property
    def open_knobs(self) -> tuple[str, ...]:
        """The knobs of which several values were tried."""
        return tuple(knob for knob, value in self.knobs if value == knob.upper())

    @property
    def promise(self) -> str:
        """What holds for a release that the command makes, where that is not what was tried here; empty where it is."""
        if self.way is Way.PAY:
            return "Made so, that epsilon is proven, the choice between them included."
        if self.way is Way.NAME:
            return "Made so, its epsilon is proven if recipe and epsilon were fixed before looking, whatever this page says."
        return ""

    @property
    def ways(self) -> dict[Way, str]:
        """How a proof is kept, in a sentence each."""
        pay = (
            "pay for the choice: hush release --best-of pays for one among several private recipes. Of a single one there is "
            "nothing to choose, and half of the budget would be lost: name it beforehand"
        )
        if len(self.setting.payable) > 1:
            pay = (
                f"pay for the choice: --best-of {','.join(self.setting.payable)} makes about five releases, scores each privately "
                "and keeps the best, for one budget (Papernot and Steinke 2022). Each is made with about half of it, so expect "
                "what half of your epsilon scores here; set epsilon by policy, not by this page"
            )
        return {
            Way.PAY: pay,
            Way.NAME: "name recipe and epsilon before looking, and release with those whatever this page says",
            Way.PUBLIC: "compare on public or older rows of the same kind (--public), and release with what is best there",
        }

    def keeps(self, *, shown: bool = True) -> str:
        """How a proof is kept, the way of the command first, if it is ``shown``."""
        ways = self.ways
        order = sorted(ways, key=lambda way: way is not self.way)
        texts = [f"as the command here does, {ways[way]}" if way is self.way and shown else ways[way] for way in order]
        return "Three ways keep a proof. " + " ".join(f"({i}) {text[0].upper()}{text[1:]}." for i, text in enumerate(texts, 1))

    @property
    def command(self) -> str:
        """The command that makes the release to take with all that it promises."""
        setting, take = self.setting, self.take
        if self.way is Way.PUBLIC:
            names = ",".join(setting.private) or take.recipe
            words = [
                "hush",
                "compare",
                "PUBLIC_DATA",
                "--schema",
                setting.schema,
                "--recipes",
                names,
                "--public",
                "--out",
                "public",
            ]
            return shlex.join(words)
        words = ["hush", "release", setting.data, "--schema", setting.schema]
        if self.way is Way.PAY:
            words += ["--best-of", ",".join(setting.payable)]
        else:
            words += ["--recipe", take.recipe if self.way is Way.NAME else self.file]
        for knob, value in self.knobs:
            words += ["--set", f"{knob}={value}"]
        if take.epsilon is not None:
            words += ["--epsilon", f"{take.epsilon:g}" if self.fixed else BY_POLICY]
            if setting.delta is not None:
                words += ["--delta", f"{setting.delta:g}"]
            if take.assurance in (Assurance.VERIFIED, Assurance.NONE):
                # The budget sizes noise that proves nothing, because another step read the rows unprotected.
                words.append("--unproven")
        if setting.unit.relation is Relation.REPLACE_ONE:
            words += ["--relation", str(setting.unit.relation)]
        if setting.unit.by is not None:
            words += ["--person", setting.unit.by, "--rows-per-person", str(setting.unit.rows)]
        blanks = [*(knob.upper() for knob in self.open_knobs), *([BY_POLICY] if BY_POLICY in words else [])]
        note = f"  # set {listed(blanks)} by policy, not by what was measured here" if blanks else ""
        if self.way is Way.NAME and not blanks:
            note = "  # proven only if recipe and epsilon were fixed before looking"
        return shlex.join([*words, "--out", "release", "--hold-out", "0.2"]) + note


def ways(comparison: Comparison, take: Cell, schema: Schema) -> tuple[dict[Way, str], tuple[str, ...]]:
    """How the proof of a cell is kept that was seen in a comparison of private rows; and recipes whose choice can be paid for."""
    private = dict.fromkeys(c.recipe for c in comparison.cells if c.nominal_epsilon is not None and c.recipe in recipes.names())
    names = tuple(name for name in private if _payable(name, schema, take))
    setting = Setting(label=comparison.axis.label, public=comparison.run.public, private=tuple(private), payable=names)
    return Making.of(take, comparison.cells, setting, "").ways, names


def _payable(name: str, schema: Schema, take: Cell) -> bool:
    """Whether ``--best-of`` can pay for a choice of this recipe."""
    delta = default_delta(schema.size) if take.delta is None else take.delta
    try:
        payable(schema, [recipes.load(name)], epsilon=take.nominal_epsilon or 1.0, delta=delta)
    except HushError:
        return False
    return True
