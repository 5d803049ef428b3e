"""Progress with a total: a bar in a terminal, a plain line every few seconds in a pipe, and a note of where an interrupt came."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import hushtable as ht
from hushtable.cli import progress as module
from hushtable.cli.progress import EVERY, Watch, beat, minutes, watched
from hushtable.display import Inside, Planned, Stages, announce
from hushtable.evidence import harness


class Clock:
    """A clock that is moved by hand, or by whoever waits for the end of some work that takes so long."""

    def __init__(self, work: float = 0.0) -> None:
        self.now, self.work = 0.0, work

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float) -> bool:
        self.now += timeout
        return self.now > self.work


class Told:
    """A watcher that remembers what was planned and what was called."""

    def __init__(self) -> None:
        self.planned: dict[str, float] = {}
        self.calls: list[tuple[str, float]] = []

    def plan(self, stages: Mapping[str, float]) -> None:
        self.planned.update(stages)

    def __call__(self, name: str, share: float) -> None:
        self.calls.append((name, share))


def test_the_share_of_the_whole_goes_by_how_long_stages_take():
    stages = Stages()
    stages.plan({"a": 1.0, "b": 3.0})
    assert (stages.share, stages.place) == (0.0, (1, 2))
    stages.update("a", 1.0)
    stages.update("b: half of it", 0.5)
    assert stages.share == pytest.approx((1 + 1.5) / 4)
    assert stages.place == (2, 2)
    assert stages.current == "b: half of it"
    stages.update("nobody planned this", 0.7)
    assert stages.share == pytest.approx((1 + 1.5) / 4)


def test_without_a_plan_the_stage_at_work_is_shown():
    stages = Stages()
    stages.update("bins", 0.25)
    assert (stages.share, stages.place) == (0.25, (0, 0))


def test_a_function_that_knows_no_plan_is_progress_all_the_same():
    announce(lambda name, share: None, {"a": 1.0})
    told = Told()
    assert isinstance(told, Planned)
    announce(told, {"a": 1.0})
    assert told.planned == {"a": 1.0}


def test_stages_inside_a_stage_are_shares_of_it():
    told = Told()
    inner = Inside(told, "audit-mdav")
    announce(inner, {"x": 1.0, "y": 1.0})
    inner("x", 1.0)
    inner("y", 0.5)
    assert told.calls == [("audit-mdav: x", 0.5), ("audit-mdav: y", 0.75)]


def test_a_line_says_which_of_how_many_what_share_how_long_and_how_much_longer():
    clock = Clock()
    watch = Watch("audit", clock)
    assert watch.line() == "audit: starting, 0 %, 00:00"
    watch.plan({f"audit {n}": 1.0 for n in range(39)} | {"linkability": 1.0})
    for n in range(10):
        watch(f"audit {n}", 1.0)
    watch("linkability", 0.0)
    clock.now = 31.0
    assert watch.line() == "audit: 11 of 40, linkability, 25 %, 00:31, about 01:33 left"


def test_no_guess_at_the_end_before_anything_is_known():
    clock = Clock()
    watch = Watch("audit", clock)
    watch.plan({"a": 1.0, "b": 99.0})
    watch("a", 0.5)
    clock.now = 60.0
    assert watch.left is None


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "00:00"), (59.6, "01:00"), (3599, "59:59"), (3723, "1:02:03")])
def test_times(seconds: float, text: str):
    assert minutes(seconds) == text


def test_in_a_pipe_a_line_comes_every_few_seconds_and_none_for_short_work():
    clock, lines = Clock(work=3.5 * EVERY), list[str]()
    beat(Watch("release", clock), clock, lines.append)
    assert [line[-5:] for line in lines] == ["00:05", "00:10", "00:15"]
    short = Clock(work=1.0)
    lines.clear()
    beat(Watch("release", short), short, lines.append)
    assert not lines


def test_lines_of_a_pipe_are_plain(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.01)
    stream = io.StringIO()
    with watched(Watch("audit"), Console(file=stream, force_terminal=False, soft_wrap=True)) as watch:
        watch.plan({"[x]": 1.0, "y": 1.0})
        watch("[x]", 0.5)
        module.time.sleep(0.1)
    lines = stream.getvalue().splitlines()
    assert lines
    assert lines[-1].startswith("audit: 1 of 2, [x], 25 %, 00:00")
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_gets_a_bar_with_the_total():
    stream = io.StringIO()
    with watched(Watch("audit"), Console(file=stream, force_terminal=True, width=120)) as watch:
        watch.plan({"x": 1.0, "y": 1.0})
        watch("x", 1.0)
        watch("y", 0.5)
    assert "audit: 2 of 2, y" in stream.getvalue()
    assert "75 %" in stream.getvalue()


def test_an_interrupt_says_where_it_was_and_what_is_kept():
    with pytest.raises(KeyboardInterrupt) as stopped, watched(Watch("compare", Clock()), Console(file=io.StringIO()), "it is in x"):
        raise KeyboardInterrupt
    assert stopped.value.__notes__ == ["it was at compare: starting, 0 %, 00:00", "it is in x"]


def _town() -> tuple[Any, Any, Any]:
    full = ht.people(240, seed=2)
    train, control = full.take(np.arange(120)), full.take(np.arange(120, 240))
    return train, ht.release(train, "mdav", seed=1), control


def test_an_audit_announces_all_that_it_runs():
    train, released, control = _town()
    told = Told()
    ht.audit(train, released, control, only=["margins", "linkability"], progress=told)
    assert told.planned == harness.efforts(["margins", "linkability"])
    assert {name for name, share in told.calls if share == 1.0} == {"margins", "linkability"}


def test_a_release_and_a_comparison_announce_theirs():
    train, *_ = _town()
    told = Told()
    ht.release(train, "independent", epsilon=1.0, progress=told)
    assert set(told.planned) == {"bins", "margins"}
    compared = Told()
    grid = {"mdav.k": ("5", "10")}
    ht.compare(train, ["mdav"], grid=grid, workers=1, only=["identical-matches"], seed=0, progress=compared)
    assert list(compared.planned) == ["mdav k=5", "mdav k=10"]
    assert [name for name, share in compared.calls if share == 1.0] == list(compared.planned)


def test_the_best_of_several_does_not_show_how_many_were_tried():
    train, *_ = _town()
    told = Told()
    ht.best_of(train, ["independent"], epsilon=5.0, seed=1, progress=told)
    assert told.calls == [("the best of about 5 runs", 0.0)]
    assert not told.planned
