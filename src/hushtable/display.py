"""How things show themselves: results in a notebook, and long work while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Protocol, runtime_checkable

Progress = Callable[[str, float], None]
"""Called with the name of what is running and the share of it that is done, from 0 to 1.

A name is that of a stage; after a colon it may say what of the stage is at work ("planted leaks: 0.01")."""


def silent(name: str, share: float) -> None:
    """Progress that nobody watches."""


@runtime_checkable
class Planned(Protocol):
    """Progress that can make use of knowing beforehand which stages there will be."""

    def plan(self, stages: Mapping[str, float]) -> None:
        """These stages are to come, each with how long it takes beside the others."""


def announce(progress: Progress, stages: Mapping[str, float]) -> None:
    """Say which stages are to come, and how long each takes beside the others, to whoever can make use of it."""
    if isinstance(progress, Planned):
        progress.plan(stages)


class Stages:
    """The stages of some work, and what of each is done."""

    def __init__(self) -> None:
        self.efforts: dict[str, float] = {}
        self.done: dict[str, float] = {}
        self.current = ""
        """What is at work, as it was last named."""

    def plan(self, stages: Mapping[str, float]) -> None:
        """These are to come, beside those that were planned before; a stage that is planned again keeps what is done of it."""
        self.efforts.update(stages)

    def update(self, name: str, share: float) -> None:
        """So much of a stage is done; one that nobody planned counts only where nothing was planned at all."""
        self.current = name
        stage = name if name in self.efforts else name.partition(": ")[0]
        self.done[stage] = min(max(share, 0.0), 1.0)

    @property
    def share(self) -> float:
        """What of all of it is done, by how long the stages take; of the stage at work where nothing was planned."""
        whole = sum(self.efforts.values())
        if whole <= 0:
            return self.done.get(self.current.partition(": ")[0], 0.0)
        return sum(effort * self.done.get(name, 0.0) for name, effort in self.efforts.items()) / whole

    @property
    def place(self) -> tuple[int, int]:
        """The number of the stage at work, by how many are done, and how many there are."""
        finished = sum(self.done.get(name, 0.0) >= 1 for name in self.efforts)
        return min(finished + 1, len(self.efforts)), len(self.efforts)


class Inside:
    """Progress of work that is one stage of a larger one: its own stages are shares of that stage."""

    def __init__(self, progress: Progress, stage: str) -> None:
        self.progress, self.stage, self.stages = progress, stage, Stages()

    def plan(self, stages: Mapping[str, float]) -> None:
        """The stages inside."""
        self.stages.plan(stages)

    def __call__(self, name: str, share: float) -> None:
        """So much of a stage inside is done."""
        self.stages.update(name, share)
        self.progress(f"{self.stage}: {name}", self.stages.share)


class Shown:
    """Has a rich form in notebooks. A room never imports those below it, so the face is asked, and only when something is shown."""

    def _repr_html_(self) -> str:
        # Above every room, so it cannot be imported by them before it is asked.
        import hushtable

        return str(hushtable.show(self).html)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names in a row with commas and an "and"; beyond ``most`` they are only counted."""
    shown = list(names)
    if most is not None and len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} more columns"]
    if len(shown) <= 1:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def meant(names: str | Iterable[str], known: Iterable[str]) -> str:
    """What whoever wrote a name that does not exist may have meant, for the message that refuses it; empty where nothing is near.

    >>> meant("k-anonimity", ["mdav", "k-anonymity"])
    " (did you mean 'k-anonymity'?)"
    """
    spelled = {_spelling(name): name for name in known}
    found = [
        spelled[near]
        for name in ([names] if isinstance(names, str) else names)
        for near in get_close_matches(_spelling(name), spelled, n=1, cutoff=0.6)
    ]
    return f" (did you mean {' and '.join(map(repr, dict.fromkeys(found)))}?)" if found else ""


def _spelling(name: str) -> str:
    """A name without what is often written in another way."""
    return name.lower().replace("_", "-").replace(" ", "-")
