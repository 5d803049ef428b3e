"""Values as their form alone."""

from __future__ import annotations

LONGEST = 24


def masked(value: str) -> str:
    """``Aaaa 99`` for ``Anna 34``: which kind of character stands where, and nothing else."""
    text = "".join(_form(c) for c in value[: LONGEST + 1])
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else text


def _form(character: str) -> str:
    if character.isdigit() or character.isnumeric():
        return "9"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character
