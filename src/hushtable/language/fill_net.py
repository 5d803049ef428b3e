"""Filling masks: an encoder with a head over its own vocabulary, trained on public texts, then adapted to private rows.

Texts are drawn by iterated filling (Ghazvininejad et al. 2019): all masked tokens are drawn at once, the least likely are masked
again, ever fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import LayerNorm, Linear, Module, Parameter, functional  # noqa: TID253

from hushtable.errors import InputError
from hushtable.language.adapter import adapt, arrays, restore
from hushtable.language.models import Checkpoint
from hushtable.language.nets import Language, padded
from hushtable.learn.ghost import Tape
from hushtable.learn.loop import seeded
from hushtable.learn.private import PrivateDescent
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Array, Floats, Integers
from hushtable.table.table import Table

MARKS = ("[CLS]", "[SEP]", "[MASK]", "[PAD]")
NEVER = (*MARKS, "[UNK]")
"""Tokens that no text is filled with."""
PREFIX = 24
"""Tokens of the labels, at most."""
PART, BATCH = 64, 32
"""Rows at a time, in filling and in private training (of memory only); texts of a public step."""
UNSEEN = 0.1
"""What a token that no public text has counts for, beside one."""
HEAD = "head: "
"""What the names of the head's arrays begin with."""


@dataclass(frozen=True)
class Row:
    """A row as tokens: labels, then each of its texts, with marks between them."""

    tokens: list[int]
    open: list[bool]
    """Which places hold text, and may be masked."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How the filler is trained: fixed before a row is read."""

    least: float
    most: float
    """Between these shares of the tokens of a row are masked."""
    rank: int
    speed: float
    seed: int


class Filler(Module):
    """An encoder, and a head that is tied to the vectors of its tokens."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language
        self.encoder = language.net
        table = language.net.get_input_embeddings().weight  # type: ignore[operator]
        self.layer = Linear(table.shape[1], table.shape[1])
        self.norm = LayerNorm(table.shape[1])
        self.bias = Parameter(torch.zeros(len(table)))
        # The length of the vectors of tokens: divided by it, logits begin at about one, not at nothing.
        self.length = float(table.detach().float().norm(dim=1).mean())
        marks = [token for mark in MARKS if (token := language.tokenizer.token_to_id(mark)) is not None]
        if len(marks) < len(MARKS):
            raise InputError(
                f"{language.checkpoint.name} has no tokens {', '.join(MARKS)}: it cannot fill masks", where="mask-fill"
            )
        self.begin, self.between, self.mask, self.pad = marks
        never = [language.tokenizer.token_to_id(mark) for mark in NEVER]
        self.never = torch.tensor([token for token in never if token is not None])

    def head(self) -> dict[str, Array]:
        """The arrays of the head."""
        own = {name: value for name, value in self.named_parameters() if not name.startswith("encoder.")}
        return {f"{HEAD}{name}": value.numpy(force=True).copy() for name, value in own.items()}

    def states(self, ids: Tensor, shown: Tensor) -> Tensor:
        """Rows x places x width."""
        given: Tensor = self.encoder(input_ids=ids, attention_mask=shown.long()).last_hidden_state
        return given

    def logits(self, states: Tensor) -> Tensor:
        """Over the vocabulary."""
        table = self.encoder.get_input_embeddings().weight  # type: ignore[operator]
        scores: Tensor = self.norm(functional.gelu(self.layer(states))) @ table.T
        logits: Tensor = scores / self.length + self.bias
        return logits

    def ids(self, texts: Sequence[str], most: int) -> list[list[int]]:
        """The tokens of texts, without marks, at most so many of each."""
        cut = [text[: 16 * most] for text in texts]
        return [own.ids[:most] for own in self.language.tokenizer.encode_batch(cut, add_special_tokens=False)]

    def row(self, labels: Sequence[int], texts: Sequence[Sequence[int]]) -> Row:
        """Labels and texts as one sequence; a missing text is an empty one."""
        tokens, marks = [self.begin, *labels[:PREFIX], self.between], [False] * (min(len(labels), PREFIX) + 2)
        for own in texts:
            tokens += [*own, self.between]
            marks += [*[True] * len(own), False]
        return Row(tokens, marks)


def loaded(checkpoint: Checkpoint) -> Filler:
    """An encoder with a new head; InputError where its tokenizer has no mask."""
    return Filler(Language.load(checkpoint))


def learnt(filler: Filler, rows: Sequence[Row], how: Training, steps: int) -> None:
    """Train the head, and new adapters of the encoder, on public rows."""
    with seeded(how.seed):
        torch.nn.init.eye_(filler.layer.weight)
        torch.nn.init.zeros_(filler.layer.bias)
        with torch.no_grad():
            filler.bias.copy_(_frequencies(rows, len(filler.bias)))
        parameters = [*adapt(filler.encoder, how.rank), *(p for n, p in filler.named_parameters() if not n.startswith("encoder."))]
        _trained(filler, parameters, rows, how, steps)


def _frequencies(rows: Sequence[Row], vocabulary: int) -> Tensor:
    """The logarithms of how often each token stands in texts of public rows: where the head begins."""
    tokens = [token for row in rows for token, mark in zip(row.tokens, row.open, strict=True) if mark]
    counts = torch.bincount(torch.tensor(tokens, dtype=torch.int64), minlength=vocabulary).float() + UNSEEN
    return (counts / counts.sum()).log()


def tuned(filler: Filler, rows: Sequence[Row], how: Training, steps: int) -> None:
    """Train the adapters further on rows without any privacy; the head stays as it is."""
    with seeded(how.seed):
        _trained(filler, _adapters(filler), rows, how, steps)


def _trained(filler: Filler, parameters: list[Parameter], rows: Sequence[Row], how: Training, steps: int) -> None:
    optimizer = torch.optim.Adam(parameters, lr=how.speed)
    for taken in range(steps if rows else 0):
        batch = [rows[place] for place in torch.randint(len(rows), (BATCH,)).tolist()]
        optimizer.zero_grad()
        losses(filler, batch, how).mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = how.speed * (1 - (taken + 1) / steps)


def _adapters(filler: Filler) -> list[Parameter]:
    for name, parameter in filler.named_parameters():
        parameter.requires_grad_(name.startswith("encoder.") and parameter.requires_grad)
    return [parameter for parameter in filler.parameters() if parameter.requires_grad]


def adapted(
    filler: Filler, vault: Vault, read: Callable[[Table], list[Row]], how: Training, descent: PrivateDescent, count: float,
    report: Callable[[float], None],
) -> None:  # fmt: skip
    """Train the adapters on the rows of the vault, which pays for all steps before the first; the head stays as it is."""
    with seeded(how.seed):
        parameters = _adapters(filler)
        optimizer = torch.optim.Adam(parameters, lr=how.speed)
        run = descent.start(vault, parameters, count, "trains adapters on clipped gradients of rows with masked texts")
        rows = read(run.table)
        run.order = np.array([len(row.tokens) for row in rows], np.int64)
        for taken, _ in enumerate(run.batches(), 1):
            run.update(lambda part: Tape.of(filler, lambda: losses(filler, [rows[row] for row in part.tolist()], how)))
            optimizer.step()
            for group in optimizer.param_groups:
                group["lr"] = how.speed * (1 - taken / descent.steps)
            report(taken / descent.steps)


def losses(filler: Filler, rows: Sequence[Row], how: Training) -> Tensor:
    """For each row the mean surprise at its masked tokens, drawn here; 0 for a row without text."""
    ids, shown = padded([row.tokens for row in rows], filler.pad)
    places = torch.zeros(ids.shape, dtype=torch.bool)
    for at, row in enumerate(rows):
        places[at, : len(row.open)] = torch.tensor(row.open, dtype=torch.bool)
    coins = torch.rand(ids.shape).masked_fill(~places, 2.0)
    share = how.least + (how.most - how.least) * torch.rand((len(rows), 1))
    # At least one token, where there is one.
    masked = places & (coins <= torch.maximum(share, coins.amin(1, keepdim=True)))
    states = filler.states(ids.masked_fill(masked, filler.mask), shown)
    surprise = functional.cross_entropy(filler.logits(states[masked]), ids[masked], reduction="none")
    which = torch.arange(len(rows))[:, None].expand(ids.shape)[masked]
    total = torch.zeros(len(rows)).index_add(0, which, surprise)
    # A row without a text has its gradient too, of zero.
    return total / masked.sum(1).clamp(min=1) + 0.0 * states.sum((1, 2))


def weights(filler: Filler) -> dict[str, Array]:
    """The adapters and the head; never the encoder."""
    return {**arrays(filler.encoder), **filler.head()}


def restored(checkpoint: Checkpoint, saved: Mapping[str, Array]) -> Filler:
    """The filler of these arrays."""
    filler = loaded(checkpoint)
    restore(filler.encoder, {name: own for name, own in saved.items() if not name.startswith(HEAD)})
    head = {name.removeprefix(HEAD): torch.from_numpy(own.copy()) for name, own in saved.items() if name.startswith(HEAD)}
    filler.load_state_dict(head, strict=False)
    return filler


def filled(filler: Filler, rows: Sequence[Row], rounds: int, candidates: int, rng: np.random.Generator) -> list[list[int]]:
    """The rows with tokens drawn in all open places, of whose own nothing is read."""
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
    order = np.argsort([len(row.tokens) for row in rows], kind="stable")
    found: list[list[int]] = [[]] * len(rows)
    for start in range(0, len(order), PART):
        part = order[start : start + PART].tolist()
        for row, own in zip(part, _filled(filler, [rows[row] for row in part], rounds, candidates, generator), strict=True):
            found[row] = own
    return found


@torch.no_grad()
def _filled(filler: Filler, rows: list[Row], rounds: int, candidates: int, generator: torch.Generator) -> list[list[int]]:
    ids, shown = padded([row.tokens for row in rows], filler.pad)
    places, _ = padded([[int(mark) for mark in row.open] for row in rows], 0)
    places = places.bool()
    masked, counts = places, places.sum(1)
    sure = torch.full(ids.shape, 2.0)
    for number in range(1, rounds + 1):
        if not masked.any():
            break
        ids = ids.masked_fill(masked, filler.mask)
        logits = filler.logits(filler.states(ids, shown)[masked])
        logits[:, filler.never] = -torch.inf
        best, tokens = logits.topk(min(candidates, logits.shape[1] - len(filler.never)), dim=1)
        drawn = torch.multinomial(best.softmax(1), 1, generator=generator)
        ids[masked] = tokens.gather(1, drawn)[:, 0]
        sure[masked] = (best.gather(1, drawn)[:, 0] - logits.logsumexp(1)).exp()
        again = counts * (rounds - number) // rounds
        ranks = sure.masked_fill(~places, 3.0).argsort(dim=1, stable=True).argsort(dim=1)
        masked = places & (ranks < again[:, None])
    return [own[: len(row.tokens)].tolist() for own, row in zip(ids, rows, strict=True)]


def texts_of(filler: Filler, tokens: Sequence[int], sizes: Sequence[int]) -> list[str]:
    """The texts of a row, of these lengths, in order."""
    at = len(tokens) - sum(sizes) - len(sizes)
    texts = []
    for size in sizes:
        texts.append(filler.language.text(tokens[at : at + size]))
        at += size + 1
    return texts


@torch.no_grad()
def pseudo_log_likelihoods(filler: Filler, rows: Sequence[Row]) -> tuple[Floats, Integers]:
    """For each row the sum over its open places of the log-probability of the token there, masked alone; and how many there are.

    (Salazar et al. 2020.) A row without an open place has 0 of 0.
    """
    places = [(row, place) for row, own in enumerate(rows) for place, mark in enumerate(own.open) if mark]
    order = sorted(places, key=lambda own: len(rows[own[0]].tokens))
    total, counts = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    for start in range(0, len(order), PART):
        part = order[start : start + PART]
        ids, shown = padded([rows[row].tokens for row, _ in part], filler.pad)
        every, masked = torch.arange(len(part)), torch.tensor([place for _, place in part])
        wanted = ids[every, masked]
        ids[every, masked] = filler.mask
        logits = filler.logits(filler.states(ids, shown)[every, masked]).double()
        found = logits.log_softmax(1)[every, wanted]
        where = [row for row, _ in part]
        np.add.at(total, where, found.numpy(force=True))
        np.add.at(counts, where, 1)
    return total, counts


def lengths(filler: Filler, texts: Sequence[str], most: int) -> Integers:
    """How many tokens each text has, at most ``most``."""
    return np.array([len(own) for own in filler.ids(texts, most)], np.int64)
