"""Who may see the studio: whoever holds a link that was asked for on this machine, and until nobody has used it for a while."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

LINK_VALID = 60.0
"""Seconds in which a link can be opened, once."""
IDLE = 15 * 60.0
"""Seconds without a page or a form after which the screen locks; jobs go on."""


class Session:
    """The secrets of one run of the studio: nothing of them is written anywhere but where the owner alone can read."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.prefix = secrets.token_hex(16)
        """The first part of every path: 128 bits that a page of somebody else cannot guess."""
        self.control = secrets.token_urlsafe(32)
        """With it ``hush studio --url`` asks for a link; it lies in a file that only its owner can read."""
        self._key = secrets.token_bytes(32)
        self._links: dict[str, float] = {}
        self._seen: dict[str, float] = {}

    def link(self) -> str:
        """A token for one link, which is valid once and not for long."""
        now = self.clock()
        self._links = {digest: until for digest, until in self._links.items() if until > now}
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = now + LINK_VALID
        return token

    def enter(self, token: str) -> str | None:
        """The cookie for a token; None for one that was used, is too old, or never was."""
        until = self._links.pop(_digest(token), None)
        if until is None or self.clock() >= until:
            return None
        cookie = secrets.token_urlsafe(32)
        self._seen[_digest(cookie)] = self.clock()
        return cookie

    def knows(self, cookie: str | None, *, used: bool = True) -> bool:
        """Whether a cookie is valid; ``used`` says that a person did something, which keeps the screen open."""
        digest = _digest(cookie or "")
        seen = self._seen.get(digest)
        if seen is None:
            return False
        if self.clock() - seen >= IDLE:
            del self._seen[digest]
            return False
        if used:
            self._seen[digest] = self.clock()
        return True

    def idle(self, cookie: str | None) -> float:
        """Seconds until the screen locks."""
        seen = self._seen.get(_digest(cookie or ""))
        return 0.0 if seen is None else max(0.0, seen + IDLE - self.clock())

    def lock(self, cookie: str | None) -> None:
        """Lock the screen now."""
        self._seen.pop(_digest(cookie or ""), None)

    def form_token(self, cookie: str) -> str:
        """What every form of this session carries, so that no other page can send one."""
        return hmac.new(self._key, b"form\0" + cookie.encode(), hashlib.sha256).hexdigest()

    def is_form_token(self, cookie: str, token: str) -> bool:
        """Whether a form was made for this session."""
        return hmac.compare_digest(self.form_token(cookie).encode(), token.encode())

    def is_control(self, secret: str) -> bool:
        """Whether somebody could read the private file of the running studio."""
        return hmac.compare_digest(self.control.encode(), secret.encode())

    def name(self, text: str) -> str:
        """An id for a text that says nothing about it, the same during one run."""
        return hmac.new(self._key, b"name\0" + text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:20]


def _digest(secret: str) -> str:
    # Looked up by digest, so that the time it takes says nothing about the secret.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
