"""A release as one file: written whole, and opened without trusting it.

A zip may come from anybody. Before a byte of it is unpacked its list is held against what a release can have: plain files of known
names, none of them a link, encrypted or named twice, that do not overlap and do not swell beyond what was allowed. While it is
unpacked every file is counted, so a list that lies is found out.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from hushtable.errors import Fault, InputError
from hushtable.pipeline.release import file_hash, load_card
from hushtable.pipeline.signature import SIGNATURE
from hushtable.pipeline.verify import is_release_file, verify_files
from hushtable.table.disk import CARD, refuse_existing, whole_file

LARGEST = 4 << 30
"""So many bytes a zip may hold, unpacked."""
MOST_FILES = 100_000
SWELLING = 1_100
"""No file is more than so many times as long as what is packed of it: deflate cannot do more."""
SMALL = 1 << 20
"""Files up to this length may swell as they like."""
DAY = (1980, 1, 1, 0, 0, 0)
"""The time of all files in a zip, so that the same release makes the same zip."""
_BLOCK = 1 << 20
_ENCRYPTED = 1


@dataclass(frozen=True, kw_only=True)
class Packed:
    """A file of a bundle."""

    name: str
    bytes: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A zip of a release."""

    path: Path
    bytes: int
    sha256: str
    files: tuple[Packed, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "path": str(self.path),
            "bytes": self.bytes,
            "sha256": self.sha256,
            "files": [file.to_json() for file in self.files],
        }


def pack(folder: str | Path, target: str | Path) -> Bundle:
    """Write the files of a release, and no others, to a new zip; InputError where they are not those on its card.

    The same release makes the same bytes.
    """
    folder, target = Path(folder), Path(target)
    if target.suffix.lower() != ".zip":
        raise InputError("expected a name that ends in .zip", where=str(target))
    refuse_existing(target)
    if target.resolve().is_relative_to(folder.resolve()):
        raise InputError("lies inside the release that it would hold", where=str(target))
    card = load_card(folder)
    if faults := verify_files(folder, card):
        raise InputError(faults)
    names = sorted([*card["hashes"], CARD, *([SIGNATURE] if (folder / SIGNATURE).is_file() else [])])
    files = []
    with whole_file(target) as partial:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                entry = zipfile.ZipInfo(f"{target.stem}/{name}", DAY)
                entry.external_attr = (stat.S_IFREG | 0o644) << 16
                # What is packed already would only take time.
                entry.compress_type = zipfile.ZIP_STORED if name.endswith((".gz", ".parquet")) else zipfile.ZIP_DEFLATED
                with (folder / name).open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                    files.append(_copied(source, packed, name))
        if changed := [file.name for file in files if file.sha256 != card["hashes"].get(file.name, file.sha256)]:
            raise InputError([Fault(name, "was changed while it was packed; nothing was written") for name in changed])
        whole = file_hash(partial)
    return Bundle(path=target, bytes=target.stat().st_size, sha256=whole, files=tuple(files))


def is_bundle(path: str | Path) -> bool:
    """Whether this is a zip and no folder."""
    return Path(path).suffix.lower() == ".zip" and Path(path).is_file()


@contextmanager
def unpacked(path: str | Path, *, largest: int = LARGEST) -> Iterator[Path]:
    """The folder of a release in a zip, unpacked where only its owner can read, and gone afterwards; every fault is listed."""
    path = Path(path)
    with tempfile.TemporaryDirectory(prefix="hush-") as private:
        folder = Path(private) / "release"
        try:
            with zipfile.ZipFile(path) as archive:
                names = _names(archive, path, largest)
                room = shutil.disk_usage(private).free
                if (needed := sum(entry.file_size for entry in names)) > room:
                    raise InputError(f"needs {needed:,} bytes, and {room:,} are free", where=path.name)
                for entry, name in names.items():
                    _unpack(archive, entry, folder / name, path.name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            # A message of the library may quote the content.
            raise InputError("is no zip that can be read, or is damaged", where=path.name) from None
        except OSError as error:
            raise InputError(f"cannot be unpacked: {error.strerror or error}", where=path.name) from None
        yield folder


def _names(archive: zipfile.ZipFile, path: Path, largest: int) -> dict[zipfile.ZipInfo, str]:
    """The entries of a zip, each with the name that it has in a release; InputError where they can be none."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(archive.infolist()) > MOST_FILES:
        raise InputError(f"holds {len(archive.infolist()):,} files, and a release has at most {MOST_FILES:,}", where=path.name)
    whole, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    faults = []
    if whole > largest:
        faults.append(
            Fault(
                path.name,
                f"would take {whole:,} bytes, and at most {largest:,} are unpacked: unpack it yourself, and give the folder",
            )
        )
    if packed > path.stat().st_size:
        faults.append(Fault(path.name, "its files overlap"))
    tops = {PurePosixPath(entry.filename).parts[:1] for entry in entries}
    # All of it may lie in one folder.
    inside = len(tops) == 1 and all("/" in entry.filename for entry in entries) and not any(e.filename == CARD for e in entries)
    names: dict[zipfile.ZipInfo, str] = {}
    for entry in entries:
        name = entry.filename.partition("/")[2] if inside else entry.filename
        faults += [Fault(path.name, f"{_shown(entry.filename)} {why}") for why in _faults(entry, name)]
        if name in names.values():
            faults.append(Fault(path.name, f"{_shown(entry.filename)} stands in it twice"))
        names[entry] = name
    if CARD not in names.values() and not faults:
        faults.append(Fault(path.name, "is not a release: it has no card.json"))
    if faults:
        raise InputError(faults)
    return names


def _faults(entry: zipfile.ZipInfo, name: str) -> Iterator[str]:
    """Why an entry can be no file of a release."""
    mode = stat.S_IFMT(entry.external_attr >> 16)
    if mode not in (0, stat.S_IFREG):
        yield "is a link or a device, and no file"
    if entry.flag_bits & _ENCRYPTED:
        yield "is encrypted"
    # As it was written: the library repairs some names.
    written = (entry.filename, entry.orig_filename)
    unsafe = any(text.startswith(("/", "\\")) or "\\" in text or "\0" in text or ".." in text.split("/") for text in written)
    if unsafe or ":" in name:
        yield "has a name that leads out of the folder"
    elif not is_release_file(name):
        yield "is no file that a release has"
    if entry.file_size > max(SMALL, SWELLING * max(entry.compress_size, 1)):
        yield f"would swell to {entry.file_size:,} bytes from {entry.compress_size:,}"


def _shown(name: str) -> str:
    """A name from a stranger's zip, in one short line."""
    text = "".join(sign if sign.isprintable() else "?" for sign in name)
    return repr(text if len(text) <= 80 else f"{text[:80]}…")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, where: str) -> None:
    """Write one file, as long as its list says and no longer."""
    target.parent.mkdir(parents=True, exist_ok=True)
    length = 0
    with archive.open(entry) as source, target.open("xb") as file:
        while block := source.read(_BLOCK):
            length += len(block)
            if length > entry.file_size:
                raise InputError(f"{_shown(entry.filename)} is longer than it says", where=where)
            file.write(block)


def _copied(source: Any, target: Any, name: str) -> Packed:
    """Copy one file, and count it."""
    digest, length = hashlib.sha256(), 0
    while block := source.read(_BLOCK):
        target.write(block)
        digest.update(block)
        length += len(block)
    return Packed(name=name, bytes=length, sha256=digest.hexdigest())
