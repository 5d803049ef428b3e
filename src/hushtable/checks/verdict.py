"""What a check says, and how checks are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass

from hushtable.errors import HushError
from hushtable.pipeline.step import Step, knob_fields

Checks = list[tuple[str, Callable[[], str]]]
"""What is asked, and a function that says what is wrong (nothing, if all is well)."""


@dataclass(frozen=True)
class Verdict:
    """One check: what it asks, and what is wrong (nothing, if it passed)."""

    asks: str
    wrong: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def run_all(checks: Iterable[tuple[str, Callable[[], str]]]) -> list[Verdict]:
    """A verdict for each."""
    verdicts = []
    for asks, ask in checks:
        try:
            wrong = ask()
        except HushError as error:
            wrong = f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001 - whatever the author's code raises is the finding
            wrong = f"raises {type(error).__name__}: {error}"
        verdicts.append(Verdict(asks, wrong))
    return verdicts


def shape(kind: type) -> list[Verdict]:
    """Whether a class has the form of a method: a frozen dataclass of documented knobs."""
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    verdicts = [
        Verdict("is a frozen dataclass", "" if frozen else "add @dataclass(frozen=True, kw_only=True)"),
        Verdict(
            "has a docstring that says what it promises",
            "" if (kind.__doc__ or "").strip() and not (kind.__doc__ or "").startswith(f"{kind.__name__}(") else "write one",
        ),
    ]
    if not frozen:
        return verdicts
    positional = [f.name for f in fields(kind) if not f.kw_only]
    verdicts.append(
        Verdict(
            "takes its knobs by keyword only",
            f"{', '.join(positional)} can be given by position: add kw_only=True" if positional else "",
        )
    )
    if issubclass(kind, Step):
        texts = kind.knobs()
        silent = [f.name for f in knob_fields(kind) if not texts.get(f.name)]
        verdicts.append(Verdict("has a docstring under every knob", f"missing under {', '.join(silent)}" if silent else ""))
    try:
        kind()
        verdicts.append(Verdict("can be made with its defaults", ""))
    except (TypeError, ValueError, HushError) as error:
        verdicts.append(Verdict("can be made with its defaults", f"{type(error).__name__}: {error}"))
    return verdicts
