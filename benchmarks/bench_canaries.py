"""canaries: what a model of language that was adapted to private texts remembers, with and without privacy.

Each canary is a text that begins as a real one does and ends in words drawn by lot. Its exposure (Carlini et al. 2019) is how far
up its planted end ranks among others drawn alike, by the likelihood that the adapted model itself gives them. Needs an installed
model (``hush model add smollm2``) and the short messages of ``sms_spam``; says so where they are missing. About a quarter of an
hour of CPU time each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kstest

import hushtable as ht
from hushtable.audits.text.exposure import exposure_p, exposures
from hushtable.audits.text.planting import Planted, plant
from hushtable.audits.text.verbatim import VerbatimTexts
from hushtable.data.datasets import data_folder
from hushtable.errors import InputError
from hushtable.evidence import harness
from hushtable.evidence.case import Case
from hushtable.evidence.finding import Finding
from hushtable.evidence.verdict import alarms
from hushtable.language.models import Sort, checkpoint
from hushtable.privacy.event import Raw
from hushtable.privacy.vault import Vault
from hushtable.table import io
from hushtable.table.columns import Column, Kind, Levels, Role
from hushtable.table.schema import Schema
from hushtable.table.table import Table
from hushtable.table.words import words

SMS = Schema(
    columns=(
        Column(name="label", kind=Kind.CATEGORY, domain=Levels(("ham", "spam")), role=Role.TARGET),
        Column(name="text", kind=Kind.TEXT),
    ),
    title="short messages",
)
WORDS = (6, 12)
"""Texts of so many words: shorter ones say little, longer ones take longer."""
BITS = 10.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is planted and how it is learnt, the same with and without privacy."""

    model: str = "smollm2"
    rows: int = 250
    canaries: int = 50
    ends: int = 2048
    """An exposure is at most the logarithm of this, 11 bits; above 10 is the first rank alone."""
    size: tuple[int, int] = (3, 2)
    """Words of a real text that a canary begins with, and words drawn by lot: these are single tokens, to be ranked quickly."""
    epochs: int = 20
    parts: int = 16
    """Batches of an epoch without privacy."""
    rate: float = 0.2
    """The chance of a row to be in a batch with privacy, where large batches are better."""
    length: int = 24
    rank: int = 16
    layers: int = 6
    speed: float = 1e-2
    seed: int = 0

    @property
    def steps(self) -> int:
        """Of the private descent."""
        return round(self.epochs / self.rate)


@dataclass(frozen=True)
class Ground:
    """Rows with canaries, rows that nobody learns from, and the canaries with all their ends."""

    train: Table
    control: Table
    planted: Planted


@dataclass(frozen=True)
class Remembered:
    """What one model showed."""

    exposures: np.ndarray
    ends: int
    verbatim: list[Finding]
    seconds: tuple[float, float]
    """To train and write, and to rank."""

    @property
    def above(self) -> float:
        """The share of canaries of more than 10 bits."""
        return float((self.exposures > BITS).mean())

    @property
    def uniform(self) -> float:
        """The p-value of the test of Kolmogorov and Smirnov of ranks that are uniform."""
        return float(kstest((self.ends * 2.0**-self.exposures - 0.5) / self.ends, "uniform").pvalue)

    def line(self, name: str) -> str:
        """Of the table."""
        quantiles = "".join(f"{own:>7.2f}" for own in np.quantile(self.exposures, [0, 0.25, 0.5, 0.75, 1]))
        found = self.verbatim[0].detail
        said = f"{found['hits']}/{found['control_hits']}"
        raised = "alarm" if alarms(self.verbatim) else "none"
        numbers = f"{100 * self.above:>8.0f}{self.uniform:>10.2g}{exposure_p(self.exposures):>10.2g}"
        return f"{name:<18}{quantiles}{numbers}{said:>12}{raised:>8}{self.seconds[0]:>9.0f}{self.seconds[1]:>9.0f}"


def messages(rows: int, seed: int) -> tuple[Table, Table]:
    """Two samples of short messages, no text in both."""
    folder = data_folder()
    path = None if folder is None else folder / "sms_spam" / "sms_spam.tsv.gz"
    if path is None or not path.is_file():
        raise InputError("sms_spam is not at hand: set HUSHTABLE_DATA", where="data")
    frame = pd.read_csv(path, sep="\t", quoting=3).drop_duplicates("text")
    frame = frame[[WORDS[0] <= len(words(text)) <= WORDS[1] for text in frame["text"]]]
    order = np.random.default_rng([seed, 1]).permutation(len(frame))
    first, second = (io.read(frame.iloc[own].reset_index(drop=True), SMS) for own in np.split(order[: 2 * rows], 2))
    return first, second


def ground(plan: Plan, train: Table, control: Table, short: Callable[[str], bool]) -> Ground:
    """The canaries planted; their ends are of words of both samples that are ``short``."""
    (name,) = train.schema.texts
    known = sorted({word for side in (train, control) for text in side.strings(name) for word in words(text or "") if short(word)})
    changed, planted = plant(train, name, plan.ends, plan.canaries, plan.size, known, np.random.default_rng([plan.seed, 2]))
    return Ground(changed, control, planted)


class Unprotected:
    """In the place of a private descent: as many steps, on plain gradients. It reads the rows raw, and the ledger says so."""

    def __init__(self, epochs: int, parts: int, seed: int) -> None:
        self.steps, self.parts, self.seed = epochs * parts, parts, seed

    def start(self, vault: Vault, parameters: list[Any], count: float, why: str) -> Unprotected:
        """Open the rows."""
        self.table, self.parameters = vault.open(Raw("an attack trains a model without privacy"), why), parameters
        return self

    def batches(self) -> Iterator[np.ndarray]:
        """Each row once in each epoch, in an order of its own."""
        rng = np.random.default_rng(self.seed)
        for _ in range(self.steps // self.parts):
            for batch in np.array_split(rng.permutation(self.table.rows), self.parts):
                self._open = batch
                yield batch

    def update(self, gradients: Callable[[np.ndarray], Any]) -> None:
        """The mean gradient of the batch."""
        import torch

        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)
        for part in np.array_split(self._open, -(-len(self._open) // 16)):
            for parameter, total in gradients(part).weighted(torch.full((len(part),), 1 / len(self._open))):
                parameter.grad += total


def without_privacy(plan: Plan, table: Table) -> tuple[Any, Table, Vault]:
    """A model adapted without privacy, texts that it writes, and the vault that saw it done."""
    from hushtable.language import writing_net as net
    from hushtable.language.cells import Cells
    from hushtable.language.corpus import Corpus
    from hushtable.language.write_text import Conditions, Written

    known = checkpoint(plan.model, Sort.CAUSAL, "canaries")
    language = net.loaded(known)
    corpus = Corpus(table.schema, table.schema.texts, net.chats(language))
    adapting = net.Adapting(
        corpus=corpus, length=plan.length, rank=plan.rank, layers=plan.layers, speed=plan.speed, seed=plan.seed, chances={}
    )
    vault = Vault.of(table)
    how = Unprotected(plan.epochs, plan.parts, plan.seed)
    arrays = net.adapted(language, vault, how, adapting, table.rows, lambda share: None)
    conditions = Conditions(table.select(table.schema.without_text().names), corpus, Cells(()), plan.length)
    model = Written(conditions, known.name, known.fingerprint, {}, arrays, {}, plan.model)
    return model, model.sample(None, np.random.default_rng([plan.seed, 3])), vault


def with_privacy(plan: Plan, table: Table, epsilon: float, **more: Any) -> tuple[Any, Table]:
    """The model and the table of a release by ``dp-text``."""
    knobs = {"model": plan.model, "rate": plan.rate, "steps": plan.steps, "length": plan.length, "rank": plan.rank}
    knobs |= {"layers": plan.layers, "speed": plan.speed, "twin": 0, "topics": 8}
    release = ht.release(table, "dp-text", epsilon=epsilon, settings=knobs | more.pop("settings", {}), **more)
    return release.fitted.model, release.table


def remembered(ground: Ground, plan: Plan, make: Callable[[], tuple[Any, Table]]) -> Remembered:
    """Train a model, rank the ends by it, and look for texts in what it writes."""
    start = time.process_time()
    model, release = make()
    trained = time.process_time()
    found = exposures(ground.planted.scores(model.log_likelihood))
    ranked = time.process_time()
    case = Case(ground.train, release, ground.control)
    verbatim = harness.run(case, {"text-verbatim": VerbatimTexts()}, plan.seed)
    return Remembered(found, plan.ends, verbatim, (trained - start, ranked - trained))


def main(folder: Path) -> None:
    plan = Plan()
    try:
        known = checkpoint(plan.model, Sort.CAUSAL, "canaries")
        train, control = messages(plan.rows, plan.seed)
    except InputError as error:
        print(f"\ncanaries: left out, {error}")
        return
    from hushtable.language.writing_net import loaded

    tokens = loaded(known).tokens
    planted = ground(plan, train, control, lambda word: len(tokens([f" {word}"])[0]) == 1)
    print(f"\ncanaries: {plan.canaries} among {plan.rows} messages, {plan.ends:,} ends each, {known.name}, {plan.epochs} epochs")
    print(
        f"{'training':<18}{'exposure in bits: quantiles':>35}{'% > 10':>8}{'KS p':>10}{'Fisher p':>10}"
        f"{'verbatim':>12}{'':>8}{'train s':>9}{'rank s':>9}"
    )
    print(remembered(planted, plan, lambda: without_privacy(plan, planted.train)[:2]).line("no privacy"), flush=True)
    print(remembered(planted, plan, lambda: with_privacy(plan, planted.train, 8.0)).line("epsilon 8"), flush=True)
