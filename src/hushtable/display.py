"""How things show themselves: results in a notebook, and long work while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Progress = Callable[[str, float], None]
"""Called with the name of what is running and the share of it that is done, from 0 to 1."""


def silent(name: str, share: float) -> None:
    """Progress that nobody watches."""


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
