"""The certified twin of ClustMix: mixtures of records from noisy sums on a partition that is private or public itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from hushtable.errors import PlanError
from hushtable.pipeline.step import Plan, PrivateCore, Reads, check_knobs, reads_places
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.event import Event
from hushtable.privacy.preserve import Effect
from hushtable.privacy.rows import public_rows, require_fixed_rows, rows_event
from hushtable.privacy.unit import Relation
from hushtable.privacy.vault import Vault
from hushtable.synthesize.histogram_cells import usable_total, with_notes
from hushtable.synthesize.mixture import estimate, groups
from hushtable.synthesize.mixture.integer_encoding import STEPS, IntegerEncoding
from hushtable.synthesize.mixture.model import Mixture
from hushtable.synthesize.mixture.private_tree import Split, TreeGrower
from hushtable.synthesize.mixture.sums import PartitionSums
from hushtable.synthesize.mixture.trees import Tree
from hushtable.table.schema import Schema

NAME = "clustmix-certified"
CALM = 6
"""Where ``least`` is not given, a leaf is not cut below so many times the noise of a count."""
SHALLOW, DEEP = 2, 8
"""The fewest and the most cuts in a row, where the depth is chosen."""
ROWS = 10_000
"""The number of rows that the depth is chosen for, unless the schema declares one."""
CLASSES = 20
"""With more classes than this the card carries a note."""


class Form(StrEnum):
    """Which records are mixed."""

    TREE = "tree"
    """Those in one leaf of a tree and of one class."""
    BLOCKS = "blocks"
    """Consecutive ones in a public order, so that each block has at least so many; the number of rows is public."""
    MIXING = "mixing"
    """Random ones; the number of rows is public."""


class Emit(StrEnum):
    """What is released of a mixture."""

    ROWS = "rows"
    """As many rows as it stands for, drawn by its noisy shares, means and spreads."""
    MIXTURES = "mixtures"
    """Its noisy mean, once for every ``least`` records."""


@dataclass(frozen=True, kw_only=True)
class ClustMixCertified(PrivateCore):
    """Sums over groups of similar records, with integer noise, and rows drawn from them: differential privacy, proven.

    *tree*: leaves of a tree grown by private choices (``private_tree``), one cell for each leaf and class. A record is in one cell,
    so one noisy query answers for all: the number of records, the shares of the levels and the moments of the numbers
    (``PartitionSums`` says what one record changes); another one measures the classes as a whole, which the leaves are drawn and
    scaled to. Noisy counts alone decide how many leaves, cells and rows there are; the most cuts in a row follow from the budget.
    *blocks*: consecutive records in a public order of the domain (``OrderedSums``). *mixing*: random subsets (``GroupSums``).
    Both for one record replaced by another. What follows the noise, adapting included, is post-processing. It replaces
    ClustMix (Madl et al. 2023), whose claim fails: there the clusters themselves depend on every record.
    """

    form: Form = Form.TREE
    """tree, blocks or mixing."""
    split: Split = Split.DEPENDENCE
    """How the tree cuts: dependence (the cut that sets all other columns apart the most, the class among them), classes (the one
    that separates the classes best), balanced (halves), random (public projections)."""
    target: str = ""
    """The class column; when empty, the first one with the role target that has few enough values, or none."""
    depth: int = -1
    """The most cuts in a row of the tree; -1: as many as the budget and the declared size of the table (else 10,000 rows) are
    worth, from 2 to 8."""
    least: int = 0
    """The least number of records in a mixture (a leaf is cut if it has twice as many by noisy count); 0: chosen by the noise."""
    emit: Emit = Emit.ROWS
    """rows (as many as the table, drawn inside the mixtures) or mixtures (their noisy means)."""
    alpha: float = 1.0
    """With mixtures: 1 keeps the noisy means; less moves them so that a classifier learns the classes from them, at no cost."""
    tree: float = 0.05
    """The share of the budget that goes into the tree, if it is grown privately."""
    whole: float = 0.3
    """The share of the sums' budget that goes into the classes as a whole, which the leaves are drawn and scaled to."""
    counts: float = 0.05
    """The share of the sums' budget that goes into the number of records, which the shares of levels also contribute to."""

    def __post_init__(self) -> None:
        """Every knob in range."""
        check_knobs(
            self,
            depth=(-1 <= self.depth <= 12, "must lie between 0 and 12, or be -1 to be chosen"),
            least=(self.least == 0 or self.least >= 2, "must be at least 2, or 0 to be chosen"),
            alpha=(0 <= self.alpha <= 1, "must lie between 0 and 1"),
            tree=(0.01 <= self.tree <= 0.9, "must lie between 0.01 and 0.9"),
            whole=(0.01 <= self.whole <= 0.9, "must lie between 0.01 and 0.9"),
            counts=(0.01 <= self.counts <= 0.9, "must lie between 0.01 and 0.9"),
        )

    @property
    def relation(self) -> Relation:
        """One record more or less for the tree (one replaced is proven too); one replaced for the others, and no other."""
        return Relation.ADD_REMOVE if self.form is Form.TREE else Relation.REPLACE_ONE

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """Refuses columns without bounds or levels, a class that cannot be counted, and adapting without a class."""
        encoding = self._encoding(schema)
        if self.alpha < 1 and (self.emit is Emit.ROWS or not IntegerEncoding.of(schema, self.target, NAME).target):
            raise PlanError(
                f"{NAME}: alpha moves mixtures so that a classifier learns the classes: it needs emit: mixtures, and a class column"
            )
        caveats = ["inside a mixture columns were drawn independently of one another"]
        if self.emit is Emit.MIXTURES:
            caveats = ["a row is the noisy average of a mixture: rare values and combinations are averaged away"]
        public = {
            Form.TREE: (),
            Form.BLOCKS: ("an order of all records that could be: the class, then a Hilbert curve through the declared domains",),
            Form.MIXING: ("which places of the table are mixed, drawn without access to the rows",),
        }[self.form]
        return Plan(
            schema=schema, events=self._events(schema, budget, encoding), effect=Effect.GENERATE,
            caveats=tuple(caveats), public=public, reads=self._reads(budget),
        )  # fmt: skip

    def _reads(self, budget: Allowance | None) -> Reads:
        return {Form.TREE: Reads.COUNTS, Form.MIXING: reads_places(budget), Form.BLOCKS: Reads.MEMORY}[self.form]

    def fit(self, vault: Vault, rng: np.random.Generator) -> Mixture:
        """Grow the tree, if there is one, then measure every cell once."""
        encoding = self._encoding(vault.schema)
        if self.form is Form.TREE:
            model, size = self._leaves(vault, encoding, rng)
        else:
            require_fixed_rows(NAME, vault.paid())
            first = IntegerEncoding.of(vault.schema, self.target, NAME).target if self.form is Form.BLOCKS else None
            model, size = groups.mixed(vault, encoding, self.least, 1, first, rng)
            model = replace(model, summary={"form": str(self.form)} | model.summary)
        if self.emit is Emit.MIXTURES:
            model = groups.as_mixtures(model, size)
            if model.total < groups.SPARSE:
                model = replace(model, summary=with_notes(model.summary, groups.few(model.total, size)))
            if self.alpha < 1:
                target = IntegerEncoding.of(vault.schema, self.target, NAME).target
                model = groups.adapted(model, target, self.alpha, rng)
        vault.report(1.0)
        return model

    def _encoding(self, schema: Schema) -> IntegerEncoding:
        if self.form is Form.TREE:
            return IntegerEncoding.of(schema, self.target, NAME)
        IntegerEncoding.of(schema, self.target, NAME)
        return IntegerEncoding.of(schema, "", NAME, classed=False)

    def _events(self, schema: Schema, budget: Allowance | None, encoding: IntegerEncoding) -> tuple[Event, ...]:
        if budget is None:
            return ()
        if self.form is not Form.TREE:
            return groups.events(NAME, schema, budget, encoding, 1)
        grower = self._grower(encoding, budget)
        known = rows_event(budget, schema)
        query = self._sums(Tree.single(encoding))
        sums = (part.event(query, schema) for part in self._parts(budget, grower))
        return (*known, *grower.events(budget, schema), *sums)

    def _parts(self, allowance: Allowance, grower: TreeGrower) -> tuple[Allowance, Allowance]:
        """For the classes as a whole, and for the leaves."""
        left = 1 - grower.spent
        _, whole, leaves = allowance.split([grower.spent, left * self.whole, left * (1 - self.whole)])
        return whole, leaves

    def _grower(self, encoding: IntegerEncoding, allowance: Allowance) -> TreeGrower:
        return TreeGrower(encoding, self.split, self.depth if self.depth >= 0 else self._depth(encoding, allowance), self.tree)

    def _depth(self, encoding: IntegerEncoding, allowance: Allowance) -> int:
        """So deep that leaves of the least size would be half as many as the rows allow: of the budget and the schema alone."""
        _, leaves = self._parts(allowance, TreeGrower(encoding, self.split, 1, self.tree))
        least = self._least(leaves, encoding)
        return int(np.clip(math.log2((encoding.schema.size or ROWS) / least) - 2, SHALLOW, DEEP))

    def _least(self, leaves: Allowance, encoding: IntegerEncoding) -> int:
        """The least number of records of a leaf, by the noise of its sums."""
        noise = groups.deviation(leaves, self._sums(Tree.single(encoding)), encoding.schema)
        return self.least or max(2, math.ceil(CALM * noise))

    def _sums(self, tree: Tree) -> PartitionSums:
        longest = math.sqrt(tree.encoding.longest[1])
        return PartitionSums(tree.encoding, tree, max(1, round(longest * math.sqrt(self.counts / (1 - self.counts)))))

    def _leaves(self, vault: Vault, encoding: IntegerEncoding, rng: np.random.Generator) -> tuple[Mixture, int]:
        allowance = vault.paid()
        grower = self._grower(encoding, allowance)
        of_whole, of_leaves = self._parts(allowance, grower)
        single = self._sums(Tree.single(encoding))
        least = self._least(of_leaves, encoding)
        tree = grower.grow(vault, allowance, least, rng)
        query = self._sums(tree)
        noise = groups.deviation(of_leaves, query, vault.schema)
        top = estimate.read(
            encoding, vault.spend(single, of_whole), single.weight, groups.deviation(of_whole, single, vault.schema) * STEPS
        )
        sums = estimate.read(encoding, vault.spend(query, of_leaves), query.weight, noise * STEPS)
        if allowance.unit.fixes_rows:
            rows = public_rows(vault, allowance)
        else:
            apart = estimate.count_noise(encoding, query.weight, noise) * math.sqrt(tree.cells)
            rows = max(2, round(usable_total(float(sums.counts.sum()), apart)))
        summary: dict[str, Any] = {
            "form": str(self.form),
            "mixtures": tree.cells,
            "leaves": tree.leaves,
            "classes": encoding.classes,
            "least_records": least,
            "noise_of_a_count": round(noise, 2),
        }
        model = estimate.of_tree(tree, top, sums, rows, summary)
        summary |= groups.note(encoding, tree.cells, noise, rows)
        if encoding.classes > CLASSES:
            summary = with_notes(
                summary,
                f"{encoding.target} has {encoding.classes} classes with mixtures of their own, and rare ones are mostly noise: "
                "name another target, or group its values",
            )
        return replace(model, summary=summary), least
