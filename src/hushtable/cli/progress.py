"""Long work on standard error: a bar in a terminal, and a plain line every few seconds in a pipe or a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from hushtable.display import Stages

EVERY = 5.0
"""Seconds between two lines where there is no terminal; what ends sooner prints none."""
SOON = 3.0
"""Seconds before which nothing is said about how long it will take."""
KNOWN = 0.02
"""The share of the work before which nothing is said about it either."""


class Waits(Protocol):
    """What says after some seconds whether the work has ended."""

    def wait(self, timeout: float) -> bool:
        """Whether it has ended, at the latest after so many seconds."""


class Watch:
    """The progress of a command as a whole: called with a stage and its share, and told beforehand which stages there are."""

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.label, self.clock, self.stages = label, clock, Stages()
        self.start = clock()
        self.changed: Callable[[], None] = lambda: None
        """Called after every change."""

    def plan(self, stages: Mapping[str, float]) -> None:
        """These stages are to come, each with how long it takes beside the others."""
        self.stages.plan(stages)
        self.changed()

    def __call__(self, name: str, share: float) -> None:
        """So much of a stage is done."""
        self.stages.update(name, share)
        self.changed()

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self.start

    @property
    def left(self) -> float | None:
        """Seconds that it will take if it goes on as it went; None while that is not known."""
        share, elapsed = self.stages.share, self.elapsed
        return elapsed * (1 - share) / share if share >= KNOWN and elapsed >= SOON else None

    def what(self) -> str:
        """What is at work: "audit: 12 of 40, linkability"."""
        at, of = self.stages.place
        parts = [f"{at} of {of}"] if of > 1 else []
        parts += [self.stages.current] if self.stages.current else []
        return f"{self.label}: {', '.join(parts) or 'starting'}"

    def times(self) -> str:
        """How much of it is done, for how long it has run, and how long it will take as far as that is known."""
        left = self.left
        return f"{100 * self.stages.share:.0f} %, {minutes(self.elapsed)}" + (f", about {minutes(left)} left" if left else "")

    def line(self) -> str:
        """Both."""
        return f"{self.what()}, {self.times()}"


def minutes(seconds: float) -> str:
    """00:31, or 1:02:03."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


def beat(watch: Watch, ended: Waits, write: Callable[[str], None]) -> None:
    """A line every few seconds until the work has ended."""
    while not ended.wait(EVERY):
        write(watch.line())


@contextmanager
def watched(watch: Watch, console: Console, kept: str = "") -> Iterator[Watch]:
    """Show the work on a console. A note of where it was, and of what is kept, goes with an interrupt."""
    show = _bar if console.is_terminal else _lines
    with show(watch, console):
        try:
            yield watch
        except KeyboardInterrupt as stop:
            stop.add_note(f"it was at {watch.line()}")
            if kept:
                stop.add_note(kept)
            raise


@contextmanager
def _bar(watch: Watch, console: Console) -> Iterator[None]:
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[times]}")
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(escape(watch.what()), total=1.0, times="")

        def update() -> None:
            bars.update(task, completed=watch.stages.share, description=escape(watch.what()), times=watch.times())

        watch.changed = update
        with _beside(lambda ended: _refreshed(ended, update)):
            yield


@contextmanager
def _lines(watch: Watch, console: Console) -> Iterator[None]:
    # Written whole and at once: a log that is followed shows it as it comes.
    with _beside(lambda ended: beat(watch, ended, lambda line: console.print(escape(line)))):
        yield


def _refreshed(ended: Waits, update: Callable[[], None]) -> None:
    """The times go on while a stage says nothing."""
    while not ended.wait(1.0):
        update()


@contextmanager
def _beside(work: Callable[[Event], None]) -> Iterator[None]:
    """Something that goes on beside the work until it has ended, however it ends."""
    ended = Event()
    thread = Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
