"""Keys, signatures, and what they say of who made a card."""

from __future__ import annotations

import builtins
import json
import os

import pytest

import hushtable as ht
from hushtable.errors import InputError, MissingExtra
from hushtable.pipeline.signature import PASSPHRASE, SIGNATURE, Authorship, SigningKey, authorship, make_keys
from hushtable.pipeline.verify import verify


@pytest.fixture
def keys(tmp_path):
    return make_keys(tmp_path / "me")


@pytest.fixture
def signed(small, tmp_path, keys):
    return ht.save(ht.release(small, "mdav", seed=1), tmp_path / "out", sign=keys[0])


def test_the_private_key_is_its_owners_alone(keys):
    private, public = keys
    assert private.stat().st_mode & 0o077 == 0
    assert b"BEGIN PRIVATE KEY" in private.read_bytes()
    assert b"BEGIN PUBLIC KEY" in public.read_bytes()
    assert "PRIVATE" not in repr(SigningKey.load(private))


def test_no_key_is_overwritten_or_put_into_a_release(keys, signed):
    before = keys[0].read_bytes()
    with pytest.raises(InputError, match="exists already"):
        make_keys(keys[0].with_suffix(""))
    assert keys[0].read_bytes() == before
    with pytest.raises(InputError, match="inside a release"):
        make_keys(signed / "mine")


def test_a_signed_release_is_whole_and_its_author_is_known(signed, keys):
    assert (signed / SIGNATURE).is_file()
    assert SIGNATURE not in json.loads((signed / "card.json").read_text())["hashes"]
    assert verify(signed, keys[1]).holds
    assert verify(signed).holds
    assert any(one.where == "author" for one in verify(signed).assumed)
    assert not any(one.where == "author" for one in verify(signed, keys[1]).assumed)


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (lambda folder: (folder / SIGNATURE).unlink(), Authorship.UNSIGNED),
        (lambda folder: (folder / SIGNATURE).write_text("{"), Authorship.ALTERED),
        (lambda folder: (folder / SIGNATURE).write_text('{"public_key": 7}'), Authorship.ALTERED),
        (lambda folder: (folder / SIGNATURE).write_bytes(b"\xff"), Authorship.ALTERED),
        (lambda folder: (folder / "card.json").write_text((folder / "card.json").read_text() + " "), Authorship.ALTERED),
    ],
)
def test_what_is_not_signed_with_the_key_is_a_fault(signed, keys, change, result):
    change(signed)
    assert authorship(signed, keys[1]) is result
    assert [fault.where for fault in verify(signed, keys[1]).faults] == [SIGNATURE]
    assert verify(signed).holds


def test_another_persons_signature_is_not_ours(signed, keys, tmp_path):
    other = make_keys(tmp_path / "other")
    assert authorship(signed, other[1]) is Authorship.OTHER
    (signed / SIGNATURE).unlink()
    ht.sign(signed, other[0])
    assert authorship(signed, other[1]) is Authorship.VALID
    # Our name on their signature does not make it ours.
    stored = json.loads((signed / SIGNATURE).read_text())
    own = SigningKey.load(keys[0]).secret.public_key().public_bytes_raw().hex()
    (signed / SIGNATURE).write_text(json.dumps(stored | {"public_key": own}))
    assert authorship(signed, keys[1]) is Authorship.ALTERED


def test_data_changed_after_signing_is_caught_through_the_hashes(signed, keys):
    (signed / "data.csv").write_text((signed / "data.csv").read_text() + "\n")
    assert authorship(signed, keys[1]) is Authorship.VALID
    assert [fault.where for fault in verify(signed, keys[1]).faults] == ["data.csv"]


def test_a_release_is_signed_later_once_and_only_if_it_is_what_its_card_says(small, tmp_path, keys):
    folder = ht.save(ht.release(small, "mdav", seed=1), tmp_path / "out")
    ht.sign(folder, keys[0])
    assert verify(folder, keys[1]).holds
    with pytest.raises(InputError, match="exists already"):
        ht.sign(folder, keys[0])
    (folder / SIGNATURE).unlink()
    (folder / "stray.txt").write_text("x")
    with pytest.raises(InputError, match="is not signed"):
        ht.sign(folder, keys[0])


def test_a_locked_key_opens_with_its_passphrase_alone(tmp_path, monkeypatch):
    private, _ = make_keys(tmp_path / "me", "open sesame")
    assert b"ENCRYPTED" in private.read_bytes()
    monkeypatch.delenv(PASSPHRASE, raising=False)
    with pytest.raises(InputError, match=PASSPHRASE):
        SigningKey.load(private)
    with pytest.raises(InputError, match="passphrase is wrong"):
        SigningKey.load(private, lambda: "open barley")
    assert SigningKey.load(private, lambda: "open sesame")
    monkeypatch.setitem(os.environ, PASSPHRASE, "open sesame")
    assert SigningKey.load(private)


@pytest.mark.parametrize("text", [b"", b"hello", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused(signed, tmp_path, text):
    path = tmp_path / "odd"
    path.write_bytes(text)
    for use in (SigningKey.load, lambda key: authorship(signed, key)):
        with pytest.raises(InputError, match="is no"):
            use(path)
    with pytest.raises(InputError, match="cannot be read"):
        SigningKey.load(tmp_path / "nowhere")


def test_a_key_of_another_kind_is_refused(signed, tmp_path):
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric import ec

    secret = ec.generate_private_key(ec.SECP256R1())
    private, public = tmp_path / "ec.key", tmp_path / "ec.pub"
    private.write_bytes(secret.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption()))
    public.write_bytes(secret.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(InputError, match="Ed25519"):
        SigningKey.load(private)
    with pytest.raises(InputError, match="Ed25519"):
        authorship(signed, public)


def test_without_the_library_the_one_command_is_named(signed, keys, monkeypatch):
    real = builtins.__import__

    def absent(name, *rest):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'hushtable\[sign\]'"):
        verify(signed, keys[1])
    assert verify(signed).holds
