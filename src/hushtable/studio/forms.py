"""Forms: url-encoded, of a limited size, and read so that every fault is found at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from hushtable.errors import Fault, InputError
from hushtable.studio import words

MOST_BYTES = 2_000_000
"""The longest form: a schema of 1,500 columns fits ten times."""
MOST_FIELDS = 20_000
KIND = "application/x-www-form-urlencoded"
TOKEN = "token"  # noqa: S105 - the name of a field
"""The field that carries the form token."""


class Form(Mapping[str, str]):
    """What was typed: the last value of each field. A reader that finds a fault notes it; ``check`` raises all of them."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = [(name, value) for name, value in pairs if name != TOKEN]
        self._last = dict(self.pairs)
        self.faults: list[Fault] = []

    def __getitem__(self, name: str) -> str:
        """The value of a field."""
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the fields."""
        return iter(self._last)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._last)

    def all(self, name: str) -> list[str]:
        """Every value of a field that may be there several times."""
        return [value for own, value in self.pairs if own == name]

    def under(self, prefix: str) -> dict[str, str]:
        """The fields whose names begin so, without that beginning: ``role.age`` under ``role.`` is ``age``."""
        return {name.removeprefix(prefix): value for name, value in self._last.items() if name.startswith(prefix)}

    def fault(self, field: str, reason: str) -> None:
        """Note what is wrong with a field: the summary links to it."""
        self.faults.append(Fault(field, reason))

    def text(self, name: str, *, required: str = "") -> str:
        """A text on one line; where it is ``required``, this is said when it is empty."""
        value = " ".join(self.get(name, "").split())
        if required and not value:
            self.fault(name, required)
        return value

    def one_of(self, name: str, options: Iterable[str], default: str = "") -> str:
        """One of some values."""
        value, known = self.get(name, default), list(options)
        if value not in known:
            self.fault(name, words.NOT_AN_OPTION)
            return default
        return value

    def number(self, name: str, low: float | None = None, high: float | None = None) -> float | None:
        """A number, None where nothing was typed."""
        text = self.text(name)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            self.fault(name, words.NOT_A_NUMBER)
            return None
        if value != value or (low is not None and value < low) or (high is not None and value > high):
            self.fault(name, words.between(low, high))
            return None
        return value

    def whole(self, name: str, low: int | None = None, high: int | None = None) -> int | None:
        """A whole number, None where nothing was typed."""
        value = self.number(name, low, high)
        if value is not None and not value.is_integer():
            self.fault(name, words.NOT_WHOLE)
            return None
        return None if value is None else int(value)

    def check(self) -> None:
        """InputError with every fault that was noted."""
        if self.faults:
            raise InputError(self.faults)


class TooLarge(Exception):
    """A form is longer than any of ours."""


async def read(request: Request) -> tuple[Form, str]:
    """The form of a request, and the token it carries. TooLarge before more is read than a form of ours can hold."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
        return Form(), ""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                raise TooLarge
    except ClientDisconnect:
        return Form(), ""
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except UnicodeDecodeError:
        return Form(), ""
    except ValueError:
        raise TooLarge from None
    return Form(pairs), dict(pairs).get(TOKEN, "")
