"""No connection leaves the machine: asked for anything beyond loopback, the process refuses before a packet is sent."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from typing import Any

from hushtable.studio import words

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
"""What libraries that would fetch something are told beforehand, so that they do not even try."""

_ADDRESSED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_NAMED = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex"})


def refuse_outgoing() -> None:
    """From now on, and for as long as this process lives, nothing but loopback is reached. It cannot be taken back."""
    sys.addaudithook(_guard)


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _ADDRESSED:
        address = arguments[1]
        # A socket file is a text, and a datagram on a connected socket names nobody.
        host = address[0] if isinstance(address, tuple) and address else None
    elif event in _NAMED:
        host = arguments[0]
    else:
        return
    if not is_local(host):
        raise ConnectionRefusedError(words.OFFLINE)


def is_local(host: object) -> bool:
    """Whether a host is this machine, or none at all."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost"):
        return True
    try:
        return ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False
