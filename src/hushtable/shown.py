"""How things show themselves in a notebook: as a fragment made by the room above all others, found through the package's face."""

from __future__ import annotations


class Shown:
    """Has a rich form in notebooks. A room never imports those below it, so the face is asked, and only when somebody looks."""

    def _repr_html_(self) -> str:
        import hushtable

        return str(hushtable.show(self).html)
