"""Writing: continuations of prompts drawn from a causal model, many at a time.

Everything here is post-processing of a model and of fresh randomness: no private row is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253

from hushtable.language.nets import Language, padded
from hushtable.language.words import Vocabulary
from hushtable.learn.loop import one_thread
from hushtable.table.arrays import Integers

MORE = 0.75
"""When no more than this share of the texts of a batch is still being written, the others leave it."""
PATIENT, URGENT = 2.0, 8.0
"""What is added to the log-odds of words that a text lacks: at least, and when no room is left for them."""
RARER, HELD = 1.0, 5.0
"""What is taken from the log-odds of other words of which the frequency is known, and of the end while words are lacking."""
PACE = 5
"""Tokens in which each word that a text is given has its place."""
ROOM = 2
"""Tokens for each word that a text lacks, below which the word is urgent."""


@dataclass(frozen=True, eq=False)
class Continuation:
    """What was written after a prompt."""

    text: str
    finished: bool
    """Whether the model ended it, and not the limit of its length."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Words that each text is to hold: their tokens are made likelier until it does, and a text that lacks some is hardly ended.

    At first a word is made a little likelier, so that it comes where it fits, and more the less room is left. Other words of which
    the frequency is known are made rarer, so that a word stands in about those texts that were given it.
    """

    vocabulary: Vocabulary
    known: Tensor
    """The tokens of all words of which the frequency is known."""
    words: list[list[int]]
    """For each text the numbers of words that it still lacks."""
    due: list[int]
    """For each text the number of tokens in which all of them are to stand."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, known: Integers, words: Sequence[Integers], length: int) -> Asked:
        """From the words of known frequency, those of each text, and how many tokens a text has at most."""
        tokens = [token for word in known.tolist() for token in vocabulary.tokens[word]]
        due = [min(length, PACE * len(own)) for own in words]
        return cls(vocabulary, torch.tensor(tokens, dtype=torch.int64), [own.tolist() for own in words], due)

    def take(self, rows: Integers) -> Asked:
        """For some of the texts, none of which has a word yet."""
        some = rows.tolist()
        return Asked(self.vocabulary, self.known, [list(self.words[row]) for row in some], [self.due[row] for row in some])

    def applied(self, logits: Tensor, active: Tensor, end: int, written: int) -> Tensor:
        """The logits of texts of which so many tokens are written, changed for the words that they lack."""
        logits[:, self.known] -= RARER
        for place, row in enumerate(active.tolist()):
            lacks = self.words[row]
            if not lacks:
                continue
            likelier = PATIENT + (URGENT - PATIENT) * min(1.0, ROOM * len(lacks) / max(self.due[row] - written, 1))
            logits[place, [token for word in lacks for token in self.vocabulary.tokens[word]]] += likelier + RARER
            logits[place, end] -= HELD
            if not written:
                logits[place, [token for word in lacks for token in self.vocabulary.first[word]]] += likelier
        return logits

    def used(self, active: Tensor, chosen: Tensor) -> None:
        """Take note of the tokens that were drawn."""
        both = (self.vocabulary.tokens, self.vocabulary.first)
        for row, token in zip(active.tolist(), chosen.tolist(), strict=True):
            self.words[row] = [word for word in self.words[row] if not any(token in kind[word] for kind in both)]


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Draws token by token from the likeliest tokens that together have the probability ``nucleus`` (Holtzman et al. 2020)."""

    language: Language
    nucleus: float = 0.95
    candidates: int = 256
    """The most tokens that one is drawn from: to sort a whole vocabulary would take longer than the network."""
    batch: int = 128
    """Texts at a time: of time and memory only."""
    report: Callable[[float], None] = field(default=lambda share: None)

    def write(
        self, prompts: Sequence[str], rng: np.random.Generator, length: int, asked: Asked | None = None
    ) -> list[Continuation]:
        """For each prompt a text of at most ``length`` tokens, in the order of the prompts."""
        most = max(self.language.longest - length, 1)
        # What stands nearest to the text counts most, so a prompt that is too long loses its beginning.
        tokens = [own[-most:] or [self.language.end] for own in self.language.tokens(prompts)]
        order = np.argsort([len(own) for own in tokens], kind="stable")
        written: list[Continuation] = [Continuation("", finished=False)] * len(prompts)
        generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            own = None if asked is None else asked.take(rows)
            with one_thread():
                made = self._batch([tokens[row] for row in rows], length, generator, own)
            for row, found in zip(rows, made, strict=True):
                written[row] = found
            self.report(min(1.0, (start + self.batch) / len(order)))
        return written

    @torch.no_grad()
    def _batch(self, tokens: list[list[int]], length: int, generator: torch.Generator, asked: Asked | None) -> list[Continuation]:
        from transformers import DynamicCache

        net, end = self.language.net, self.language.end
        ids, shown = padded(tokens, end, left=True)
        places = (shown.long().cumsum(1) - 1).clamp(min=0)
        cache = DynamicCache(config=net.config)  # type: ignore[arg-type]
        drawn: list[list[int]] = [[] for _ in tokens]
        finished = np.zeros(len(tokens), bool)
        active = torch.arange(len(tokens))
        for place in range(length):
            states = net.base_model(  # type: ignore[operator]
                input_ids=ids, attention_mask=shown, position_ids=places, past_key_values=cache, use_cache=True
            ).last_hidden_state[:, -1]
            logits = net.get_output_embeddings()(states).float()  # type: ignore[operator]
            chosen = self._drawn(logits if asked is None else asked.applied(logits, active, end, place), generator)
            if asked is not None:
                asked.used(active, chosen)
            for row, token in zip(active.tolist(), chosen.tolist(), strict=True):
                finished[row] |= token == end
                if not finished[row]:
                    drawn[row].append(token)
            writing = torch.from_numpy(~finished)[active]
            if not writing.any():
                break
            if writing.float().mean() <= MORE:
                kept = writing.nonzero()[:, 0]
                cache.batch_select_indices(kept)
                active, chosen, shown, places = active[kept], chosen[kept], shown[kept], places[kept]
            ids, places = chosen[:, None], places[:, -1:] + 1
            shown = torch.cat([shown, torch.ones((len(shown), 1), dtype=torch.bool)], dim=1)
        return [Continuation(self.language.text(own), finished=bool(done)) for own, done in zip(drawn, finished, strict=True)]

    def _drawn(self, logits: Tensor, generator: torch.Generator) -> Tensor:
        """A token for each text."""
        best, tokens = logits.topk(min(self.candidates, logits.shape[1]), dim=1)
        shares = (best - logits.logsumexp(1, keepdim=True)).exp()
        # The token that reaches the nucleus belongs to it.
        outside = shares.cumsum(1) - shares >= self.nucleus
        places = torch.multinomial(shares.masked_fill(outside, 0.0), 1, generator=generator)
        return tokens.gather(1, places)[:, 0]
