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
from hushtable.learn.loop import one_thread
from hushtable.table.arrays import Integers

MORE = 0.75
"""When no more than this share of the texts of a batch is still being written, the others leave it."""


@dataclass(frozen=True, eq=False)
class Continuation:
    """What was written after a prompt."""

    text: str
    finished: bool
    """Whether the model ended it, and not the limit of its length."""


@dataclass(frozen=True, eq=False)
class Tilts:
    """Changes of the log-odds of tokens, for each text by its level; a word that a text has used is not made likelier again."""

    words: Tensor
    """For each token the number of its word, or -1."""
    change: Tensor
    """Levels x tokens."""
    levels: Tensor
    """For each text its level."""
    spent: dict[tuple[int, int], Tensor] = field(default_factory=dict)
    """By text and word that it has used, the tokens of the word."""

    @classmethod
    def of(cls, words: Tensor, tilt: Tensor, levels: Tensor) -> Tilts:
        """From changes of words, levels x words."""
        return cls(words, torch.where(words >= 0, tilt[:, words.clamp(min=0)], 0.0), levels)

    def take(self, rows: Integers) -> Tilts:
        """For some of the texts, none of which has a word yet."""
        return Tilts(self.words, self.change, self.levels[torch.from_numpy(rows)])

    def applied(self, logits: Tensor, active: Tensor) -> Tensor:
        """The logits of the texts that are being written, tilted; tokens that the tokenizer does not know stay as they are."""
        known = logits[:, : len(self.words)]
        known += self.change[self.levels[active]]
        place = {row: number for number, row in enumerate(active.tolist())}
        for (row, _), tokens in self.spent.items():
            if row in place:
                known[place[row], tokens] -= self.change[self.levels[row], tokens].clamp(min=0.0)
        return logits

    def used(self, active: Tensor, chosen: Tensor) -> None:
        """Take note of the tokens that were drawn."""
        for row, token in zip(active.tolist(), chosen.tolist(), strict=True):
            if token < len(self.words) and self.change[self.levels[row], token] > 0:
                word = int(self.words[token])
                self.spent.setdefault((row, word), (self.words == word).nonzero()[:, 0])


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
        self, prompts: Sequence[str], rng: np.random.Generator, length: int, tilts: Tilts | None = None
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
            own = None if tilts is None else tilts.take(rows)
            with one_thread():
                made = self._batch([tokens[row] for row in rows], length, generator, own)
            for row, found in zip(rows, made, strict=True):
                written[row] = found
            self.report(min(1.0, (start + self.batch) / len(order)))
        return written

    @torch.no_grad()
    def _batch(self, tokens: list[list[int]], length: int, generator: torch.Generator, tilts: Tilts | None) -> list[Continuation]:
        from transformers import DynamicCache

        net, end = self.language.net, self.language.end
        ids, shown = padded(tokens, end, left=True)
        places = (shown.long().cumsum(1) - 1).clamp(min=0)
        cache = DynamicCache(config=net.config)  # type: ignore[arg-type]
        drawn: list[list[int]] = [[] for _ in tokens]
        finished = np.zeros(len(tokens), bool)
        active = torch.arange(len(tokens))
        for _ in range(length):
            states = net.base_model(  # type: ignore[operator]
                input_ids=ids, attention_mask=shown, position_ids=places, past_key_values=cache, use_cache=True
            ).last_hidden_state[:, -1]
            logits = net.get_output_embeddings()(states).float()  # type: ignore[operator]
            chosen = self._drawn(logits if tilts is None else tilts.applied(logits, active), generator)
            if tilts is not None:
                tilts.used(active, chosen)
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
