"""Adapting a causal model to the texts of private rows, by the one private descent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import functional  # noqa: TID253

from hushtable.language.adapter import adapt, arrays, fold, restore
from hushtable.language.corpus import CHAT, Corpus
from hushtable.language.halves import Halves, depth_of
from hushtable.language.models import Checkpoint
from hushtable.language.nets import Language, padded
from hushtable.language.words import Vocabulary, WordChances
from hushtable.language.write import Asked, Continuation, Writer
from hushtable.learn.ghost import Tape
from hushtable.learn.loop import seeded
from hushtable.learn.private import PrivateDescent
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Integers
from hushtable.table.table import Table

STORED = 2**31
"""Bytes of states of the lower half that are held in memory; those of further rows are worked out again in each step."""
PART = 16
"""Rows whose gradients are worked out at a time."""
Given = tuple[Integers, Sequence[Integers]]
"""Words of which the frequency is known, and those that each text is to hold."""


@dataclass(frozen=True, kw_only=True)
class Adapting:
    """What is adapted and how fast: fixed before a row is read."""

    corpus: Corpus
    length: int
    """Tokens of a text that are learnt at most."""
    rank: int
    layers: int
    """Layers that are adapted, counted from the last; 0 takes a sixth of them."""
    speed: float
    seed: int
    chances: Mapping[str, WordChances]
    """Of the words that prompts name, by text."""


def loaded(checkpoint: Checkpoint) -> Language:
    """In half precision where the processor has it: the network is never trained, and adapters keep single precision."""
    halves = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return Language.load(checkpoint, torch.bfloat16 if halves else torch.float32)


def chats(language: Language) -> bool:
    """Whether a model knows turns of a conversation."""
    return all(language.tokenizer.token_to_id(mark) is not None for mark in CHAT)


def adapted(
    language: Language, vault: Vault, how: PrivateDescent, adapting: Adapting, count: float, report: Callable[[float], None]
) -> dict[str, Array]:
    """Adapters trained on the rows of the vault, which pays for all steps before the first; ``count`` is a noisy number of rows."""
    with seeded(adapting.seed):
        halves = _halves(language, adapting.layers)
        parameters = [own for layer in halves.layers for own in adapt(layer, adapting.rank)]
        optimizer = torch.optim.Adam(parameters, lr=adapting.speed)
        run = how.start(vault, parameters, count, "trains adapters on clipped gradients of rows with their texts")
        rows = Sequences.of(language, adapting.corpus, adapting.length, run.table, adapting.chances)
        states = _States(halves, rows)
        run.order = np.array([len(own) for own in rows.tokens], np.int64)
        for taken, _ in enumerate(run.batches(), 1):
            run.update(lambda part: _gradients(language, halves, states, part))
            optimizer.step()
            # The rate falls to nothing: the last steps average out what noise the first have left.
            for group in optimizer.param_groups:
                group["lr"] = adapting.speed * (1 - taken / how.steps)
            report(taken / how.steps)
        return arrays(language.net)


def restored(language: Language, saved: Mapping[str, Array]) -> Language:
    """The language with adapters as they were saved, folded into its layers."""
    restore(language.net, saved)
    fold(language.net)
    return language


@dataclass(frozen=True, eq=False)
class Sequences:
    """Each row as tokens, and which of them the model is to write."""

    tokens: list[list[int]]
    written: list[list[bool]]
    end: int

    @classmethod
    def of(
        cls, language: Language, corpus: Corpus, length: int, table: Table, chances: Mapping[str, WordChances] | None = None
    ) -> Sequences:
        """At most ``length`` tokens of a text. One that is cut is not ended: the model must not learn to stop in a sentence.

        As in writing, a row that is too long for the model loses the beginning of its prompt.
        """
        vocabulary = language.vocabulary
        words = {
            name: named(vocabulary, own.among(vocabulary.present([text or "" for text in table.strings(name)])))
            for name, own in (chances or {}).items()
        }
        pieces = corpus.pieces(table, words)
        split = {
            written: iter(language.tokens([piece.text for own in pieces for piece in own if piece.written is written], most))
            for written, most in ((True, length), (False, None))
        }
        tokens, written = list[list[int]](), list[list[bool]]()
        for row in pieces:
            ids, marks = list[int](), list[bool]()
            for piece in row:
                own = next(split[piece.written])
                own = [*own, language.end] if piece.written and len(own) < length else own
                ids += own
                marks += [piece.written] * len(own)
            tokens.append(ids[-language.longest :])
            written.append(marks[-language.longest :])
        return cls(tokens, written, language.end)


def losses(language: Language, states: Tensor, ids: Tensor, written: Tensor, halves: Halves) -> Tensor:
    """For each row the mean surprise, in nats, at the tokens it is to write; 0 for a row without any."""
    given = halves.upper(states)[:, :-1]
    wanted = written[:, 1:]
    logits = language.net.get_output_embeddings()(given[wanted]).float()  # type: ignore[operator]
    surprise = functional.cross_entropy(logits, ids[:, 1:][wanted], reduction="none")
    rows = torch.arange(len(ids))[:, None].expand(wanted.shape)[wanted]
    total = torch.zeros(len(ids)).index_add(0, rows, surprise)
    # A row without a text has its gradient too, of zero.
    return total / wanted.sum(1).clamp(min=1) + 0.0 * given.float().sum((1, 2))


def _gradients(language: Language, halves: Halves, states: _States, part: Integers) -> Tape:
    ids, written, given = states.batch(part)
    return Tape.of(language.net, lambda: losses(language, given, ids, written, halves))


def _halves(language: Language, layers: int) -> Halves:
    deep = depth_of(language.net)
    return Halves(language.net, max(0, deep - (layers or max(1, deep // 6))))


@dataclass(eq=False)
class _States:
    """What the lower half makes of each row, worked out when it is first asked for. It is as private as the rows."""

    halves: Halves
    rows: Sequences
    _held: dict[int, Tensor] = field(default_factory=dict)
    _bytes: int = 0

    def batch(self, part: Integers) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens, which of them are to be written, and the states of some rows, filled up behind."""
        tokens = [self.rows.tokens[row] for row in part.tolist()]
        ids, _ = padded(tokens, self.rows.end)
        written = torch.zeros(ids.shape, dtype=torch.bool)
        for place, row in enumerate(part.tolist()):
            written[place, : len(self.rows.written[row])] = torch.tensor(self.rows.written[row], dtype=torch.bool)
        found = self._worked_out([row for row in part.tolist() if row not in self._held])
        first = next(iter((found or self._held).values()))
        states = torch.zeros((*ids.shape, first.shape[1]), dtype=first.dtype)
        for place, row in enumerate(part.tolist()):
            own = found[row] if row in found else self._held[row]
            states[place, : len(own)] = own
        for row, own in found.items():
            if self._bytes < STORED:
                self._held[row] = own
                self._bytes += own.numel() * own.element_size()
        return ids, written, states

    def _worked_out(self, rows: list[int]) -> dict[int, Tensor]:
        order = sorted(rows, key=lambda row: len(self.rows.tokens[row]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(order), PART):
            part = order[start : start + PART]
            ids, _ = padded([self.rows.tokens[row] for row in part], self.rows.end)
            for row, states in zip(part, self.halves.lower(ids), strict=True):
                found[row] = states[: len(self.rows.tokens[row])].clone()
        return found


def named(vocabulary: Vocabulary, words: Sequence[Integers]) -> list[str]:
    """For each text its words, as a prompt names them."""
    return [", ".join(vocabulary.names[word] for word in own.tolist()) for own in words]


def written_texts(
    language: Language,
    corpus: Corpus,
    table: Table,
    length: int,
    rng: np.random.Generator,
    *,
    present: Mapping[str, Array],
    given: Mapping[str, Given],
    report: Callable[[float], None],
) -> dict[str, list[Continuation | None]]:
    """For each column of text what is written for each row, None where ``present`` says that there is none; in order."""
    prompts = corpus.prompts(table, {name: named(language.vocabulary, words) for name, (_, words) in given.items()})
    found: dict[str, list[Continuation | None]] = {}
    writer = Writer(language=language, report=report)
    for name in corpus.texts:
        rows = np.flatnonzero(present[name])
        led = [prompts[row] + corpus.lead(name) for row in rows]
        column: list[Continuation | None] = [None] * table.rows
        asked = Asked.of(language.vocabulary, *given[name], length).take(rows) if name in given else None
        for row, own in zip(rows, writer.write(led, rng, length, asked), strict=True):
            column[row] = own
            prompts[row] += corpus.lead(name) + own.text
        found[name] = column
    return found
