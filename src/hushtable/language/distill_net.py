"""Students that learn from a teacher: on public texts, or by a loss of single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch  # noqa: TID253 - this module is imported only where it is used
from torch import Tensor  # noqa: TID253
from torch.nn import Parameter, functional  # noqa: TID253

from hushtable.language import adapter
from hushtable.language.classify_net import EVERYWHERE, Classifier, Losses, Tokens, chunks, classes_losses
from hushtable.table.arrays import Array, Integers

RANK, SPEED, SEEN = 16, 2e-3, 512
"""Of what is learnt in public: the rank of the general student's adapters, the learning rate, and the texts that centres are the
means of."""
HEAD_STEPS, DECAY = 100, 1e-4
"""Of the student's first head: the most steps, and how its weights are held back, as public texts may be few."""


@dataclass(frozen=True)
class How:
    """How a student follows a teacher."""

    temperature: float
    times: float
    """What the divergence is multiplied by."""
    passes: int


def general(student: Classifier, teacher: Classifier, pool: list[str], passes: int) -> dict[str, Array]:
    """Teach a student, on public texts, to give the last vectors of the whole encoder; the adapters, which are folded into it."""
    if not passes:
        return {}
    parameters = [
        own for own in student.adapt(RANK, 0, EVERYWHERE) if own is not student.head.weight and own is not student.head.bias
    ]
    student.head.requires_grad_(False)
    tokens, last = student.tokens(pool), slice(-student.width, None)
    wanted = teacher.all_pooled(tokens)[:, last]
    _on_public(parameters, tokens, SPEED, passes, lambda own: -(student.pooled(_of(tokens, own))[:, last] * wanted[own]).sum(1))
    arrays = {name: array.copy() for name, array in adapter.arrays(student.encoder).items()}
    adapter.fold(student.encoder)
    student.requires_grad_(False)
    return arrays


def begin(student: Classifier, teacher: Classifier, pool: list[str], how: How) -> None:
    """Give a student, as it is, the head that says on public texts what the teacher says: post-processing of the teacher."""
    tokens = student.tokens(pool)
    pooled = student.all_pooled(tokens)
    student.centre = pooled[:SEEN].mean(0)
    with torch.no_grad():
        wanted = teacher.logits(teacher.all_pooled(tokens))
        student.head.weight.zero_()
        student.head.bias.copy_(teacher.head.bias)
    parameters = list(student.head.requires_grad_(True).parameters())
    optimizer: Any = torch.optim.LBFGS(parameters, max_iter=HEAD_STEPS, line_search_fn="strong_wolfe")

    def loss() -> float:
        optimizer.zero_grad()
        found = divergence(wanted, student.logits(pooled), how).mean() + DECAY * student.head.weight.square().sum()
        torch.autograd.backward(found, inputs=parameters)
        return float(found.detach())

    optimizer.step(loss)


def transfer(student: Classifier, teacher: Classifier, pool: list[str], how: How) -> None:
    """Teach a student, on public texts, what a teacher says of them: post-processing of the teacher."""
    tokens = student.tokens(pool)
    with torch.no_grad():
        wanted = teacher.logits(teacher.all_pooled(tokens))
    parameters = [own for own in student.parameters() if own.requires_grad]
    _on_public(parameters, tokens, SPEED, how.passes, lambda own: divergence(wanted[own], student(_of(tokens, own)), how))


def divergence(teacher: Tensor, student: Tensor, how: How) -> Tensor:
    """KL(teacher, student) of the classes at the temperature, one for each row."""
    own = torch.log_softmax(student / how.temperature, 1)
    said = torch.log_softmax(teacher / how.temperature, 1)
    return how.times * functional.kl_div(own, said, reduction="none", log_target=True).sum(1)


def mixed_losses(teacher: Classifier, tokens: Tokens, labels: Integers, alpha: float, how: How) -> Losses:
    """What the teacher says and what the label says, of each row by itself."""
    plain = classes_losses(labels)

    def found(logits: Tensor, rows: Integers) -> Tensor:
        with torch.no_grad():
            said = teacher([tokens[row] for row in rows])
        return alpha * divergence(said, logits, how) + (1 - alpha) * plain(logits, rows)

    return found


def _of(tokens: Tokens, rows: Tensor) -> Tokens:
    return [tokens[row] for row in rows.tolist()]


def _on_public(parameters: list[Parameter], tokens: Tokens, speed: float, passes: int, losses: Callable[[Tensor], Tensor]) -> None:
    optimizer = torch.optim.Adam(parameters, lr=speed)
    steps = list(_batches(tokens, passes))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(steps), eta_min=speed / 10)
    for rows in steps:
        optimizer.zero_grad()
        torch.autograd.backward(losses(rows).mean(), inputs=parameters)
        optimizer.step()
        schedule.step()


def _batches(tokens: Tokens, passes: int) -> Iterator[Tensor]:
    """Texts of about one length together, in an order of its own in each pass."""
    groups = chunks([len(own) for own in tokens])
    for _ in range(passes):
        for number in torch.randperm(len(groups)).tolist():
            yield torch.from_numpy(groups[number])
