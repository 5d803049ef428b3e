"""Signatures: who made a card. Ed25519 over the exact bytes of ``card.json``, which holds the hashes of all other files.

This file alone knows ``cryptography`` (the extra ``sign``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.errors import InputError, MissingExtra
from hushtable.table.disk import CARD, refuse_existing, whole_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE = "card.sig"
PASSPHRASE = "HUSHTABLE_PASSPHRASE"  # noqa: S105 - the name of a variable
"""The environment variable that holds the passphrase of a private key, where nobody can be asked."""


class Authorship(StrEnum):
    """What the signature of a card says about a key. Each completes "the card is"."""

    VALID = "signed with this key"
    UNSIGNED = "not signed"
    OTHER = "signed with another key"
    ALTERED = "not the one that was signed: it, or the signature, was altered"


@dataclass(frozen=True, eq=False)
class SigningKey:
    """A private key, unlocked."""

    secret: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def load(cls, path: str | Path, ask: Callable[[], str] | None = None) -> SigningKey:
        """From a PEM file; ``ask`` is called for the passphrase of a locked one unless the environment holds it."""
        pem, library = _read(path), _library()
        locked = b"ENCRYPTED" in pem
        passphrase = os.environ.get(PASSPHRASE) or (ask() if ask is not None and locked else "")
        if locked and not passphrase:
            raise InputError(f"is locked by a passphrase: set {PASSPHRASE}", where=str(path))
        try:
            secret = library.serialization.load_pem_private_key(pem, passphrase.encode() if locked else None)
        except (ValueError, TypeError, library.UnsupportedAlgorithm):
            raise InputError("is no private key in PEM form, or the passphrase is wrong", where=str(path)) from None
        if not isinstance(secret, library.Ed25519PrivateKey):
            raise InputError("is no Ed25519 key; 'hush keys' makes one", where=str(path))
        return cls(secret)

    def sign(self, folder: Path) -> Path:
        """Write ``card.sig`` beside the card of a release."""
        signed = {
            "algorithm": "Ed25519",
            "public_key": self.secret.public_key().public_bytes_raw().hex(),
            "signature": self.secret.sign((folder / CARD).read_bytes()).hex(),
        }
        path = folder / SIGNATURE
        refuse_existing(path)
        with whole_file(path) as partial:
            partial.write_text(json.dumps(signed, indent=1) + "\n", encoding="utf-8")
        return path


def make_keys(name: str | Path, passphrase: str = "") -> tuple[Path, Path]:
    """A new key pair, ``NAME.key`` (private: its owner's alone, locked if there is a passphrase) and ``NAME.pub``."""
    library = _library()
    encoding, secret = library.serialization, library.Ed25519PrivateKey.generate()
    private, public = (Path(f"{name}.{ending}") for ending in ("key", "pub"))
    refuse_existing(private, private=True)
    refuse_existing(public)
    lock = encoding.BestAvailableEncryption(passphrase.encode()) if passphrase else encoding.NoEncryption()
    with whole_file(private, private=True) as partial:
        partial.write_bytes(secret.private_bytes(encoding.Encoding.PEM, encoding.PrivateFormat.PKCS8, lock))
    with whole_file(public) as partial:
        pem = secret.public_key().public_bytes(encoding.Encoding.PEM, encoding.PublicFormat.SubjectPublicKeyInfo)
        partial.write_bytes(pem)
    return private, public


def authorship(folder: Path, key: str | Path) -> Authorship:
    """Whether the card of a release was signed with the private half of this public key (a PEM file)."""
    pem, library = _read(key), _library()
    try:
        public = library.serialization.load_pem_public_key(pem)
    except (ValueError, library.UnsupportedAlgorithm):
        raise InputError("is no public key in PEM form", where=str(key)) from None
    if not isinstance(public, library.Ed25519PublicKey):
        raise InputError("is no Ed25519 key; 'hush keys' makes one", where=str(key))
    if not (folder / SIGNATURE).is_file():
        return Authorship.UNSIGNED
    try:
        stored = json.loads((folder / SIGNATURE).read_bytes())
        signer, signature = (bytes.fromhex(stored[name]) for name in ("public_key", "signature"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return Authorship.ALTERED
    if signer != public.public_bytes_raw():
        return Authorship.OTHER
    try:
        public.verify(signature, (folder / CARD).read_bytes())
    except library.InvalidSignature:
        return Authorship.ALTERED
    return Authorship.VALID


def _read(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the key cannot be read: {error.strerror}", where=str(path)) from None


@dataclass(frozen=True)
class _Library:
    """The parts of ``cryptography`` that are used here."""

    serialization: Any
    Ed25519PrivateKey: Any
    Ed25519PublicKey: Any
    InvalidSignature: type[Exception]
    UnsupportedAlgorithm: type[Exception]


def _library() -> _Library:
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    except ImportError:
        raise MissingExtra("cryptography", "sign", "a signature") from None
    return _Library(serialization, Ed25519PrivateKey, Ed25519PublicKey, InvalidSignature, UnsupportedAlgorithm)
